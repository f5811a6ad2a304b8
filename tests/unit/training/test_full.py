"""What mode full does that lite does not: own encoders, warm heads, frozen embeddings, bf16."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from jointmatch.run import Outcome, run
from jointmatch.training import Learner, Views, autocast_dtype
from jointmatch.training import updates as updates_module
from tests.unit.training.toy import tiny_run, topic_splits


def full_run(backbone, splits=None, **sections: dict[str, Any]) -> Outcome:
    settings: dict[str, dict[str, Any]] = {
        "network": {"backbone": str(backbone), "max_length": 16},
        "training": {"mode": "full", "steps": 2, "batch_size": 4, "mu": 2},
        "output": {"baselines": False},
    }
    for name, values in sections.items():
        settings.setdefault(name, {}).update(values)
    return run(splits or topic_splits(), settings)


def head_weights(outcome: Outcome) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in outcome.model.networks.heads.parameters()])


def test_a_warm_start_gives_heads_that_were_trained_on_features(tiny_backbone):
    """With rates too small to move anything, what is left is the start."""
    still = {"learning_rate": 1e-12, "head_learning_rate": 1e-12, "weight_decay": 0.0}
    warm = full_run(tiny_backbone, training=still | {"warm_start": True})
    cold = full_run(tiny_backbone, training=still | {"warm_start": False})
    assert (head_weights(warm) - head_weights(cold)).abs().max() > 0.05


def test_a_warm_start_that_no_step_improves_on_is_kept_and_it_says_so(tiny_backbone):
    """Steps so large that they ruin what the heads know of the topics; without warm heads there is no such start."""
    ruin = {"learning_rate": 10.0, "head_learning_rate": 10.0, "steps": 2, "evaluate_every": 1, "average_decay": 0.0}
    still = {"learning_rate": 1e-12, "head_learning_rate": 1e-12, "steps": 1, "weight_decay": 0.0}
    kept = full_run(tiny_backbone, training=ruin | {"warm_start": True})
    assert kept.result["kept_step"] == 0
    assert any("starting point is kept" in text for text in kept.result["warnings"])
    assert torch.allclose(
        head_weights(kept), head_weights(full_run(tiny_backbone, training=still | {"warm_start": True})), atol=1e-6
    )
    cold = full_run(tiny_backbone, training=ruin | {"warm_start": False})
    assert cold.result["kept_step"] > 0
    assert not any("starting point is kept" in text for text in cold.result["warnings"])


def test_the_warm_start_keeps_to_the_users_rule(tiny_backbone, monkeypatch):
    seen = []
    original = updates_module.Updater.__init__

    def spy(self, learner: Learner, algorithm: Any, *args: Any) -> None:
        seen.append(type(algorithm.threshold).__name__)
        original(self, learner, algorithm, *args)

    monkeypatch.setattr(updates_module.Updater, "__init__", spy)
    full_run(tiny_backbone, algorithm={"threshold": "fixed"})
    assert seen == ["FixedThreshold", "FixedThreshold"]


@pytest.mark.parametrize("frozen", [True, False])
def test_frozen_embeddings_stay_as_they_were(tiny_backbone, frozen):
    cold = {"warm_start": False, "average_decay": 0.0}
    start = full_run(tiny_backbone, training=cold | {"steps": 1, "learning_rate": 1e-12})
    trained = full_run(tiny_backbone, network={"freeze_embeddings": frozen}, training=cold | {"learning_rate": 0.05})
    before, after = (
        o.model.networks.encoders[0].transformer.get_input_embeddings().weight  # type: ignore[union-attr, operator]
        for o in (start, trained)
    )
    assert torch.allclose(before, after, atol=1e-6) is frozen


def test_labelled_texts_are_trained_on_in_their_weak_view(tiny_backbone, monkeypatch):
    splits = topic_splits()
    seen: list[str] = []
    original = Views.drawn_weak

    def spy(self, part, rows, draw):
        seen.extend(part.texts[i] for i in rows)
        drawn = original(self, part, rows, draw)
        assert [str(step) for step in drawn.steps or ()] == ["deletion:0.3"]
        return drawn

    monkeypatch.setattr(Views, "drawn_weak", spy)
    full_run(
        tiny_backbone, splits, augment={"weak": "deletion:0.3", "strong": ["none"]}, training={"warm_start": False}
    )
    labeled = sum(text in splits.labeled.texts for text in seen)
    assert labeled == 2 * 4, "four at each of two steps"
    assert set(seen) & set(splits.pool.texts)


def test_bf16_is_used_when_asked_for(tiny_backbone):
    exact = full_run(tiny_backbone, training={"precision": "fp32"})
    rounded = full_run(tiny_backbone, training={"precision": "bf16"})
    assert not torch.equal(head_weights(exact), head_weights(rounded))
    torch.testing.assert_close(head_weights(exact), head_weights(rounded), rtol=0, atol=0.05)


@pytest.mark.parametrize(
    ("has", "precision", "dtype", "said"),
    [
        (True, "auto", torch.bfloat16, None),
        (True, "fp32", None, None),
        (False, "auto", None, None),  # which is what one expects of a processor
        (False, "bf16", torch.bfloat16, "This processor has no bf16"),
    ],
)
def test_a_processor_trains_in_bf16_by_itself_where_it_has_instructions_for_it(
    monkeypatch, has, precision, dtype, said
):
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    notes: list[str] = []
    assert autocast_dtype(torch.device("cpu"), precision, notes.append) is dtype
    assert [said in note for note in notes] == [True] * bool(said)


def test_a_torch_that_cannot_tell_counts_as_a_processor_without_bf16(monkeypatch):
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.delattr(torch.cpu, name, raising=False)
    assert autocast_dtype(torch.device("cpu"), "auto") is None


@pytest.mark.parametrize(
    ("has", "precision", "dtype", "said"),
    [
        (True, "auto", torch.bfloat16, None),
        (True, "fp32", None, None),
        (False, "auto", None, "training in fp32"),
        (False, "fp32", None, None),
        (False, "bf16", torch.bfloat16, "may be faster"),
    ],
)
def test_a_gpu_without_bf16_trains_in_fp32_and_says_so(monkeypatch, has, precision, dtype, said):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: has)
    notes: list[str] = []
    assert autocast_dtype(torch.device("cuda"), precision, notes.append) is dtype
    assert [said in note for note in notes] == [True] * bool(said)


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_each_network_can_read_a_view_of_its_own(tiny_backbone, mode):
    """The second network's texts are all masked but for a word; the first one trains as if nothing had changed."""
    common = {"training": {"mode": mode, "warm_start": False, "average_decay": 0.0}, "algorithm": {"labelling": "own"}}
    plain = full_run(tiny_backbone, augment={"weak": "none", "strong": ["none"]}, **common)
    own = full_run(tiny_backbone, augment={"weak": "none", "strong_per_network": ["none", "masking:1"]}, **common)
    first, second = (
        [[p.detach() for p in head.parameters()] for head in outcome.model.networks.heads] for outcome in (plain, own)
    )
    for one, other in zip(first[0], second[0], strict=True):
        torch.testing.assert_close(one, other)
    assert any(not torch.allclose(one, other) for one, other in zip(first[1], second[1], strict=True))


def test_whole_networks_can_be_chosen_on_some_of_the_dev_texts(tiny_backbone):
    """Nine dev texts, four looked at: accuracies are quarters, but for the end's, which are of nine."""
    outcome = tiny_run(tiny_backbone, {"training": {"mode": "full", "evaluate_on": 4}})
    assert all(4 * record["dev_accuracy"] % 1 == 0 for record in outcome.history)
    assert 9 * outcome.result["scores"]["dev"]["accuracy"] == pytest.approx(
        round(9 * outcome.result["scores"]["dev"]["accuracy"])
    )


@pytest.mark.parametrize("init", ["random", "prototype", "means"])
@pytest.mark.parametrize("normalize", [True, False])
def test_baselines_beside_a_run_change_nothing_in_it(tiny_backbone, init, normalize):
    own = {"network": {"head_init": init, "normalize": normalize}, "training": {"warm_start": False}}
    found = [full_run(tiny_backbone, **own, output={"baselines": wanted}) for wanted in (True, False)]
    assert found[0].history == found[1].history
    assert torch.equal(head_weights(found[0]), head_weights(found[1]))
