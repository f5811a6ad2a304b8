"""Everything that is wrong with an experiment file, before any of it is used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jointmatch.benchmark.experiment import COLUMNS, FIGURES, METRICS, REFERENCES
from jointmatch.benchmark.suite import is_number, set_faults
from jointmatch.benchmark.suites import SUITES
from jointmatch.benchmark.variants import listed, settings_by_name
from jointmatch.config import SECTIONS
from jointmatch.errors import did_you_mean

_KINDS: dict[str, tuple[type, ...]] = {
    "extends": (str,),
    "title": (str,),
    "about": (str,),
    "suite": (str,),
    "data": (dict,),
    "seeds": (int, list),
    "settings": (dict,),
    "on": (dict,),
    "cross": (dict,),
    "variants": (dict,),
    "rows": (list,),
    "test": (bool,),
    "imbalance": (int, float),
    "against": (str,),
    "references": (list,),
    "figures": (list,),
    "sort": (bool,),
    "columns": (list,),
    "options": (dict,),
}
_LARGEST_SEED = 2**32 - 1
_MOST_SEEDS = 1000  # a slip of the pen rather than an experiment
_VARIANT = ("like", "title", "on", "paper", *SECTIONS)
_OF_FILES = "the files of a benchmark have columns text and label"
_IDLE: dict[str, dict[str, str]] = {
    "training": {"seed": "seeds says which there are"},
    "output": {"*": "a benchmark keeps records of its own"},
    "data": {"text_column": _OF_FILES, "label_column": _OF_FILES},
}
"""Settings that do nothing here, and why."""
OF_RUNS = ("grid", "race")
"""The suites whose experiments are made of data, labels, seeds and variants."""
_OF_ALL = ("extends", "title", "about", "suite", "figures", "options")
"""What the others' may have."""


