"""Turn a result file of the former ``benchmarks/grid.py`` into what ``jointmatch benchmark`` reads, numbers unchanged.

    python tools/convert_results.py OLD.json --experiment NAME --results benchmarks/results
    python tools/convert_results.py OLD.json --experiment NAME --results benchmarks/results --cells

Without ``--cells`` the runs go into ``earlier/``: the recipes may have changed since, so they are shown and never taken
for finished cells. With it they become cells under the settings that today's recipes give: only for a file that was
made with this very version of recipes and algorithms, on a machine where no view had to be stood in for.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.experiment import Experiment, Variant
from jointmatch.benchmark.outcome import embedded_name
from jointmatch.benchmark.store import FORMAT, Store, dumps
from jointmatch.config import merge
from jointmatch.files import write_text


def main() -> None:
    """Parse the arguments and convert."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--experiment", help="whose runs they are; the file's name unless given")
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--cells", action="store_true")
    args = parser.parse_args()
    old = json.loads(args.file.read_text(encoding="utf-8"))
    if args.cells:
        print(f"{as_cells(old, Store(args.results))} cells from {args.file}")
        return
    name = args.experiment or args.file.stem.partition("-")[0]
    pack = {"format": FORMAT, "machine": old["machine"], "runs": list(as_earlier(old, name))}
    write_text(args.results / "earlier" / f"{args.file.stem}.json", dumps(pack))
    print(f"{len(pack['runs'])} runs from {args.file}")


def as_earlier(old: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Runs with what was asked for then; baselines that came along are rows of their own."""
    experiment, runs, met = old["experiment"], [], set()
    for run in old["runs"]:
        settings = merge(experiment.get("settings", {}), experiment["variants"][run["variant"]])
        place = {
            "experiment": name,
            "data": experiment["dataset"],
            "labels": experiment["labels_per_class"],
            "imbalance": experiment.get("imbalance"),
            "seed": run["seed"],
        }
        rest = {key: value for key, value in run.items() if key not in ("variant", "seed", "baselines")}
        settings.get("augment", {}).pop("fallback", None)  # always none now
        asked = {key: value for key, value in settings.items() if key != "output" and value}
        runs.append({**place, "variant": run["variant"], "asked": asked, **rest})
        if "baselines" in run and run["seed"] not in met:
            met.add(run["seed"])
            runs.append({**place, "variant": "references", "asked": {}, "baselines": run["baselines"]})
    return runs


def as_cells(old: dict[str, Any], store: Store) -> int:
    """Write each run as the cell it is under today's recipes; how many there were."""
    experiment = old["experiment"]
    variants = {
        name: Variant(name, name, {k: v for k, v in own.items() if k != "output"})
        for name, own in experiment["variants"].items()
    }
    data, labels = experiment["dataset"], experiment["labels_per_class"]
    wanted = Experiment(
        "old",
        "old",
        "",
        {data: [labels]},
        sorted({run["seed"] for run in old["runs"]}),
        variants,
        experiment.get("settings", {}),
        {},
        test=experiment.get("test", True),
        imbalance=experiment.get("imbalance"),
    )
    machine, count = old["machine"], 0
    cells = {(v, c.seed): c for v in variants for c in cells_of(wanted, v, data, labels)}
    for run in old["runs"]:
        cell = cells[run["variant"], run["seed"]]
        kept = ("scores", "scores_of_last_step", "steps", "kept_step", "termination", "seconds", "pseudo_labels")
        record = {
            "key": cell.key,
            "data": data,
            "labels": labels,
            "imbalance": cell.imbalance,
            "seed": cell.seed,
            "backbone": {"name": embedded_name(cell.backbone), "fingerprint": cell.backbone},
            "settings": cell.settings,
            **{key: run[key] for key in kept if key in run},
            "hardware": {"device": run["device"], "cores": machine["cores"]},
            "versions": {key: machine[key] for key in ("jointmatch", "torch", "transformers", "python")},
        }
        store.write(cell.path, record)
        count += 1
    return count


if __name__ == "__main__":
    main()
