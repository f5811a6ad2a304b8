"""Label spreading over features that fall into clusters."""

import numpy as np
import pytest
import torch
from sklearn.semi_supervised import LabelSpreading

from jointmatch.networks import Heads, HeadShape
from jointmatch.training import FeatureSet, Spreading
from jointmatch.training.baselines import ALPHA, BLOCK, NEIGHBORS, Directions
from tests.unit.training.toy import CLASSES, WIDTH, cluster, toy_features


def heads(scale=None):
    return Heads(HeadShape(WIDTH, CLASSES, scale=scale), 2)


def test_labels_spread_to_the_texts_of_their_cluster():
    probs = Spreading(toy_features(pool=60), heads(scale=20.0)).predict_proba(cluster(30, seed=9))
    assert probs.shape == (30, CLASSES)
    np.testing.assert_allclose(probs.sum(-1), 1.0)
    assert (probs.argmax(-1) == np.arange(30) % CLASSES).mean() > 0.9


def test_a_text_no_label_reaches_gets_the_uniform_distribution():
    far = torch.full((2, 40, WIDTH), 100.0) + cluster(40, seed=5)
    labeled = cluster(6, seed=0)
    features = FeatureSet(labeled, torch.arange(6) % CLASSES, torch.cat([cluster(40, 1), far], 1), [], {})
    probs = Spreading(features, heads()).predict_proba(far[:, :2])
    np.testing.assert_allclose(probs, 1 / CLASSES)


def test_without_a_pool_labels_spread_to_what_is_near_and_not_to_all():
    """Were every labelled text a neighbour of every other, all would be given the same probabilities."""
    labeled = cluster(18, seed=0)
    features = FeatureSet(labeled, torch.arange(18) % CLASSES, labeled[:, :0], [], {})
    probs = Spreading(features, heads()).predict_proba(cluster(30, seed=9))
    assert (probs.argmax(-1) == np.arange(30) % CLASSES).mean() > 0.9


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_it_is_what_scikit_learn_makes_of_its_own_nearest_neighbours(offset):
    """More texts than a block has, and features far from the origin."""
    features = FeatureSet(
        cluster(12, seed=0) + offset, torch.arange(12) % CLASSES, cluster(BLOCK + 100, seed=1) + offset, [], {}
    )
    ours, asked = Spreading(features, heads()), cluster(BLOCK + 10, seed=9) + offset
    plain = LabelSpreading(kernel="knn", n_neighbors=NEIGHBORS, alpha=ALPHA, max_iter=100)
    plain.fit(ours.model.X_, np.concatenate([np.arange(12) % CLASSES, np.full(BLOCK + 100, -1)]))
    np.testing.assert_allclose(ours.model.label_distributions_, plain.label_distributions_, atol=1e-12)
    wanted = plain.predict_proba(ours.directions(asked))
    np.testing.assert_allclose(ours.predict_proba(asked), wanted, atol=1e-12)


def test_where_heads_take_features_as_they_are_texts_are_directions_from_the_pools_centre():
    """Pool (2, 0) and (4, 0), centre (3, 0): (5, 0) lies to the right of it, (3, 2) above."""
    pool = torch.tensor([[[2.0, 0.0], [4.0, 0.0]]])
    asked = torch.tensor([[[5.0, 0.0], [3.0, 2.0]]])
    features = FeatureSet(asked, torch.arange(2), pool, [], {})
    plain, scaled = (Heads(HeadShape(2, 2, scale=scale), 1) for scale in (None, 10.0))
    np.testing.assert_allclose(Directions(features, plain)(asked), [[1, 0], [0, 1]])
    np.testing.assert_allclose(Directions(features, scaled)(asked), scaled.each()[0].normalize(asked[0]))


def test_it_works_with_two_texts():
    features = FeatureSet(cluster(2, seed=0), torch.arange(2), cluster(0, seed=1), [], {})
    assert np.isfinite(Spreading(features, heads()).predict_proba(features.labeled)).all()


def test_a_large_pool_is_drawn_from_by_the_seed():
    features = toy_features(pool=60)
    fitted = [Spreading(features, heads(), seed, most=10).model.X_ for seed in (0, 0, 1)]
    assert fitted[0].shape == (16, 2 * WIDTH)
    assert np.array_equal(fitted[0], fitted[1])
    assert not np.array_equal(fitted[0], fitted[2])
