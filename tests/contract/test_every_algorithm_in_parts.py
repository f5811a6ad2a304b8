"""What holds for every algorithm when a batch is parted, texts of it are left out, or a loss is asked for again."""

import torch

from jointmatch.algorithms import ALGORITHMS
from tests.contract.test_every_algorithm import BATCH, draw, every_algorithm, label, practised, step, strong, weak


@every_algorithm
def test_where_unselected_texts_may_be_skipped_the_rest_gives_the_whole_loss(name):
    """L_u is a mean over the batch: that over the texts learnt from, times their share, is the same."""
    rule = practised(name)
    if not rule.skips_unselected:
        return
    labels = label(rule, weak(rule, 3), step())
    kept = labels.learnt.nonzero()[:, 0]
    logits = strong(rule, labels)
    whole = rule.unsupervised_loss(logits, labels, step())
    some = rule.unsupervised_loss(logits[:, kept], labels.part(kept), step()) if len(kept) else torch.zeros_like(whole)
    torch.testing.assert_close(some * len(kept) / logits.shape[1], whole)


def test_methods_whose_loss_looks_at_unselected_texts_do_not_skip_them():
    reading = {name for name in ALGORITHMS if ALGORITHMS[name].uses_unlabeled and not practised(name).skips_unselected}
    assert reading >= {"freematch", "coteaching", "mixtext", "uda", "meanteacher"}
    assert not reading & {"jointmatch", "fixmatch", "flexmatch", "softmatch", "pseudolabel"}


@every_algorithm
def test_asking_for_losses_changes_its_state_only_where_it_says_so(name):
    """Else what failed for want of memory and is asked again would be counted twice."""
    rule = practised(name)
    labels = label(rule, weak(rule), step())
    before = {key: value.clone() for key, value in rule.state_dict().items()}
    rule.supervised_loss(draw(rule), torch.arange(BATCH) % 3, step())
    rule.unsupervised_loss(strong(rule, labels), labels, step())
    same = all(torch.equal(value, before[key]) for key, value in rule.state_dict().items())
    assert same or rule.notes_losses


@every_algorithm
def test_the_unsupervised_loss_is_a_mean_over_the_batch_or_the_algorithm_says_that_it_is_not(name):
    """Two parts, each by its size, are the whole; where they are not, a run in micro-batches says so."""
    rule = practised(name)
    if not rule.uses_unlabeled or rule.every_view:  # there a text's views are parted with it
        return
    labels = label(rule, weak(rule, 3), step())
    logits, state = strong(rule, labels), {key: value.clone() for key, value in rule.state_dict().items()}
    cut, size = logits.shape[1] // 2, logits.shape[1]
    found = []
    for part in (slice(0, cut), slice(cut, size), slice(0, size)):
        rule.load_state_dict(state)
        found.append(rule.unsupervised_loss(logits[:, part], labels.part(part), step()))
    same = torch.allclose((cut * found[0] + (size - cut) * found[1]) / size, found[2], atol=1e-6)
    assert same is not rule.whole_pool


@every_algorithm
def test_the_supervised_loss_is_a_mean_over_the_batch_or_labelled_texts_stay_together(name):
    """Two halves, each by its size, are the whole; so micro-batches of any size give the same step."""
    rule, y = practised(name), torch.arange(BATCH) % 3
    logits = draw(rule)
    parts = [rule.supervised_loss(logits[:, part], y[part], step()) for part in (slice(0, 4), slice(4, BATCH))]
    halves = (4 * parts[0] + (BATCH - 4) * parts[1]) / BATCH
    assert rule.whole_labels or torch.allclose(halves, rule.supervised_loss(logits, y, step()))
