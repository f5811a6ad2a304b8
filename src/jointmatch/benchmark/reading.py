"""An experiment file: the data, labels, seeds and variants that make up a table.

    extends = "main"                     # everything from there, overridden by what is here
    title = "..."                        # of the table
    about = "..."                        # one sentence: what is compared, and how
    data = { ag_news = [5, 10] }         # data set -> labels per class
    seeds = 5                            # this many from 0 on, or a list
    against = "jointmatch"               # the variant that others are compared with
    references = ["logistic_regression"] # baselines on frozen features, shown below the variants

    [settings.training]                  # settings of every variant
    [on.imdb.network]                    # ... on one data set
    [cross]                              # a variant for each combination of settings
    [variants.jointmatch.algorithm]      # a variant's own settings; it may also have title, on, paper, and
                                         # like = "another", whose settings its own then override

``rows`` names the variants to keep, in order (without it, a file that extends another has that one's rows and its
own new ``variants``); ``against`` may be ``""`` for none, where another is inherited; ``test = false`` is for searches,
which must not see the test part; ``imbalance = 10`` thins the classes of the pool and the scored parts, down to a
tenth for the rarest; ``columns`` and ``sort = true``, the best first, control how the table looks; ``figures``
names the figures drawn from it; ``suite`` names the suite that runs the experiment if it is not a grid of runs, and
``options`` are then the options of that suite, which checks them when the file is read. The paper's own numbers
stand with the variant that reproduces them: ``paper.ag_news.10 = { accuracy = [87.68, 0.5], macro_f1 = [87.64, 0.5]
}``, or ``= 87.68``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.faults import OF_RUNS, faults_in, unreadable
from jointmatch.benchmark.variants import listed, over, settings_by_name, variants_of
from jointmatch.config import read_toml
from jointmatch.errors import ConfigError, UnknownNameError, did_you_mean


def shipped() -> list[str]:
    """The experiments inside the package."""
    names = (f.name.removesuffix(".toml") for f in _folder().iterdir() if f.name.endswith(".toml"))
    return sorted(name for name in names if not name.startswith("_"))  # those exist to be extended


def load(name: str | Path) -> Experiment:
    """Read an experiment, given its name in the package or its file.

    Raises:
        ConfigError: listing everything that is wrong with the file.
    """
    return _checked(_place(str(name)).stem, _read(_place(str(name))))


def _folder() -> Path:
    return Path(str(resources.files("jointmatch") / "benchmark" / "experiments"))


def _place(name: str, beside: Path | None = None) -> Path:
    if name.endswith(".toml"):
        near = beside / name if beside else Path(name)
        return near if near.is_file() else Path(name)
    for folder in ([beside] if beside else []) + [_folder()]:
        if (folder / f"{name}.toml").is_file():
            return folder / f"{name}.toml"
    raise UnknownNameError(
        f"Unknown experiment {name!r}.{did_you_mean(name, shipped())} Known: {', '.join(shipped())}; or a .toml file."
    )


def _read(path: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Read a file, laid over the one it extends."""
    if path.resolve() in seen:
        raise ConfigError([f"{path.stem} extends itself, by way of {' -> '.join(p.stem for p in seen)}"])
    own: dict[str, Any] = read_toml(path)
    parent = own.pop("extends", None)
    if parent is None:
        return own
    base = _read(_place(str(parent), path.parent), (*seen, path.resolve()))
    return _with_new_rows(over(base, own), base, own)


def _with_new_rows(laid: dict[str, Any], base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Variants that only the extending file has are rows, too, even where those it extends are listed."""
    rows, new = base.get("rows"), own.get("variants")
    if "rows" in own or not isinstance(rows, list) or not isinstance(new, Mapping) or unreadable(base):
        return laid
    known = settings_by_name(base)
    return laid | {"rows": [*rows, *(name for name in new if name not in known)]}


def _checked(name: str, raw: dict[str, Any]) -> Experiment:
    if faults := faults_in(raw):
        raise ConfigError([f"{name}: {fault}" for fault in faults])
    seeds = raw.get("seeds", 5 if raw.get("suite", "grid") in OF_RUNS else [])
    return Experiment(
        name,
        raw.get("title", name),
        raw.get("about", ""),
        {key: listed(labels) for key, labels in raw.get("data", {}).items()},
        list(range(seeds)) if isinstance(seeds, int) else seeds,
        {v.name: v for v in variants_of(raw)},
        raw.get("settings", {}),
        raw.get("on", {}),
        **{
            key: raw[key]
            for key in ("suite", "test", "imbalance", "references", "figures", "sort", "columns", "options")
            if key in raw
        },
        against=raw.get("against") or None,
    )
