"""What training tells whoever watches it."""

from __future__ import annotations

from typing import Any


class Listener:
    """Hears of a run's progress. This one ignores it all; the command line's prints."""

    def note(self, text: str) -> None:
        """What is being done, and why."""

    def warn(self, text: str) -> None:
        """A finding the user should not miss."""
        self.note(text)

    def stage(self, name: str, total: int) -> None:
        """A stage of ``total`` units of work begins."""

    def advance(self, amount: int = 1) -> None:
        """Some of the stage is done."""

    def done(self) -> None:
        """The stage is over."""

    def evaluation(self, record: dict[str, Any]) -> None:
        """One line of the history."""
