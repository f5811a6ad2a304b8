"""Labelled texts, unlabelled pool, dev and test: cleaned, checked and counted."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, overload

from jointmatch.data import labels as labels_module
from jointmatch.data.blank import is_blank
from jointmatch.data.labels import UNLABELED
from jointmatch.data.markers import is_marker
from jointmatch.errors import DataError
from jointmatch.types import Label

MAX_CHARACTERS = 50_000  # text beyond this says no more about the class, and costs time and memory
UNBALANCED = 10  # warn if one class has this many times as many labels as another
MANY = 20  # this many labels with one text each are unlikely to be classes


@dataclass(frozen=True)
class Texts:
    """Texts with their class ids (``UNLABELED`` if unknown) and the user's own views of them, if any."""

    texts: list[str]
    labels: list[int]
    weak: list[str] | None = None
    strong: list[str] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def rows(self, rows: Sequence[int]) -> Texts:
        """Return the given rows, in the given order."""
        return Texts(
            _pick(self.texts, rows), _pick(self.labels, rows), _pick(self.weak, rows), _pick(self.strong, rows)
        )

    def digest(self) -> str:
        """Digest of texts and labels: scores on others cannot be paired with those on these."""
        return hashlib.sha256(json.dumps([self.texts, self.labels]).encode()).hexdigest()


EMPTY = Texts([], [])


@dataclass(frozen=True)
class Splits:
    """Everything a run trains and is evaluated on. The pool's labels are only used for reporting."""

    classes: list[Label]
    labeled: Texts
    pool: Texts
    dev: Texts | None = None
    test: Texts | None = None
    text_column: str | None = None
    label_column: str | None = None
    notes: list[str] = field(default_factory=list)  # messages about what was found and done
    counts: dict[str, int] = field(default_factory=dict)
    conflicts: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Rows:
    """Rows as read: texts, labels as written (None if blank), optional views, and the file they come from, if any."""

    texts: list[str]
    labels: list[Label | None]
    weak: list[str] | None = None
    strong: list[str] | None = None
    file: str | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def rows(self, rows: Sequence[int]) -> Rows:
        """Return the given rows, in the given order."""
        return replace(
            self,
            texts=_pick(self.texts, rows),
            labels=_pick(self.labels, rows),
            weak=_pick(self.weak, rows),
            strong=_pick(self.strong, rows),
        )


T = TypeVar("T")


@overload
def _pick(column: list[T], rows: Sequence[int]) -> list[T]: ...
@overload
def _pick(column: None, rows: Sequence[int]) -> None: ...
def _pick(column: list[T] | None, rows: Sequence[int]) -> list[T] | None:
    return None if column is None else [column[i] for i in rows]


def make_splits(
    labeled: Rows,
    unlabeled: Sequence[Rows] = (),
    dev: Rows | None = None,
    test: Rows | None = None,
    conflicts: Literal["drop", "keep"] = "drop",
    text_column: str | None = None,
    label_column: str | None = None,
) -> Splits:
    """Clean and check the rows. Dev and test keep all of theirs; only training rows are ever removed."""
    classes = labels_module.find_classes(labeled.labels)
    cleaner = _Cleaner(classes)
    parts = {name: cleaner.encode(rows, name) for name, rows in (("dev", dev), ("test", test)) if rows is not None}
    given = cleaner.encode(labeled, "the labelled file")
    extra = [cleaner.encode(replace(r, labels=_known_only(r.labels, classes)), "the pool") for r in unlabeled]
    known_rows = [i for i, y in enumerate(given.labels) if y != UNLABELED]
    blank_rows = [i for i, y in enumerate(given.labels) if y == UNLABELED]
    train = cleaner.resolve_conflicts(cleaner.drop_empty(given.rows(known_rows), "labelled"), conflicts)
    pool = cleaner.drop_empty(_join([given.rows(blank_rows), *extra]), "unlabelled")
    pool = cleaner.drop_repeated(pool, [train, *parts.values()])
    cleaner.check_leaks(train, parts)
    cleaner.check_shared(parts)
    cleaner.check_classes(train, given)
    return Splits(
        classes,
        train,
        pool,
        parts.get("dev"),
        parts.get("test"),
        text_column,
        label_column,
        cleaner.notes,
        dict(cleaner.counts),
        cleaner.conflicts,
    )


