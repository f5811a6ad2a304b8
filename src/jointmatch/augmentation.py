"""Make views of a file's texts in advance, into the cache and optionally a file with one column each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jointmatch.augment import Surroundings, make_views, parse
from jointmatch.cache import Cache
from jointmatch.data import as_texts
from jointmatch.data.columns import doubtful_header, label_column
from jointmatch.data.columns import text_column as find_text_column
from jointmatch.data.labels import is_missing
from jointmatch.data.tables import Table, format_of, read_table
from jointmatch.data.writing import write_file
from jointmatch.errors import InputError
from jointmatch.listener import Listener


@dataclass(frozen=True)
class Made:
    """Summary of one column of views."""

    column: str
    augmenter: str
    changed: int  # views that differ from their text
    total: int
    kept: bool  # in the cache, for the next run


@dataclass(frozen=True)
class Augmented:
    """What was made of a file."""

    columns: list[Made]
    labeled: bool | None  # whether the file has labels; None if a column of an unusual name may hold them


def augment_file(
    source: Path,
    specs: dict[str, Sequence[str]],
    target: Path | None,
    listener: Listener,
    *,
    views: int = 1,
    text_column: str | None = None,
    encoding: str = "utf-8",
    backbone: str = "auto",
) -> Augmented:
    """Make views of every text of a file.

    Args:
        source: The input file.
        specs: Maps ``weak`` and ``strong`` to the augmenters of each.
        target: File for the rows with their views, format by extension; None only fills the cache.
        listener: Receives progress and reports on the views.
        views: Views per text and augmenter.
        text_column: Found automatically if its name is a common one.
        encoding: Encoding of the source.
        backbone: Backbone whose mask token or language model augmenters may use.
    """
    augmenters = [(kind, parse(spec)) for kind, given in specs.items() for spec in given]
    around = _of_backbone(backbone) if any(a.reads_backbone for _, a in augmenters) else Surroundings()
    for _, augmenter in augmenters:
        augmenter.prepare(around)
        lack = augmenter.missing()
        if lack:
            raise InputError(f"{augmenter} needs {lack}")
    table = read_table(source, encoding)
    column = find_text_column(table, text_column, str(source))
    for doubt in doubtful_header(table, column, text_column, format_of(source), str(source)):
        listener.warn(doubt)
    texts = as_texts(table[column], f"{column!r} in {source}")
    around = replace(around, corpus=texts)
    added: Table = {}
    account = []
    cache = Cache("views")
    for kind, augmenter in augmenters:
        augmenter.prepare(around)
        for index in range(views if augmenter.random else 1):
            name = _free_name(kind, added)
            listener.stage(f"views ({augmenter})", len(texts))
            added[name] = make_views(texts, augmenter, index, cache, listener.advance)
            listener.done()
            changed = sum(view != text for view, text in zip(added[name], texts, strict=True))
            account.append(Made(name, str(augmenter), changed, len(texts), augmenter.dear and not cache.problem))
        report = augmenter.report()
        if report:
            tell = listener.warn if augmenter.gave_up() else listener.note
            tell(f"{augmenter}: {report}.")
    if cache.problem and any(augmenter.dear for _, augmenter in augmenters):
        listener.warn(f"Views are not kept for the next run: {cache.problem}.")
    replaced = [name for name in added if name in table]
    if replaced:
        listener.warn(f"{source} has {', '.join(map(repr, replaced))} already: replaced by the new views.")
    if target is not None:
        write_file([{**table, **added}], target)
    return Augmented(account, _is_labeled({name: table[name] for name in table if name not in (column, *added)}))


def _is_labeled(others: Table) -> bool | None:
    """Whether one of the columns besides texts and views holds labels, or None if only the user knows."""
    label = label_column(others, None, "the file")
    if label is not None:
        return not all(map(is_missing, others[label]))
    return None if others else False


def _of_backbone(name: str) -> Surroundings:
    """Return a backbone's mask token, source and name."""
    from jointmatch.networks import find_backbone, load_tokenizer  # imports torch, which most views do not need

    backbone = find_backbone(name)
    return Surroundings(load_tokenizer(backbone).mask_token, backbone.source, backbone_name=backbone.name)


def _free_name(kind: str, taken: Table) -> str:
    """Return ``strong``, then ``strong_2`` and so on."""
    number = sum(name == kind or name.startswith(f"{kind}_") for name in taken) + 1
    return kind if number == 1 else f"{kind}_{number}"
