"""What a run tells the user about texts, settings and backbone before anything is computed."""

from __future__ import annotations

from jointmatch.assembly import Assembly
from jointmatch.vocabulary import strange_words

MANY_CUT = 0.05  # from this share of truncated texts on, the user is told


def announce(parts: Assembly, mode: str, reason: str) -> None:
    """Tell what is trained on what, and whatever is odd about it; ``reason`` is why it is this mode."""
    splits, config, listener = parts.splits, parts.config, parts.listener
    sizes = f"{len(splits.labeled)} labelled and {len(splits.pool)} unlabelled texts"
    columns = splits.text_column, splits.label_column
    where = " (texts from {!r}, labels from {!r})".format(*columns) if all(columns) else ""
    listener.note(f"{sizes}, {len(splits.classes)} classes{where}.")
    for note in splits.notes:
        listener.warn(note)
    views = parts.views.told(*_view_columns(parts))
    listener.note(
        f"Training {config.algorithm.name} (recipe {config.training.recipe}) in mode {mode} ({reason}); "
        f"{parts.num_networks} network(s) over {parts.backbone.name} on {parts.device.type}; views: {views}."
    )
    if cut := _cut(parts):
        listener.note(cut)
    if strange := strange_words(parts.texts, parts.tokenizer.pretrained, parts.backbone.name):
        listener.warn(strange)


def _cut(parts: Assembly) -> str | None:
    """What is left out of long texts, if there are many."""
    tokenizer, share = parts.tokenizer, parts.share_cut
    if share < MANY_CUT:
        return None
    longer = min(2 * tokenizer.max_length, tokenizer.pretrained.model_max_length)
    more = f"; --set network.max_length={longer} reads more but takes longer"
    hint = more if longer > tokenizer.max_length else ""
    return (
        f"About {100 * share:.0f} % of the texts are longer than {tokenizer.max_length} tokens; their "
        f"{tokenizer.cut} is not read{hint}."
    )


def _view_columns(parts: Assembly) -> tuple[str | None, str | None]:
    """The user's view columns, if the data actually has them."""
    rows, data = (parts.splits.labeled, parts.splits.pool), parts.config.data
    weak = data.weak_column if any(part.weak is not None for part in rows) else None
    return weak, data.strong_column if any(part.strong is not None for part in rows) else None