def same_text(text: str) -> str:
    """Collapse white space; two texts that are then equal count as the same."""
    return " ".join(text.split())


def cut(texts: Sequence[str]) -> list[str]:
    """Truncate texts to the part that is read at all."""
    return [text[:MAX_CHARACTERS] for text in texts]


def _known_only(values: list[Label | None], classes: list[Label]) -> list[Label | None]:
    known = set(classes)
    return [v if v in known else None for v in values]


def _join(parts: Sequence[Texts]) -> Texts:
    parts = [p for p in parts if len(p)]
    if not parts:
        return EMPTY
    joined: dict[str, list[str] | None] = {}
    for view in ("weak", "strong"):
        columns = [getattr(p, view) for p in parts]
        # A part without the column uses its unchanged texts as views.
        some = any(c is not None for c in columns)
        joined[view] = [t for p, c in zip(parts, columns, strict=True) for t in (c or p.texts)] if some else None
    return Texts([t for p in parts for t in p.texts], [y for p in parts for y in p.labels], **joined)


class _Cleaner:
    """Applies the rules in turn and records what each one did."""

    def __init__(self, classes: list[Label]) -> None:
        self.classes = classes
        self.notes: list[str] = []
        self.counts: Counter[str] = Counter()
        self.conflicts: list[dict[str, Any]] = []

    def note(self, name: str, count: int, sentence: str) -> None:
        self.counts[name] += count
        if count:
            self.notes.append(sentence)

    def encode(self, rows: Rows, where: str) -> Texts:
        whole = f"The {where} part" + (f" ({rows.file})" if rows.file else "")
        ids = labels_module.encode(rows.labels, self.classes, whole)
        if where in ("dev", "test"):
            self._check_evaluation(rows, ids, where, whole)
        long = sum(len(t) > MAX_CHARACTERS for t in rows.texts)
        self.note("cut", long, f"{long} text(s) in {where} over {MAX_CHARACTERS:,} characters: cut there.")
        return Texts(cut(rows.texts), ids, rows.weak and cut(rows.weak), rows.strong and cut(rows.strong))

    def _check_evaluation(self, rows: Rows, ids: list[int], where: str, whole: str) -> None:
        blank = ids.count(UNLABELED)
        if blank:
            raise DataError(f"{whole} has {blank} row(s) without a label. Give them one or remove them.")
        empty = sum(map(is_blank, rows.texts))
        self.note(f"empty_{where}", empty, f"{empty} empty text(s) in {where}: kept and scored.")

    def drop_empty(self, part: Texts, kind: str) -> Texts:
        keep = [i for i, t in enumerate(part.texts) if not is_blank(t)]
        dropped = len(part) - len(keep)
        self.note(f"empty_{kind}", dropped, f"{dropped} empty {kind} text(s): left out.")
        return part.rows(keep) if dropped else part

    def resolve_conflicts(self, part: Texts, policy: Literal["drop", "keep"]) -> Texts:
        """Keep one row of each (text, label); ``policy`` says whether to drop or keep texts with several labels."""
        rows_of: dict[str, list[int]] = defaultdict(list)
        for i, text in enumerate(part.texts):
            rows_of[same_text(text)].append(i)
        keep: list[int] = []
        repeated = 0
        for rows in rows_of.values():
            first_of = {part.labels[i]: i for i in reversed(rows)}
            repeated += len(rows) - len(first_of)
            if len(first_of) > 1:
                names = [self.classes[y] for y in sorted(first_of)]
                self.conflicts.append({"text": part.texts[rows[0]], "labels": names})
            if len(first_of) == 1 or policy == "keep":
                keep += first_of.values()
        done = "left out" if policy == "drop" else "kept under each label"
        count = len(self.conflicts)
        self.note("conflicts", count, f"{count} labelled text(s) with two or more labels: {done} (data.conflicts).")
        self.note("repeated_labelled", repeated, f"{repeated} repeated labelled text(s): left out.")
        return part.rows(sorted(keep))

    def drop_repeated(self, pool: Texts, others: Sequence[Texts]) -> Texts:
        """Remove duplicates from the pool, and texts that also appear in another part."""
        taken = {same_text(t) for part in others for t in part.texts}
        seen: set[str] = set()
        keep = []
        overlaps = 0
        for i, text in enumerate(map(same_text, pool.texts)):
            if text in taken:
                overlaps += 1
            elif text not in seen:
                seen.add(text)
                keep.append(i)
        repeated = len(pool) - len(keep) - overlaps
        self.note("repeated_unlabelled", repeated, f"{repeated} repeated unlabelled text(s): left out.")
        self.note(
            "overlapping_unlabelled",
            overlaps,
            f"{overlaps} unlabelled text(s) that also appear in labelled, dev or test: left out of the pool.",
        )
        return pool.rows(keep) if len(keep) < len(pool) else pool

    def check_leaks(self, train: Texts, parts: dict[str, Texts]) -> None:
        known = {same_text(t) for t in train.texts}
        for name, part in parts.items():
            leaks = sum(same_text(t) in known for t in part.texts)
            sentence = f"{leaks} {name} text(s) also appear in the labelled part: that score is too kind."
            self.note(f"labelled_in_{name}", leaks, sentence)

    def check_shared(self, parts: dict[str, Texts]) -> None:
        """Tell of texts that are both in dev, which chooses the checkpoint, and in test."""
        if len(parts) < 2:
            return
        chosen_on = {same_text(t) for t in parts["dev"].texts}
        shared = sum(same_text(t) in chosen_on for t in parts["test"].texts)
        where = "also appear in dev, which chooses the checkpoint"
        sentence = f"{shared} test text(s) {where}: kept in both, so the test score is a little too kind."
        self.note("dev_in_test", shared, sentence)

    def check_classes(self, train: Texts, given: Texts) -> None:
        sizes = Counter(train.labels)
        lost = [i for i in range(len(self.classes)) if not sizes[i]]
        if lost:
            raise DataError(self._why_lost(lost[0], given))
        single = [str(label) for i, label in enumerate(self.classes) if sizes[i] == 1]
        shown = ", ".join(single[:5]) + (", ..." if len(single) > 5 else "")
        sentence = f"{len(single)} class(es) with a single labelled text ({shown}): label a few more of these first."
        if len(single) == len(self.classes) >= MANY:
            sentence = (
                f"Each of the {len(single)} labelled texts has a label of its own ({shown}): are these classes, or "
                "numbers of some kind? --label-column names another column."
            )
        self.note("single_example_classes", len(single), sentence)
        spellings: dict[str, list[str]] = defaultdict(list)
        for i, label in enumerate(self.classes):
            spellings[str(label).strip().casefold()].append(f"{label!r} ({sizes[i]})")
        alike = [same for same in spellings.values() if len(same) > 1]
        shown = "; ".join(" and ".join(same) for same in alike[:5]) + ("; ..." if len(alike) > 5 else "")
        sentence = f"Different classes, by their spelling: {shown}. If they are meant as one, spell them alike."
        self.note("alike_labels", sum(map(len, alike)), sentence)
        marks = [str(label) for label in self.classes if is_marker(label)]
        sentence = (
            f"Taken as classes: {', '.join(map(repr, marks))}. If one means that a text has no label, leave the cell "
            f"blank or set unlabeled_value to it (--set data.unlabeled_value={marks[0] if marks else ''})."
        )
        self.note("blank_looking_classes", len(marks), sentence)
        most, least = max(sizes, key=lambda c: sizes[c]), min(sizes, key=lambda c: sizes[c])
        sentence = (
            f"The labels are unbalanced: {sizes[most]} of {self.classes[most]!r}, {sizes[least]} of "
            f"{self.classes[least]!r}. Look at macro-F1 and the scores per class, not at accuracy alone."
        )
        self.note("unbalanced", int(sizes[most] >= UNBALANCED * sizes[least]), sentence)

    def _why_lost(self, lost: int, given: Texts) -> str:
        """Explain why a class has no labelled text left, and what to do about it."""
        name = repr(self.classes[lost])
        texts = [t for t, y in zip(given.texts, given.labels, strict=True) if y == lost]
        if all(map(is_blank, texts)):
            return f"No labelled text is left for {name}: all {len(texts)} are empty. Write one, or remove these rows."
        different = len({same_text(t) for t, y in zip(given.texts, given.labels, strict=True) if y != UNLABELED})
        told = f"No labelled text is left for {name}: each of them also has another label."
        if different < len(self.classes):
            counts = f"{len(self.classes)} different labels and {different} different texts"
            return f"{told} There are {counts}: are --text-column and --label-column swapped?"
        return f"{told} Give each text one label, or set data.conflicts=keep."
