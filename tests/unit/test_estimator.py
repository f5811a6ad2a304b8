"""TextClassifier under scikit-learn's rules, on raw strings."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import jointmatch
from jointmatch import TextClassifier, load
from jointmatch.augment import add_engine
from jointmatch.errors import ConfigError, DataError, InputError
from jointmatch.resolve import resolve
from tests.conftest import topic_texts

TEXTS, LABELS = topic_texts(45)
NEW, _ = topic_texts(12, seed=5)
SHORT = {"training.steps": 5, "training.device": "cpu"}
IDS = {"fruit": 0, "metal": 1, "music": 2}


@pytest.fixture
def make(tiny_backbone):
    def build(settings: object = None, **options: object) -> TextClassifier:
        own = SHORT | settings if isinstance(settings, dict) else settings or SHORT
        given = {"backbone": str(tiny_backbone), "mode": "lite", "settings": own, **options}
        return TextClassifier(**given)  # type: ignore[arg-type]

    return build


def test_the_constructor_only_stores():
    given = {
        "algorithm": object(),
        "recipe": object(),
        "backbone": object(),
        "mode": object(),
        "random_state": object(),
        "unlabeled_value": object(),
        "settings": object(),
        "verbose": object(),
    }
    classifier = TextClassifier(**given)  # type: ignore[arg-type]
    assert vars(classifier) == given
    assert classifier.get_params() == given


def test_the_weights_kept_are_those_that_are_best_on_dev(make):
    dev, truth = topic_texts(30, seed=9)
    fitted = make({"training.evaluate_every": 1}).fit(TEXTS, LABELS, dev=(dev, truth))
    assert fitted.result_["scores"]["dev"]["n"] == 30
    assert fitted.result_["scores"]["dev"]["accuracy"] == fitted.score(dev, truth)
    assert fitted.score(dev, truth) == max(record["dev_accuracy"] for record in fitted.history_)


@pytest.mark.parametrize(
    ("dev", "message"),
    [
        (["a text"], "Got list as dev, wanted two: (texts, labels)."),
        ((["a", "b"], ["fruit"]), "Got 2 texts and 1 labels, wanted as many of each."),
        ((["a"], [None]), "The dev part has 1 row(s) without a label."),
        ((["a"], ["fish"]), "The dev part has labels that training does not have, in 1 of 1 rows: 'fish'."),
    ],
)
def test_a_dev_part_that_cannot_be_scored_is_refused(make, dev, message):
    with pytest.raises(DataError) as raised:
        make().fit(TEXTS, LABELS, dev=dev)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("verbose", [True, False])
def test_it_tells_how_training_goes_only_if_asked(make, capsys, verbose):
    make(verbose=verbose).fit(TEXTS, LABELS)
    told = capsys.readouterr()
    assert told.out == ""
    assert ("step 5  loss" in told.err) == verbose
    assert ("\nfeatures: 45 to do\n" in told.err) == verbose  # what takes longest


def test_a_shell_completes_what_the_package_offers():
    assert {"TextClassifier", "load", "JointMatchError"} <= set(dir(jointmatch))


def test_clone_copies_the_parameters_and_not_the_fit(make):
    fitted = make(random_state=3).fit(TEXTS, LABELS)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "model_")
    assert copy.set_params(recipe="paper").recipe == "paper"


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_an_unfitted_classifier_says_so(make, method):
    with pytest.raises(NotFittedError):
        getattr(make(), method)(NEW)


def test_saving_an_unfitted_classifier_says_so(make, tmp_path):
    with pytest.raises(NotFittedError):
        make().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("labels", "blank", "classes"),
    [
        (LABELS, None, ["fruit", "metal", "music"]),
        (LABELS, "", ["fruit", "metal", "music"]),
        (LABELS, float("nan"), ["fruit", "metal", "music"]),
        ([IDS[y] for y in LABELS], -1, [0, 1, 2]),
        ([IDS[y] for y in LABELS], None, [0, 1, 2]),
        (LABELS, -1, ["fruit", "metal", "music"]),
        (LABELS, "-1", ["fruit", "metal", "music"]),
    ],
    ids=["None", "empty", "NaN", "-1", "None among integers", "-1 among words", "'-1' among words"],
)
def test_a_row_without_a_label_is_unlabelled(make, labels, blank, classes):
    given = [*labels[:15], *[blank] * 30]
    fitted = make().fit(TEXTS, given)
    assert fitted.classes_.tolist() == classes
    assert (fitted.result_["labelled"], fitted.result_["unlabelled"]) == (15, 30)
    assert fitted.result_["algorithm"] == "jointmatch"
    assert not any("-1" in warning for warning in fitted.result_["warnings"])


def test_minus_one_is_a_class_where_another_value_means_no_label(make):
    given = [*LABELS[:15], *["-1"] * 30]
    fitted = make(unlabeled_value="").fit(TEXTS, given)
    assert fitted.classes_.tolist() == ["-1", "fruit", "metal", "music"]
    assert fitted.score(TEXTS[15:], given[15:]) == np.mean(fitted.predict(TEXTS[15:]) == "-1")


def test_minus_one_in_few_rows_is_unlabelled_and_warned_of(make):
    with pytest.warns(UserWarning, match=r'-1 was taken as "no label" in 15 row'):
        fitted = make().fit(TEXTS, [IDS[y] - 1 for y in LABELS])
    assert fitted.classes_.tolist() == [0, 1]


def test_rows_labelled_minus_one_are_not_scored(make):
    fitted = make().fit(TEXTS, LABELS)
    expected = fitted.score(TEXTS[:15], LABELS[:15])
    for missing in (-1, "-1", None):
        assert fitted.score(TEXTS, [*LABELS[:15], *[missing] * 30]) == expected


@pytest.mark.parametrize(("texts", "labels"), [(45, 3), (3, 45)])
def test_as_many_labels_as_texts_are_scored(make, texts, labels):
    fitted = make().fit(TEXTS, LABELS)
    with pytest.raises(DataError, match=f"Got {texts} texts and {labels} labels"):
        fitted.score(TEXTS[:texts], LABELS[:labels])


def test_labels_that_are_written_in_another_way_are_the_classes_they_stand_for(make):
    fitted = make().fit(TEXTS, [IDS[label] for label in LABELS])
    as_numbers, as_texts = ([kind(IDS[label]) for label in LABELS] for kind in (int, str))
    assert fitted.score(TEXTS, as_texts) == fitted.score(TEXTS, as_numbers) > 0.7
    assert fitted.score(TEXTS, ["nobody's"] * len(TEXTS)) == 0.0


def test_a_loaded_model_knows_which_label_means_none(make, tmp_path):
    labels = [IDS[label] if i < 30 else 99 for i, label in enumerate(LABELS)]
    fitted = make(unlabeled_value=99).fit(TEXTS, labels)
    fitted.save(tmp_path / "model")
    assert load(tmp_path / "model").score(TEXTS, labels) == fitted.score(TEXTS, labels) > 0.7


def test_dev_rows_without_a_label_of_ones_own_kind_are_said_to_have_none(make):
    with pytest.raises(DataError, match="without a label"):
        make(unlabeled_value=99).fit(TEXTS, [IDS[label] for label in LABELS], dev=(NEW[:2], [0, 99]))


def test_numpys_generators_are_taken_as_a_random_state(make):
    states = (np.random.default_rng(3), np.random.default_rng(3), np.random.RandomState(3))
    first, again, other = (make(random_state=state).fit(TEXTS, LABELS).predict_proba(NEW) for state in states)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_loaded_model_is_scored_on_minus_one_where_that_is_its_class(make, tmp_path):
    labels = [IDS[y] - 1 for y in LABELS]
    fitted = make(unlabeled_value="").fit(TEXTS, labels)
    fitted.save(tmp_path / "model")
    assert load(tmp_path / "model").score(TEXTS, labels) == fitted.score(TEXTS, labels)


@pytest.mark.parametrize(
    "wrap",
    [
        tuple,
        np.array,
        lambda values: np.array(values, dtype=object).reshape(-1, 1),
        pd.Series,
        lambda values: pd.Series(values, index=range(100, 100 + len(values))),
        lambda values: pd.DataFrame({"column": values}),
    ],
    ids=["tuple", "array", "column array", "Series", "Series with an index", "DataFrame"],
)
def test_any_one_column_container_gives_the_same_result(make, wrap):
    given = LABELS[:15] + [""] * 30
    expected = make().fit(TEXTS, given).predict_proba(NEW)
    found = make().fit(wrap(TEXTS), wrap(given)).predict_proba(wrap(NEW))
    np.testing.assert_array_equal(found, expected)


def test_missing_values_of_pandas_are_unlabelled(make):
    labels = pd.Series([IDS[y] for y in LABELS[:15]] + [pd.NA] * 30, dtype="Int64")
    fitted = make().fit(pd.Series(TEXTS), labels)
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.result_["unlabelled"] == 30


def test_integer_labels_come_back_as_integers(make):
    fitted = make().fit(TEXTS, np.array([IDS[y] * 10 for y in LABELS]))
    assert fitted.classes_.tolist() == [0, 10, 20]
    assert np.issubdtype(fitted.predict(NEW).dtype, np.integer)


def test_predictions_are_the_classes_of_the_largest_probabilities(make):
    fitted = make().fit(TEXTS, LABELS)
    probs = fitted.predict_proba(NEW)
    assert probs.shape == (12, 3)
    np.testing.assert_allclose(probs.sum(1), 1)
    assert fitted.predict(NEW).tolist() == [fitted.classes_[row.argmax()] for row in probs]


def test_it_learns_the_toy_problem(make):
    texts, labels = topic_texts(200, seed=2)
    fitted = make({"training.steps": 100}).fit(texts[:140], labels[:60] + [""] * 80)
    assert fitted.score(texts[140:], labels[140:]) > 0.6


def test_the_same_random_state_gives_the_same_result_and_another_another(make):
    given = LABELS[:15] + [""] * 30
    first, second, other = (make(random_state=s).fit(TEXTS, given).predict_proba(NEW) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_more_texts_become_the_pool(make):
    fitted = make().fit(TEXTS[:15], LABELS[:15], unlabeled=[*TEXTS[15:], TEXTS[0]])
    assert fitted.result_["unlabelled"] == 30
    assert fitted.result_["data"]["overlapping_unlabelled"] == 1


def test_without_unlabelled_texts_training_is_supervised_and_the_result_says_so(make):
    fitted = make(algorithm="jointmatch").fit(TEXTS, LABELS)
    assert (fitted.result_["algorithm"], fitted.result_["unlabelled"]) == ("supervised", 0)


def test_history_and_termination_are_kept(make):
    fitted = make({"training.evaluate_every": 2}).fit(TEXTS, LABELS)
    assert [record["step"] for record in fitted.history_] == [2, 4, 5]
    assert fitted.termination_condition_ == "max_steps"


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        ("apple plum", LABELS, "one string as texts, wanted a list"),
        (TEXTS, "fruit", "one string as labels, wanted a list"),
        (TEXTS, LABELS[:-1], "45 texts and 44 labels"),
        (np.array([TEXTS, TEXTS]), LABELS, "2 dimensions"),
        (TEXTS, [None] * 45, "No row has a label"),
        (TEXTS, ["fruit"] * 45, "at least two classes"),
        (TEXTS, [["fruit"]] * 45, "wanted text or a number"),
        ([[text] for text in TEXTS], LABELS, r"Row 1 of the texts: a text is \[.*\] \(list\), wanted text or a number"),
        (TEXTS, None, "Got None as labels, wanted one per text"),
        (None, LABELS, "Got NoneType as texts, wanted a list"),
        (TEXTS, 3, "Got int as labels, wanted a list"),
        (TEXTS, [-1, 1, 1] * 15, r'-1 was taken as "no label" in 15 row.s., which leaves one class'),
    ],
)
def test_what_cannot_be_fitted_is_refused(make, texts, labels, message):
    with pytest.raises(DataError, match=message):
        make().fit(texts, labels)


def test_one_string_cannot_be_predicted(make):
    with pytest.raises(DataError, match="one string"):
        make().fit(TEXTS, LABELS).predict("apple plum")


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"algorithm": "jointmach"}, InputError, "Did you mean 'jointmatch'"),
        ({"settings": {"algorithm.tua": 0.5}}, ConfigError, "Did you mean 'tau'"),
        ({"settings": {"tau": 0.5}}, ConfigError, "section.key"),
        ({"mode": "light"}, ConfigError, "'lite'"),
        ({"settings": [1]}, ConfigError, r"settings is \[1\], wanted a dict"),
        ({"random_state": "a"}, ConfigError, "random_state is 'a', wanted a whole number"),
        ({"random_state": 1.7}, ConfigError, r"random_state is 1\.7, wanted a whole number"),
    ],
)
def test_wrong_parameters_are_found_by_fit(make, options, kind, message):
    classifier = make(**options)
    with pytest.raises(kind, match=message):
        classifier.fit(TEXTS, LABELS)


def test_a_saved_classifier_loads_with_its_classes_and_probabilities(make, tmp_path):
    fitted = make({"algorithm.tau": 0.8}, random_state=4).fit(TEXTS, LABELS[:15] + [""] * 30)
    fitted.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.classes_.tolist() == fitted.classes_.tolist()
    np.testing.assert_array_equal(loaded.predict_proba(NEW), fitted.predict_proba(NEW))
    assert (loaded.algorithm, loaded.mode, loaded.random_state) == ("jointmatch", "lite", 4)
    assert loaded.settings is not None
    assert loaded.settings["algorithm.tau"] == 0.8
    assert clone(loaded).get_params() == loaded.get_params()


def shout(texts):
    return [text.upper() for text in texts]


def test_it_ends_a_pipeline_of_raw_strings(make):
    pipeline = Pipeline([("shout", FunctionTransformer(shout)), ("classify", make())]).fit(TEXTS, LABELS)
    assert set(pipeline.predict(NEW)) <= set(IDS)
    np.testing.assert_array_equal(pipeline.predict_proba(NEW), make().fit(TEXTS, LABELS).predict_proba(NEW))


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series])
def test_cross_validation_takes_raw_strings(make, wrap):
    scores = cross_val_score(make(), wrap(TEXTS), wrap(LABELS), cv=3, error_score="raise")
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("labels", [LABELS[:30] + [""] * 15, [IDS[y] for y in LABELS[:30]] + [-1] * 15])
def test_cross_validation_takes_unlabelled_rows_among_the_labels(make, labels):
    scores = cross_val_score(make(), TEXTS, labels, cv=3, error_score="raise")
    assert np.isfinite(scores).all()


def test_a_grid_search_varies_the_recipe_and_the_settings(make):
    grid: dict[str, list] = {"recipe": ["best", "paper"], "settings": [SHORT, SHORT | {"algorithm.tau": 0.5}]}
    search = GridSearchCV(make(), grid, cv=2, error_score="raise").fit(TEXTS, LABELS[:30] + [""] * 15)
    assert len(search.cv_results_["params"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["recipe"] in grid["recipe"]
    assert set(search.predict(NEW)) <= set(IDS)


def test_a_search_may_go_over_single_settings(make):
    given = make(settings=SHORT)
    search = GridSearchCV(given, {"settings__algorithm.tau": [0.5, 0.9]}, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert [run["settings__algorithm.tau"] for run in search.cv_results_["params"]] == [0.5, 0.9]
    best = search.best_params_["settings__algorithm.tau"]
    assert search.best_estimator_.get_params()["settings"] == SHORT | {"algorithm.tau": best}
    assert given.settings == SHORT  # a copy of it was set
    with pytest.raises(ConfigError, match=r"unknown key algorithm\.taw"):
        make().set_params(**{"settings__algorithm.taw": 1}).fit(TEXTS, LABELS)


def test_settings_may_stand_in_sections_as_in_a_config_file(make):
    nested = make(settings={"training": {"steps": 5, "evaluate_every": 5}, "algorithm.tau": 0.5}).fit(TEXTS, LABELS)
    flat = make(settings={"training.steps": 5, "training.evaluate_every": 5, "algorithm.tau": 0.5}).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(nested.predict_proba(NEW), flat.predict_proba(NEW))


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        ({"mode": "full"}, {"training.mode": "lite"}, "mode is 'full', but training.mode is 'lite' in settings"),
        ({"random_state": 1}, {"training": {"seed": 2}}, "random_state is 1, but training.seed is 2 in settings"),
        ({"recipe": "paper"}, resolve({}, "lite").to_dict(), "recipe is 'paper', but training.recipe is 'best' in"),
        ({"unlabeled_value": "x"}, {"data.unlabeled_value": "y"}, "unlabeled_value is 'x', but data.unlabeled"),
    ],
)
def test_a_setting_that_contradicts_an_argument_is_refused(arguments, settings, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        TextClassifier(**arguments, settings=settings).fit(TEXTS, LABELS)


def test_a_setting_may_repeat_an_argument_or_replace_one_that_was_not_given(make):
    fitted = make({"training.mode": "lite", "algorithm.name": "fixmatch", "output.baselines": False}, mode="lite")
    assert fitted.fit(TEXTS, LABELS, unlabeled=NEW).result_["algorithm"] == "fixmatch"


def test_white_space_around_labels_makes_no_classes(make):
    labels = [f" {label}" if i % 2 else f"{label} " for i, label in enumerate(map(str, LABELS))]
    assert make().fit(TEXTS, labels).classes_.tolist() == sorted({str(label) for label in LABELS})


def test_a_fitted_classifier_can_be_pickled(make):
    fitted = make().fit(TEXTS, LABELS, unlabeled=NEW)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict_proba(NEW), fitted.predict_proba(NEW))
    assert copy.get_params() == fitted.get_params()
    assert copy.result_ == fitted.result_


def test_an_engine_that_fails_is_warned_of(make):
    def broken(texts):
        raise OSError("no such model")

    add_engine("broken", broken)
    views = {"augment.weak": "none", "augment.strong": ["backtranslation:broken"]}
    with pytest.warns(UserWarning, match="left as they were"):
        fitted = make(views).fit(TEXTS[:15], LABELS[:15], unlabeled=TEXTS[15:])
    assert any("backtranslation:broken" in text for text in fitted.result_["warnings"])