def faults_in(raw: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with a file; contents are looked at only if every key has a value of its kind."""
    unknown = [f"unknown key {key!r}.{did_you_mean(key, _KINDS)}" for key in raw if key not in _KINDS]
    return unknown + (_kind_faults(raw) or _faults_to(raw.get("suite", "grid"), raw))


def unreadable(raw: Mapping[str, Any]) -> bool:
    """Whether nobody can tell which variants a file has."""
    return bool(_kind_faults(raw) or _variant_faults(raw))


def _kind_faults(raw: Mapping[str, Any]) -> list[str]:
    faults = []
    for key, kinds in _KINDS.items():
        if key in raw and (not isinstance(raw[key], kinds) or (isinstance(raw[key], bool) and bool not in kinds)):
            wanted = " or ".join({"dict": "table", "str": "text"}.get(k.__name__, k.__name__) for k in kinds)
            faults.append(f"{key} is {raw[key]!r}, wanted {wanted}")
    return faults


def _faults_to(suite: str, raw: Mapping[str, Any]) -> list[str]:
    """Faults for the suite: in the runs, or in keys that only runs have, and in its options."""
    if suite not in SUITES:
        return [f"suite is {suite!r}.{did_you_mean(suite, SUITES)} Known: {', '.join(SUITES)}"]
    options = raw.get("options", {})
    if suite not in OF_RUNS:
        return _idle_keys(suite, raw) + SUITES[suite].faults(options, [])
    faults, of_variants = _data_faults(raw) + _paper_faults(raw) + _circles(raw), _variant_faults(raw)
    if of_variants:  # then nobody knows which variants there are
        return faults + of_variants
    return faults + _misspelt_sets(raw) + _name_faults(raw) + SUITES[suite].faults(options, list(settings_by_name(raw)))


def _idle_keys(suite: str, raw: Mapping[str, Any]) -> list[str]:
    idle = [key for key in raw if key in _KINDS and key not in _OF_ALL]
    return [f"{key} is for runs, and the suite {suite} makes none" for key in idle]


def _variant_faults(raw: Mapping[str, Any]) -> list[str]:
    """Faults in what variants are made of."""
    faults = [
        f"on.{data} is {own!r}, wanted a table of settings"
        for data, own in raw.get("on", {}).items()
        if not isinstance(own, Mapping)
    ]
    for key, values in raw.get("cross", {}).items():
        if not isinstance(values, list) or not values or key.partition(".")[0] not in SECTIONS:
            faults.append(
                f'cross has {key!r} = {values!r}, wanted a setting and its values, such as "algorithm.tau" = [0.9]'
            )
    for variant, own in raw.get("variants", {}).items():
        faults += [f"variant {variant!r}{fault}" for fault in _table_faults(own)]
    return faults + [fault for where, own in _all_settings(raw) for fault in _idle_settings(where, own)]


def _all_settings(raw: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every table of settings, with where it stands."""
    yield "settings", raw.get("settings", {})
    for key in raw.get("cross", {}):
        section, _, setting = key.partition(".")
        yield "cross", {section: {setting: None}}
    for data, own in raw.get("on", {}).items():
        yield f"on.{data}", own
    for variant, table in raw.get("variants", {}).items():
        yield f"variant {variant!r}", table
        sets = table.get("on", {}) if isinstance(table, Mapping) else {}
        for data, own in sets.items() if isinstance(sets, Mapping) else []:
            yield f"variant {variant!r}, on.{data}", own


def _idle_settings(where: str, own: Any) -> list[str]:
    """Faults for settings that a benchmark makes itself."""
    table = own if isinstance(own, Mapping) else {}
    return [
        f"{where} has {section}.{key}, but {why}"
        for section, idle in _IDLE.items()
        for key in (table[section] if isinstance(table.get(section), Mapping) else ())
        if (why := idle.get(key, idle.get("*")))
    ]


def _table_faults(own: Any) -> list[str]:
    """Faults in one variant's table, to be said after its name."""
    if not isinstance(own, Mapping):
        return [f" is {own!r}, wanted a table"]
    faults = [f": unknown key {key!r}.{did_you_mean(key, _VARIANT)}" for key in own if key not in _VARIANT]
    for key in ("on", "paper"):
        tables = own.get(key, {})
        if not isinstance(tables, Mapping) or not all(isinstance(table, Mapping) for table in tables.values()):
            faults.append(f": {key} is {tables!r}, wanted a table for each data set")
    for key, wanted in (("title", "text"), ("like", "the name of another variant")):
        if not isinstance(own.get(key, ""), str):
            faults.append(f": {key} is {own[key]!r}, wanted {wanted}")
    return faults


def _paper_faults(raw: Mapping[str, Any]) -> list[str]:
    """Faults in the paper's numbers, as far as they can be read."""
    faults = []
    for variant, own in raw.get("variants", {}).items():
        paper = own.get("paper") if isinstance(own, Mapping) else None
        for data, by_labels in paper.items() if isinstance(paper, Mapping) else []:
            faults += [f"variant {variant!r}: {fault}" for fault in _number_faults(f"paper.{data}", by_labels)]
    return faults


def _number_faults(where: str, by_labels: Any) -> list[str]:
    """Faults in the paper's numbers for one data set."""
    if not isinstance(by_labels, Mapping) or not all(re.fullmatch("[1-9][0-9]*", labels) for labels in by_labels):
        return [f"{where} is {by_labels!r}, wanted labels = number, such as 10 = 87.7"]
    faults = []
    for labels, value in by_labels.items():
        metrics = value if isinstance(value, Mapping) else {"accuracy": value}
        for metric, number in metrics.items():
            numbers = listed(number)
            if metric not in METRICS:
                near, known = did_you_mean(metric, METRICS), ", ".join(METRICS)
                faults.append(f"{where}.{labels} has {metric!r}.{near} Known: {known}")
            elif not 1 <= len(numbers) <= 2 or not all(is_number(n) and 0 <= n <= 100 for n in numbers):
                wanted = "a number, or [mean, standard deviation], in percent"
                faults.append(f"{where}.{labels} is {number!r}, wanted {wanted}")
    return faults


def _seed_faults(seeds: int | list[Any]) -> list[str]:
    if isinstance(seeds, int):
        good, wanted = 1 <= seeds <= _MOST_SEEDS, f"1 to {_MOST_SEEDS}, or a list of seeds from 0 on"
        return [] if good else [f"seeds is {seeds!r}, wanted {wanted}"]
    if not seeds or not all(type(s) is int and 0 <= s <= _LARGEST_SEED for s in seeds):
        return [f"seeds is {seeds!r}, wanted a number of seeds, or a list of seeds from 0 to {_LARGEST_SEED}"]
    return [] if len(set(seeds)) == len(seeds) else [f"seeds is {seeds!r}, wanted each seed once"]


def _data_faults(raw: Mapping[str, Any]) -> list[str]:
    faults = []
    if not raw.get("data"):
        faults.append("there is no data, wanted a data set and labels per class, such as data = { ag_news = 10 }")
    faults += set_faults("data", raw.get("data", {}))
    for key, labels in raw.get("data", {}).items():
        if labels == [] or not all(type(n) is int and n > 0 for n in listed(labels)):
            faults.append(f"data.{key} is {labels!r}, wanted labels per class, such as 10 or [5, 10]")
        elif len(set(listed(labels))) < len(listed(labels)):
            faults.append(f"data.{key} is {labels!r}, wanted each number of labels once")
    faults += _seed_faults(raw.get("seeds", 5))
    imbalance = raw.get("imbalance", 1)
    if not is_number(imbalance) or imbalance < 1:
        faults.append(f"imbalance is {imbalance!r}, wanted how many times rarer the rarest class is, such as 10")
    return faults


def _misspelt_sets(raw: Mapping[str, Any]) -> list[str]:
    """Data sets that settings or the paper's numbers name, not among the data but much like one of it.

    Others may be those of a file that this one extends.
    """
    places = {"on": raw.get("on", {})}
    for variant, own in raw.get("variants", {}).items():
        places |= {f"variant {variant!r}: {key}": own.get(key, {}) for key in ("on", "paper")}
    known = raw.get("data", {})
    return [
        f"{place} has {data!r}, which is not in data.{near}"
        for place, sets in places.items()
        for data in sets
        if data not in known and (near := did_you_mean(data, known))
    ]


def _name_faults(raw: Mapping[str, Any]) -> list[str]:
    """Faults for variants, references, columns and figures that do not exist."""
    known = list(settings_by_name(raw))
    faults = [] if known else ["there are no variants, wanted [variants.NAME] or [cross]"]
    for variant, other in _likes(raw).items():
        if other not in known:
            near = did_you_mean(other, known)
            faults.append(f"variant {variant!r} is like {other!r}, of which there is none.{near}")
    rows = raw.get("rows", known)
    if raw.get("rows") == []:
        faults.append("rows is [], wanted the names of variants; without it, all are rows")
    faults += [f"there is no variant {row!r}.{did_you_mean(str(row), known)}" for row in rows if row not in known]
    misspelt = any(row not in known for row in rows) and raw.get("against") in known
    if raw.get("against") and raw["against"] not in rows and not misspelt:
        faults.append(f"against is {raw['against']!r}, which is no row.{did_you_mean(raw['against'], rows)}")
    for key, names in (("references", REFERENCES), ("columns", COLUMNS), ("figures", FIGURES)):
        unknown = [word for word in raw.get(key, []) if word not in names]
        faults += [f"{key} has {word!r}.{did_you_mean(str(word), names)} Known: {', '.join(names)}" for word in unknown]
    return faults


def _likes(raw: Mapping[str, Any]) -> dict[str, str]:
    """Variant -> the one it is like, as far as that can be read."""
    variants = {name: own for name, own in raw.get("variants", {}).items() if isinstance(own, Mapping)}
    return {name: own["like"] for name, own in variants.items() if isinstance(own.get("like"), str)}


def _circles(raw: Mapping[str, Any]) -> list[str]:
    """Faults for variants that are like themselves, by way of others or not; each circle is said once."""
    faults: list[str] = []
    likes, met = _likes(raw), set[str]()
    for variant in likes:
        way = [variant]
        while (other := likes.get(way[-1])) is not None and other not in way:
            way.append(other)
        if other == variant and variant not in met:
            met.update(way)
            by_way = f", by way of {' -> '.join(way[1:])}" if len(way) > 1 else ""
            faults.append(f"variant {variant!r} is like itself{by_way}, wanted the name of another variant")
    return faults
