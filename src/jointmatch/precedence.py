"""Sources of settings that contradict each other, where silently preferring one would mislead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jointmatch import algorithms
from jointmatch.config import AlgorithmConfig, Settings, TrainingConfig, merge
from jointmatch.errors import ConfigError, InputError
from jointmatch.resolve import resolve

SHOWN = 3  # settings that a message gives as examples


def check_agreement(given: Settings, settings: Settings, called: Callable[[str, str], str], where: str) -> None:
    """Refuse settings that are given twice, by a word of their own and by name, with different values.

    Args:
        given: What was given by words of their own, such as ``--mode``.
        settings: What was given by name.
        called: The word for a section and key.
        where: Where the second was given, to follow its value.
    """
    faults = [
        f"{called(section, key)} is {one!r}, but {section}.{key} is {other!r} {where}: give only one of them"
        for section, values in given.items()
        for key, one in values.items()
        if _listed(one) != _listed(other := settings.get(section, {}).get(key, one))
    ]
    if faults:
        raise ConfigError(faults)


def _listed(value: Any) -> list[Any]:
    """A single value stands for a list of it: ``--strong swap`` means ``augment.strong=swap``."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def check_options(options: Settings, overrides: Settings) -> None:
    """Refuse an option and a ``--set`` that differ."""
    check_agreement(options, overrides, _option, "in --set")


def _option(section: str, key: str) -> str:
    return "--algorithm" if (section, key) == ("algorithm", "name") else f"--{key.replace('_', '-')}"


@dataclass(frozen=True)
class Choice:
    """What decides most other settings."""

    recipe: Any
    algorithm: Any
    mode: Any

    @classmethod
    def of(cls, *sources: Settings) -> Choice:
        """What the sources choose; later ones win."""
        settings = merge(*sources)
        training = settings.get("training", {})
        return cls(
            training.get("recipe", TrainingConfig.recipe),
            settings.get("algorithm", {}).get("name", AlgorithmConfig.name),
            training.get("mode", TrainingConfig.mode),
        )

    def differs(self, other: Choice) -> list[str]:
        """What the other chooses otherwise; mode auto may come to the same."""
        unlike = [what for what in ("recipe", "algorithm", "mode") if getattr(self, what) != getattr(other, what)]
        return [what for what in unlike if what != "mode" or "auto" not in (self.mode, other.mode)]

    def settings(self) -> Settings:
        """Every setting that follows; in lite, unless mode full is chosen."""
        chosen = {"algorithm": {"name": self.algorithm}, "training": {"recipe": self.recipe}}
        config = resolve(chosen, "full" if self.mode == "full" else "lite")
        defaults = {key: p.default for key, p in algorithms.settings_of(self.algorithm).items()}
        return merge({"algorithm": defaults}, config.to_dict())


def check_file(path: Path | None, file: Settings, line: Settings) -> None:
    """Refuse a file with settings of its own recipe, algorithm or mode, if the command line asks for another.

    A run's ``config.toml`` states every setting, so that another recipe beside it would be one in name only, and
    another mode would train at rates made for its own. A file of the user's own changes goes with any.
    """
    if not all(isinstance(values, Mapping) for values in file.values()):
        return  # reported with all other faults
    own, asked = Choice.of(line, file), Choice.of(file, line)
    others = own.differs(asked)
    if not others:
        return
    try:
        fixed = _repeated(file, line, own.settings(), asked.settings())
    except InputError:  # an unknown name, say: reported with all other faults
        return
    if fixed:
        its, wanted = (" and ".join(f"{what} {getattr(choice, what)}" for what in others) for choice in (own, asked))
        raise InputError(_refusal(path, its, wanted, fixed))


def _repeated(file: Settings, line: Settings, own: Settings, asked: Settings) -> list[str]:
    """What the file states as its own choice has it, though what is asked for has it otherwise."""
    return [
        f"{section}.{key} from {value!r} to {repr(asked[section][key]) if key in asked[section] else 'unset'}"
        for section, values in file.items()
        for key, value in values.items()
        if key not in line.get(section, {})
        and value == own.get(section, {}).get(key)
        and value != asked[section].get(key)
    ]


def _refusal(path: Path | None, own: str, asked: str, fixed: list[str]) -> str:
    count = "1 setting" if len(fixed) == 1 else f"{len(fixed)} settings"
    more = f"; and {len(fixed) - SHOWN} more" if len(fixed) > SHOWN else ""
    return (
        f"Got {asked} beside {path}, which holds {own} and fixes {count} that {asked} would change: "
        f"{'; '.join(fixed[:SHOWN])}{more}. Leave {asked} out to train what the file says, or take such settings out "
        "of it: a file that holds only what you change goes with any recipe."
    )
