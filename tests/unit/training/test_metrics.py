"""Accuracy, F1 and calibration with numbers worked by hand."""

import numpy as np
import pytest

from jointmatch.training.metrics import brief, calibration_error, full_metrics, summary

# True classes 0 0 1 1; predicted 0 1 1 1.
LABELS = np.array([0, 0, 1, 1])
PROBS = np.array([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0]])


def test_accuracy_and_macro_f1_over_the_classes_that_occur():
    """3 of 4 right. F1: class 0 P 1, R 1/2 -> 2/3; class 1 P 2/3, R 1 -> 4/5; class 2 neither occurs nor is predicted.
    Mean (2/3 + 4/5) / 2 = 11/15.
    """
    scores = brief(PROBS, LABELS)
    assert scores["accuracy"] == 0.75
    assert scores["macro_f1"] == pytest.approx(11 / 15)


def test_a_class_that_is_predicted_or_occurs_counts_in_macro_f1_though_it_is_never_right():
    """As above, but the last text is predicted as 2, or is of class 2. Class 0 keeps 2/3, class 2 has 0.
    Class 1 has P 1/2, R 1/2 in the first case, P 1/3, R 1 in the second: 1/2 in both. Mean (2/3 + 1/2 + 0) / 3 = 7/18.
    """
    probs = PROBS.copy()
    probs[3] = [0.1, 0.2, 0.7]
    assert brief(probs, LABELS)["macro_f1"] == pytest.approx(7 / 18)
    assert brief(PROBS, np.array([0, 0, 1, 2]))["macro_f1"] == pytest.approx(7 / 18)


def test_all_right_on_a_file_of_one_class_is_all_of_macro_f1():
    """A file of class 1 alone, as its only class is predicted: F1 of 1, not 1/3."""
    assert brief(PROBS[1:], np.array([1, 1, 1])) == {"accuracy": 1.0, "macro_f1": 1.0}


def test_calibration_error_is_the_weighted_gap_over_bins():
    """Two bins, [0, 0.5) and [0.5, 1]: all four in the second. Confidence (0.9 + 0.6 + 0.8 + 0.7) / 4 = 0.75 against
    accuracy 0.75: no gap.
    Ten bins: 0.9 right (gap 0.1), 0.6 wrong (0.6), 0.8 right (0.2), 0.7 right (0.3); a quarter each: 1.2 / 4 = 0.3.
    """
    assert calibration_error(PROBS, LABELS, bins=2) == pytest.approx(0.0)
    probs = PROBS + np.array([[1e-6, -1e-6, 0], [-1e-6, 1e-6, 0], [-1e-6, 1e-6, 0], [-1e-6, 1e-6, 0]])
    assert calibration_error(probs, LABELS, bins=10) == pytest.approx(0.3, abs=1e-5)


def test_full_confidence_falls_into_the_last_bin():
    """1.0 wrong and 0.95 right share it: |0.975 - 0.5| = 0.475. Apart they would give (1 + 0.05) / 2 = 0.525."""
    assert calibration_error(np.array([[1.0, 0.0], [0.95, 0.05]]), np.array([1, 0])) == pytest.approx(0.475)


def test_the_full_report_has_every_class_and_the_confusion_matrix():
    """Rows are true classes: 0 -> one 0 and one 1; 1 -> two 1; 2 never. Names are the users', as text."""
    report = full_metrics(PROBS, LABELS, ["no", "yes", 3])
    assert report["n"] == 4
    assert report["confusion"] == [[1, 1, 0], [0, 2, 0], [0, 0, 0]]
    assert report["per_class"]["no"] == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "support": 2}
    assert report["per_class"]["yes"] == {"precision": pytest.approx(2 / 3), "recall": 1.0, "f1": 0.8, "support": 2}
    assert report["per_class"]["3"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0}
    assert report["macro_f1"] == pytest.approx(11 / 15)
    assert {"accuracy", "ece"} <= report.keys()


def test_a_summary_has_the_mean_and_the_population_spread():
    """Mean of 1, 3 is 2; spread sqrt(((1 - 2)^2 + (3 - 2)^2) / 2) = 1."""
    assert summary([1, 3]) == {"mean": 2.0, "std": 1.0, "values": [1.0, 3.0]}
