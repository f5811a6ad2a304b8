"""What is said of an algorithm comes from the code that runs; for the paper's own table it is the paper's."""

import pytest

from jointmatch.algorithms import ALGORITHMS, JointMatch
from jointmatch.algorithms.catalogue import TECHNIQUES, changed, details, entry, techniques
from jointmatch.types import Task

# Table "Comparison of closely related techniques" of the paper, its rows in order.
PAPER = {
    "fixmatch": "yes yes no  no  no  no  no",
    "sat": "yes yes no  no  no  no  no",
    "flexmatch": "yes yes yes no  no  no  no",
    "freematch": "yes yes yes no  no  no  no",
    "cotraining": "yes no  no  yes yes no  no",
    "decoupling": "no  no  no  yes no  yes no",
    "coteachingplus": "no  no  no  yes yes yes no",
    "jointmatch": "yes yes yes yes yes yes yes",
}

# The methods the paper's table leaves out, by what their own papers say.
OTHERS = {
    "supervised": "no  no  no  no  no  no  no",
    "pseudolabel": "yes no  no  no  no  no  no",
    "uda": "no  yes no  no  no  no  no",
    "mixtext": "no  yes no  no  no  no  no",
    "softmatch": "yes yes no  no  no  no  no",
    "fixmatchensemble": "yes yes no  yes no  no  no",
    "freematchensemble": "yes yes yes yes no  no  no",
    "coteaching": "no  no  no  yes yes no  no",
    "aumst": "yes yes no  no  no  no  no",
    "crisismatch": "yes yes no  no  no  no  no",
    "decrisismb": "yes no  no  no  no  no  no",
    "s2tcbdd": "no  yes no  no  no  no  no",
    "pcm": "yes yes no  yes no  no  no",
    "meanteacher": "no  no  no  no  no  no  no",
    "marginmatch": "yes yes yes no  no  no  no",
    "multimatch": "yes yes yes yes yes no  yes",
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_methods_the_table_leaves_out_have_their_rows_too(name):
    assert ["yes" if has else "no" for has in techniques(name).values()] == OTHERS[name].split()


@pytest.mark.parametrize("name", PAPER)
def test_the_table_of_techniques_is_the_papers(name):
    if name not in ALGORITHMS:
        pytest.skip(f"{name} is not there yet")
    assert ["yes" if has else "no" for has in techniques(name).values()] == PAPER[name].split()


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"threshold": "fixed"}, {"adaptive_threshold"}),
        ({"labelling": "own"}, {"cross_labelling"}),
        ({"weighting": "uniform"}, {"disagreement_update", "weighted_update"}),
        ({"delta": 0.5}, {"disagreement_update", "weighted_update"}),
        ({"delta": 1.0}, {"weighted_update"}),
        ({"targets": "soft"}, {"pseudo_labelling"}),
    ],
)
def test_an_ablation_takes_its_technique_out_of_the_table(settings, missing):
    has = JointMatch(Task(2, 2), **settings).composition()
    assert {name for name, whether in has.items() if not whether} == missing


def test_an_entry_says_what_a_user_chooses_by():
    """The words stand in jointmatch.py."""
    assert entry("jointmatch") == {
        "name": "jointmatch",
        "idea": "Networks teach each other, each class with its own threshold, disagreement counting more.",
        "networks": 2,
        "modes": ["lite", "full"],
        "techniques": dict.fromkeys(TECHNIQUES, True),
        "stated": [],
        "reference": "Zou and Caragea 2023, EMNLP",
        "note": "",
        "unverified": "",
        "plugin": None,
    }


def test_details_have_the_rule_the_settings_and_what_they_mean():
    found = details("fixmatch")
    assert found["rule"] == "L_u = mean 1[max q >= tau] H(argmax q, Q)"
    assert found["settings"]["tau"] == 0.95
    assert found["meanings"]["tau"] == "Confidence a pseudo-label must reach."
    assert found["settings"].keys() == found["meanings"].keys()


def test_a_recipe_changes_what_it_sets_for_the_algorithm_alone_and_differs_from_the_default():
    """official sets much for jointmatch that is its default, and batch_size for all."""
    assert changed("jointmatch", "official", "full") == {
        "algorithm.class_mean": "shared",
        "algorithm.disagreement": "confidence",
    }
    assert changed("jointmatch", "paper", "full") == {}
    assert changed("supervised", "best", "lite") == {}
    assert details("fixmatch")["recipes"]["paper"]["lite"] == {"algorithm.tau": 0.98}
