"""One round on twelve texts and two classes, by hand.

10 steps: 2 for the teacher, 4 for the probe (2 to 5), 4 for the student (6 to 9). The teacher is sure of texts 0 to 7,
class 0 for the even and 1 for the odd ones; texts 8 to 11 just reach tau, which is not enough. Of 8 texts min(8 // 2,
8 // 4) = 2 are given the class that does not exist, number 2.
"""

from math import log

import pytest
import torch

from jointmatch.algorithms import AUMST
from jointmatch.types import Step, Task

POOL, SURE = 12, 8
TASK = Task(num_classes=2, num_networks=1, pool_size=POOL)


def at(number, index=None):
    return Step(torch.arange(POOL) if index is None else index, number, 10)


def teacher_logits(networks=1):
    p = torch.where(torch.arange(POOL) % 2 == 0, 0.95, 0.05)
    p[SURE:] = 0.5
    return torch.stack([p, 1 - p], -1).log().expand(networks, -1, -1)


def probing(task=TASK, **settings):
    rule = AUMST(task, **{"tau": 0.5, "rounds": 1, "teacher_share": 0.2, "probe_share": 0.5} | settings)
    rule.begin_phase(teacher_logits(task.num_networks), at(2))
    return rule


def weak(size, networks=1):
    return torch.zeros(networks, size, 3)


def visit(rule, number, margins):
    """The probe trains on texts 0 to 7, each ahead by its margin."""
    labels = rule.pseudo_label(weak(SURE), at(number))
    logits = torch.zeros(1, SURE, 3).scatter(-1, labels.targets[..., None], margins[labels.rows][None, :, None])
    return rule.unsupervised_loss(logits, labels, at(number))


def margins_of(rule):
    """Text t is ahead by t; of those given a class that does not exist one is by 0.5, the other by 2.5."""
    margins = torch.arange(float(POOL))
    margins[rule.made_up[0].nonzero().flatten()] = torch.tensor([2.5, 0.5])
    return margins


def test_the_phases():
    rule = AUMST(TASK, rounds=1, probe_share=0.5)
    assert [rule.phase(at(number)) for number in (1, 2, 6)] == [range(2), range(2, 6), range(6, 10)]


def test_the_teacher_is_taught_no_unlabelled_text():
    labels = AUMST(TASK).pseudo_label(torch.tensor([[[0.0, 1.0, 9.0]]]), at(0, torch.tensor([0])))
    assert not labels.selected.any()
    assert labels.targets.tolist() == [[1]]


def test_the_probe_is_taught_what_the_teacher_is_sure_of_and_some_a_class_that_does_not_exist():
    rule = probing()
    labels = rule.pseudo_label(weak(SURE), at(2))
    assert sorted(labels.rows.tolist()) == list(range(SURE))
    assert labels.selected.all()
    given = dict(zip(labels.rows.tolist(), labels.targets[0].tolist(), strict=True))
    made_up = [t for t, y in given.items() if y == 2]
    assert len(made_up) == 2
    assert all(y == t % 2 for t, y in given.items() if t not in made_up)


@pytest.mark.parametrize(("classes", "sure", "count"), [(2, 8, 2), (5, 11, 2), (5, 4, 0), (2, 3, 0)])
def test_the_made_up_are_one_in_c_but_one_in_four_at_most(classes, sure, count):
    rule = AUMST(Task(classes, 1, POOL), tau=0.5, rounds=1)
    logits = torch.zeros(1, POOL, classes)
    logits[:, :sure, 0] = 9.0
    rule.begin_phase(logits, at(2))
    assert int(rule.made_up.sum()) == count
    assert int(rule.kept.sum()) == sure


def test_another_seed_makes_up_other_labels():
    chosen = [probing(Task(2, 1, POOL, seed=seed)).made_up for seed in (0, 0, 1)]
    assert torch.equal(chosen[0], chosen[1])
    assert not torch.equal(chosen[0], chosen[2])


