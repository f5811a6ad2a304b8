"""Pages whose numbers come from result files: what stands between markers is written by a command, the rest by hand.

<!-- results: table main -->        the tables of an experiment; a data set may follow, and a backbone
<!-- results: verdicts main -->     what of the paper's order came out again
<!-- results: figure figures classes -->
<!-- results: time main -->         how long it took, on which machine
<!-- results: status -->            cells finished and wanted, of every experiment
<!-- end of results -->
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

from jointmatch.benchmark.drawing import Picture, Shown, digest, draw
from jointmatch.benchmark.formats import Section, markdown
from jointmatch.benchmark.reading import load, shipped
from jointmatch.benchmark.results import Results
from jointmatch.benchmark.spells import spell_table
from jointmatch.benchmark.store import Store
from jointmatch.benchmark.suites import suite_of
from jointmatch.benchmark.verdicts import verdict_table
from jointmatch.errors import InputError, OutputError, did_you_mean
from jointmatch.files import write_text

_BLOCK = re.compile(r"(<!-- results: (.+?) -->\n)(.*?)(<!-- end of results -->)", re.DOTALL)
_OPEN = re.compile(r"<!-- results: (.+?) -->")


class Pages:
    """The pages in a folder, filled from a store.

    Args:
        folder: Of Markdown files; figures go into its ``figures``.
        store: Where the numbers are.
    """

    def __init__(self, folder: str | Path, store: Store) -> None:
        self.folder, self.store = Path(folder), store
        if not self.files:
            raise InputError(f"There are no Markdown pages in {folder}, wanted a folder such as docs/results.")

    @property
    def files(self) -> list[Path]:
        """In the order of their names."""
        return sorted(self.folder.glob("*.md"))

    def write(self) -> list[Path]:
        """Bring every page and figure up to date; those that changed."""
        changed = []
        for name, kind in self._wanted_figures():
            shown, path = self._shown(name, kind), self._figure(name, kind)
            if shown and not _is_current(path, shown, self._kind(name, kind)):
                draw(shown, self._kind(name, kind).painter, path)
                changed.append(path)
        for file in self.files:
            text = file.read_text(encoding="utf-8")
            if (new := self.filled(text, file)) != text:
                write_text(file, new)
                changed.append(file)
        return changed

    def check(self) -> None:
        """Raise unless every page and figure is what the results give."""
        if stale := self.stale():
            names = ", ".join(str(path) for path in stale)
            raise OutputError(f"Not what the results give: {names}. Run: jointmatch benchmark pages {self.folder}")

    def stale(self) -> list[Path]:
        """Pages and figures that are not what the results give."""
        stale = [
            f for f in self.files if self.filled(f.read_text(encoding="utf-8"), f) != f.read_text(encoding="utf-8")
        ]
        for name, kind in self._wanted_figures():
            shown, path = self._shown(name, kind), self._figure(name, kind)
            if shown and not _is_current(path, shown, self._kind(name, kind)):
                stale.append(path)
        return stale

    def filled(self, text: str, file: Path) -> str:
        """A page with every block written anew."""
        if len(_OPEN.findall(text)) != len(_BLOCK.findall(text)):
            raise InputError(f"{file} has a '<!-- results: ... -->' without its '<!-- end of results -->'.")
        return _BLOCK.sub(lambda m: f"{m[1]}\n{self._block(m[2], file)}\n\n{m[4]}", text)

    def _block(self, words: str, file: Path) -> str:
        kind, *rest = words.split()
        makers: dict[str, Callable[..., str]] = {
            "table": self._table,
            "verdicts": self._verdicts,
            "figure": self._picture,
            "time": self._time,
            "status": self._status,
        }
        if kind not in makers:
            raise InputError(f"{file} asks for {words!r}.{did_you_mean(kind, makers)} Known: {', '.join(makers)}.")
        try:
            inspect.signature(makers[kind]).bind(*rest)
        except TypeError:
            raise InputError(f"{file} asks for {words!r}: too few or too many words.") from None
        return makers[kind](*rest)

    def _table(self, name: str, part: str | None = None, backbone: str = "auto") -> str:
        experiment = load(name)
        return markdown(suite_of(experiment).tables(experiment, self.store, backbone, part))

    def _verdicts(self, name: str, backbone: str = "auto") -> str:
        table = verdict_table(Results(load(name), self.store, backbone))
        return markdown([table]) if table.rows else " ".join(table.notes)

    def _picture(self, name: str, kind: str) -> str:
        title = self._kind(name, kind).title
        if not self._shown(name, kind):
            return f"*{title}: not run.*"
        return f"![{title}](figures/{self._figure(name, kind).name})"

    def _time(self, name: str) -> str:
        table = spell_table(self.store, load(name).name)
        return markdown([table]) if table.rows else " ".join(table.notes)

    def _status(self) -> str:
        rows = []
        for name in shipped():
            experiment = load(name)
            done, wanted = suite_of(experiment).progress(experiment, self.store, "auto")
            page = f"{name.removesuffix('_lite')}.md"
            title = f"[{experiment.title}]({page})" if (self.folder / page).is_file() else experiment.title
            rows.append([title, f"`jointmatch benchmark run {name}`", f"{done} of {wanted}"])
        return markdown([Section("", ["table", "command", "cells finished"], rows)])

    def _wanted_figures(self) -> list[tuple[str, str]]:
        text = "\n".join(file.read_text(encoding="utf-8") for file in self.files)
        found = [words.split()[1:] for words in _OPEN.findall(text) if words.startswith("figure ")]
        return [(name, kind) for name, kind in found]

    def _kind(self, name: str, kind: str) -> Picture:
        known = suite_of(load(name)).pictures
        if kind not in known:
            near, names = did_you_mean(kind, known), ", ".join(known) or "none"
            raise InputError(f"There is no figure {kind!r} of {name}.{near} Known: {names}.")
        return known[kind]

    def _shown(self, name: str, kind: str) -> Shown:
        self._kind(name, kind)
        experiment = load(name)
        return suite_of(experiment).shown(experiment, self.store, "auto", kind)

    def _figure(self, name: str, kind: str) -> Path:
        return self.folder / "figures" / f"{name}-{kind}.svg"


def _is_current(path: Path, shown: Shown, picture: Picture) -> bool:
    return path.is_file() and digest(shown, picture.painter) in path.read_text(encoding="utf-8")
