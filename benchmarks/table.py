"""Print a result file as the markdown table the README shows.

python benchmarks/table.py benchmarks/results/ag_news_lite.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def markdown(result: dict[str, Any]) -> str:
    """Test accuracy and macro-F1 of every method, mean ± population standard deviation over seeds, in percent."""
    summary = result["summary"]
    has_dev = any("dev" in row["scores"] for row in summary.values())
    columns = ["chosen on dev: accuracy", "macro-F1", "last step: accuracy"] if has_dev else ["accuracy", "macro-F1"]
    lines = [
        f"| test, {result['experiment']['labels_per_class']} labels per class | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for name, row in sorted(summary.items(), key=lambda item: -item[1]["scores"]["test"]["accuracy"]["mean"]):
        cells = [_cell(row["scores"]["test"][metric]) for metric in ("accuracy", "macro_f1")]
        if has_dev:
            # The baselines have no steps to choose from: their one score stands under both headings.
            last = row.get("scores_of_last_step", row["scores"])
            cells.append(_cell(last["test"]["accuracy"]))
        lines.append(f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def crossed(result: dict[str, Any]) -> str:
    """Variants called "weak A, strong B" as a table of weak views by strong ones, dev / test accuracy in each cell."""
    summary = result["summary"]
    pairs = {name: name.removeprefix("weak ").split(", strong ", 1) for name in summary}
    strong = list(dict.fromkeys(b for _, b in pairs.values()))
    lines = ["| dev / test | " + " | ".join(f"strong {b}" for b in strong) + " |", "|---" * (len(strong) + 1) + "|"]
    for a in dict.fromkeys(a for a, _ in pairs.values()):
        found = {b: summary[name]["scores"] for name, (weak, b) in pairs.items() if weak == a}
        cells = [
            " / ".join(_cell(found[b][part]["accuracy"]) for part in ("dev", "test")) if b in found else ""
            for b in strong
        ]
        lines.append(f"| weak {a} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(values: dict[str, Any]) -> str:
    return f"{100 * values['mean']:.2f} ± {100 * values['std']:.2f}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(markdown(json.loads(Path(name).read_text(encoding="utf-8"))))