def test_texts_whose_area_under_the_margin_does_not_exceed_the_made_up_ones_are_dropped():
    """Two visits a unit below and above the margins. Made up 0.5 2.5: number floor(0.5 * 2) = 1, the cut is 2.5.
    Kept: the texts ahead by more, and the made-up ones with their real labels.
    """
    rule = probing()
    made_up = rule.made_up[0].nonzero().flatten().tolist()
    visit(rule, 2, margins_of(rule) - 1)
    visit(rule, 3, margins_of(rule) + 1)
    rule.begin_phase(torch.full((1, POOL, 2), torch.nan), at(6))
    wanted = sorted({t for t in range(SURE) if t > 2.5} | set(made_up))
    labels = rule.pseudo_label(weak(len(wanted)), at(6))
    assert rule.kept[0].nonzero().flatten().tolist() == wanted
    assert sorted(labels.rows.tolist()) == wanted
    assert torch.equal(labels.targets[0], labels.rows % 2)


def test_a_margin_equal_to_the_cut_is_not_above_it():
    rule = probing()
    margins = margins_of(rule)
    margins[~rule.made_up[0]] = 2.5
    visit(rule, 2, margins)
    rule.begin_phase(teacher_logits(), at(6))
    assert torch.equal(rule.kept, rule.made_up)


def test_a_text_the_probe_never_met_has_no_area_and_is_dropped():
    rule = probing()
    rule.begin_phase(teacher_logits(), at(6))
    assert torch.equal(rule.kept, rule.made_up)


def test_the_area_is_a_mean_over_visits_of_texts_that_were_met():
    """Made up: one met once, behind by 1, the cut; one never. Of the others one is ahead by 2 at its only visit, one
    never met, one behind by 2 in all over four visits, -0.5 on average, one behind by 1.5 at its only visit.
    """
    rule = probing()
    made_up = rule.made_up[0].nonzero().flatten().tolist()
    ahead, unmet, often, behind, *_ = (t for t in range(SURE) if t not in made_up)
    for text, total, visits in ((made_up[0], -1.0, 1), (ahead, 2.0, 1), (often, -2.0, 4), (behind, -1.5, 1)):
        rule.margins[0, text], rule.visits[0, text] = total, visits
    rule.begin_phase(teacher_logits(), at(6))
    assert rule.kept[0].nonzero().flatten().tolist() == sorted([*made_up, ahead, often])
    assert not rule.kept[0, unmet]


def test_before_its_first_probe_it_knows_nothing():
    assert [name for name, buffer in AUMST(TASK).named_buffers() if buffer.any()] == ["texts"]


def test_a_new_round_forgets_the_margins_of_the_last():
    rule = probing()
    visit(rule, 2, margins_of(rule))
    rule.begin_phase(teacher_logits(), at(2))
    assert not rule.margins.any()
    assert not rule.visits.any()


def test_a_teacher_sure_of_nothing_leaves_the_student_to_the_labels():
    rule = probing(tau=1.0)
    for number in (2, 6):
        labels = rule.pseudo_label(weak(4), at(number))
        assert not labels.selected.any()
        assert rule.unsupervised_loss(weak(4), labels, at(number)).item() == 0.0
        rule.begin_phase(teacher_logits(), at(6))


def test_the_losses_of_each_phase():
    """Logits 0 0 0, so ln 3 over three outputs, ln 2 over the two classes. L_s: teacher ln 2, probe 0.5 ln 3, student
    0.5 ln 2. L_u: probe 0.5 ln 3, student 0.5 ln 2.
    """
    rule = probing()
    y = torch.tensor([0, 1])
    found = [rule.supervised_loss(weak(2), y, at(number)).item() for number in (0, 2, 6)]
    assert found == pytest.approx([log(2), 0.5 * log(3), 0.5 * log(2)])
    probe = rule.unsupervised_loss(weak(SURE), rule.pseudo_label(weak(SURE), at(2)), at(2))
    student = rule.unsupervised_loss(weak(SURE), rule.pseudo_label(weak(SURE), at(6)), at(6))
    assert [probe.item(), student.item()] == pytest.approx([0.5 * log(3), 0.5 * log(2)])


