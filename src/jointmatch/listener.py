"""How training reports to whoever watches it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Listener:
    """Receives a run's progress. This one ignores it all; the command line's prints it."""

    def note(self, text: str) -> None:
        """What is being done, and why."""

    def warn(self, text: str) -> None:
        """A finding the user should not miss."""
        self.note(text)

    def stage(self, name: str, total: int | None) -> None:
        """A stage of ``total`` units of work begins; None if unknown."""

    def advance(self, amount: int = 1) -> None:
        """``amount`` units of the stage are done."""

    def done(self) -> None:
        """The stage is over."""

    def evaluation(self, record: dict[str, Any]) -> None:
        """One line of the history."""


class Printing(Listener):
    """Prints notes, stages and evaluations, a line each, on standard error: standard output may be piped."""

    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - this is its task

    def stage(self, name: str, total: int | None) -> None:
        if total is not None:  # a line that cannot say how much there is to do is useless
            self.note(f"{name}: {total} to do")

    def evaluation(self, record: dict[str, Any]) -> None:
        self.note(described(record))


def described(record: dict[str, Any]) -> str:
    """Describe one line of the history in words."""
    whose = [f"seed {record['seed']}"] if "seed" in record else []
    parts = [*whose, f"step {record['step']}"]
    if "loss" in record:
        parts.append(f"loss {record['loss']:.4f}")
    for key, name in (
        ("selected", "selected"),
        ("agreement", "agreement"),
        ("pseudo_label_accuracy", "pseudo-labels right"),
        ("dev_accuracy", "dev accuracy"),
        ("dev_macro_f1", "dev macro-F1"),
    ):
        if key in record:
            parts.append(f"{name} {record[key]:.1%}")
    return "  ".join(parts)


class Remembering(Listener):
    """Passes everything on to another listener and keeps the warnings.

    Args:
        listener: The listener to pass on to.
    """

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        self.listener.warn(text)

    def note(self, text: str) -> None:
        self.listener.note(text)

    def stage(self, name: str, total: int | None) -> None:
        self.listener.stage(name, total)

    def advance(self, amount: int = 1) -> None:
        self.listener.advance(amount)

    def done(self) -> None:
        self.listener.done()

    def evaluation(self, record: dict[str, Any]) -> None:
        self.listener.evaluation(record)


class Chorus:
    """Lets several runs share a listener: repeated messages once, and one stage for runs side by side."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.said: set[str] = set()
        self.count, self.going = 1, 0

    def voice(self, seed: int) -> Listener:
        """Return the listener for one seed's run."""
        return _Voice(self, seed)

    def note(self, text: str, warning: bool = False) -> None:
        """Pass on a message that was not said before."""
        if text not in self.said:
            self.said.add(text)
            self.listener.warn(text) if warning else self.listener.note(text)

    @contextmanager
    def together(self, count: int) -> Iterator[None]:
        """While open, ``count`` runs go through their stages at the same time."""
        self.count, self.going = count, 0
        try:
            yield
        finally:
            self.count = 1

    def stage(self, name: str, total: int | None) -> None:
        """Begin one stage for all runs."""
        if self.going == 0:
            self.listener.stage(name, None if total is None else total * self.count)
        self.going += 1

    def done(self) -> None:
        """End the stage when the last run is done."""
        self.going -= 1
        if self.going == 0:
            self.listener.done()


class _Voice(Listener):
    def __init__(self, chorus: Chorus, seed: int) -> None:
        self.chorus, self.seed = chorus, seed

    def note(self, text: str) -> None:
        self.chorus.note(text)

    def warn(self, text: str) -> None:
        self.chorus.note(text, warning=True)

    def stage(self, name: str, total: int | None) -> None:
        self.chorus.stage(name, total)

    def advance(self, amount: int = 1) -> None:
        self.chorus.listener.advance(amount)

    def done(self) -> None:
        self.chorus.done()

    def evaluation(self, record: dict[str, Any]) -> None:
        self.chorus.listener.evaluation({"seed": self.seed, **record})
