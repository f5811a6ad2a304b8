"""``jointmatch algorithms``: the paper's table of techniques, and the details of one algorithm."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jointmatch.cli.options import Json

HEADS = {
    "pseudo_labelling": "pseudo-\nlabels",
    "weak_strong": "weak-\nstrong",
    "adaptive_threshold": "adaptive\nthreshold",
    "double_networks": "double\nnetworks",
    "cross_labelling": "cross-\nlabels",
    "disagreement_update": "disagree\nupdate",
    "weighted_update": "weighted\nupdate",
}
WIDE = 110  # terminal columns from which references fit beside the ideas


def algorithms(
    name: Annotated[str | None, typer.Argument(help="Show one algorithm with its rule and settings.")] = None,
    json: Json = False,
) -> None:
    """List the algorithms and the techniques each combines, or show one with its rule and settings."""
    from jointmatch.algorithms import ALGORITHMS
    from jointmatch.algorithms.catalogue import details, entry
    from jointmatch.cli.output import print_json

    found: Any = details(name) if name is not None else [entry(key) for key in sorted(ALGORITHMS)]
    if json:
        print_json(found)
    elif name is not None:
        _show_one(found)
    else:
        _show_all(found)


def _show_all(entries: list[dict[str, Any]]) -> None:
    from jointmatch.algorithms.catalogue import TECHNIQUES
    from jointmatch.cli.output import say, table, width

    rows = [[e["name"], *(_mark(e, technique) for technique in TECHNIQUES)] for e in entries]
    table(["algorithm", *HEADS.values()], rows, title="Techniques, under default settings", tight=True)
    columns = ["name", "idea"] + ["networks", "modes", "reference"] * (width() >= WIDE)
    table(columns, [[_words(e[column]) for column in columns] for e in entries])
    for line in _remarks(entries):
        say(line)
    say("jointmatch algorithms NAME shows the rule, the settings and what recipes change.")


def _remarks(entries: list[dict[str, Any]]) -> list[str]:
    from jointmatch.algorithms.catalogue import MODES

    lines = [f"* {e['name']}: {e['note']}" for e in entries if e["note"]]
    for mode in MODES:
        without = [e["name"] for e in entries if mode not in e["modes"]]
        lines += [f"Not in mode {mode}: {', '.join(without)}."] * bool(without)
    unverified = [e["name"] for e in entries if e["unverified"]]
    lines += [f"Not checked in full against paper or code: {', '.join(unverified)}."] * bool(unverified)
    return lines + [f"{e['name']} comes from the plug-in {e['plugin']}." for e in entries if e["plugin"]]


def _mark(e: dict[str, Any], technique: str) -> str:
    return ("yes" if e["techniques"][technique] else "-") + "*" * (technique in e["stated"])


def _show_one(e: dict[str, Any]) -> None:
    from jointmatch.cli.output import table

    facts = {
        "idea": e["idea"],
        "rule": e["rule"],
        "techniques": ", ".join(name.replace("_", " ") for name, has in e["techniques"].items() if has) or "none",
        "networks": f"{e['networks']}; in lite at least one for each layer that is read",
        "modes": "; ".join([", ".join(e["modes"]), *(f"not {mode}: {why}" for mode, why in e["unsuited"].items())]),
        "needs": _settings(e["requires"]),
        "note": e["note"],
        "unverified": e["unverified"],
        "plug-in": e["plugin"],
    }
    table([e["name"], e["reference"]], [[key, str(value)] for key, value in facts.items() if value])
    rows = [[f"algorithm.{k}", str(v), e["meanings"][k]] for k, v in e["settings"].items()]
    table(["setting", "default", "meaning"], rows)
    rows = [[which, mode, _settings(c)] for which, modes in e["recipes"].items() for mode, c in modes.items()]
    if rows:
        table(["recipe", "mode", f"sets for {e['name']}"], rows)


def _settings(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in values.items())


def _words(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