def test_every_round_has_a_probe_and_a_student():
    """Two rounds of four steps, two of them the probe's: the loss is over three outputs from steps 2 and 6 on."""
    rule = AUMST(TASK, rounds=2, probe_share=0.5, labeled_weight=1.0)
    found = [rule.supervised_loss(weak(1), torch.tensor([0]), at(number)).item() for number in (0, 2, 4, 6, 8)]
    assert found == pytest.approx([log(2), log(3), log(2), log(3), log(2)])


def test_only_the_probe_is_taught_the_class_that_does_not_exist():
    rule = probing()
    assert (rule.pseudo_label(weak(SURE), at(2)).targets == 2).any()
    assert not (rule.pseudo_label(weak(SURE), at(6)).targets == 2).any()


def test_the_texts_are_gone_through_in_turn():
    rule = probing()
    rows = [rule.pseudo_label(weak(4), at(number)).rows for number in (2, 3, 4)]
    assert sorted(torch.cat(rows[:2]).tolist()) == list(range(SURE))
    assert torch.equal(rows[0], rows[2])
    assert torch.equal(rule.pseudo_label(weak(3), at(2)).rows, rule.texts[:3])


def test_the_order_of_the_texts_is_drawn_and_another_in_every_phase():
    rule, orders = AUMST(TASK, tau=0.5, rounds=2), []
    probes = [phase.start for phase in rule._phases(Step(torch.arange(POOL), 0, 100))[1::2]]
    for number in probes:
        rule.begin_phase(teacher_logits(), Step(torch.arange(POOL), number, 100))
        orders.append((rule.texts.tolist(), rule.made_up.tolist()))
    assert sorted(orders[0][0]) == list(range(POOL)) != orders[0][0]
    assert orders[0][0] != orders[1][0]
    assert orders[0][1] != orders[1][1], "who is given a class that does not exist"


def test_batches_of_one_step_are_of_different_texts():
    """Three batches of two at step 2 and one at step 3: places 0 1, 2 3, 4 5, then 6 7."""
    rule = probing()
    steps = [Step(torch.arange(2), number, 10, turn, 3) for number, turn in ((2, 0), (2, 1), (2, 2), (3, 0))]
    rows = [rule.pseudo_label(weak(2), step).rows for step in steps]
    assert torch.cat(rows).tolist() == rule.texts[:SURE].tolist()


def test_margins_are_the_probes_alone_and_have_no_gradient():
    rule = probing()
    for number, visits in ((2, SURE), (6, SURE)):
        logits = torch.ones(1, SURE, 3, requires_grad=True)
        rule.unsupervised_loss(logits, rule.pseudo_label(weak(SURE), at(number)), at(number))
        assert int(rule.visits.sum()) == visits
    assert not rule.margins.requires_grad


def test_micro_batches_measure_the_same_margins():
    whole, parts = probing(), probing()
    logits = torch.randn(1, SURE, 3, generator=torch.Generator().manual_seed(0))
    labels = whole.pseudo_label(weak(SURE), at(2))
    whole.unsupervised_loss(logits, labels, at(2))
    for rows in (slice(0, 3), slice(3, SURE)):
        parts.unsupervised_loss(logits[:, rows], labels.part(rows), at(2))
    assert torch.equal(whole.margins, parts.margins)
    assert whole.margins.any()


@pytest.mark.parametrize("networks", [2, 3])
def test_several_networks_are_each_taught_what_their_own_teacher_was_sure_of(networks):
    rule = AUMST(Task(2, networks, POOL), tau=0.5, rounds=1)
    logits = teacher_logits(networks).clone()
    logits[0, 4:] = 0.0
    rule.begin_phase(logits, at(2))
    labels = rule.pseudo_label(weak(SURE, networks), at(2))
    assert labels.rows is not None
    assert sorted(labels.rows.tolist()) == list(range(SURE))
    assert torch.equal(labels.selected[0], labels.rows < 4)
    assert labels.selected[1:].all()
    visits = rule.visits.clone()
    rule.unsupervised_loss(weak(SURE, networks), labels, at(2))
    assert (rule.visits - visits).sum(-1).tolist() == [4.0] + [8.0] * (networks - 1)
