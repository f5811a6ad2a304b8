"""Training steps for timing: random networks of a known shape on random tokens, trained in one of several ways.

Everything else is as in a real run: batches, views (the texts themselves), pseudo-labels, losses, updates.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np
import torch

from jointmatch.algorithms import ALGORITHMS, build
from jointmatch.config import AugmentConfig, TrainingConfig
from jointmatch.data import Splits, Texts
from jointmatch.errors import ConfigError, did_you_mean
from jointmatch.listener import Listener
from jointmatch.networks import Encoder, Heads, HeadShape, Networks, StackedEncoders, Tokenizer, why_not_compiled
from jointmatch.schema import AtLeastOne, Count, Fraction, Range, check
from jointmatch.training import FullLearner, Loop, Updater, Views, autocast_dtype
from jointmatch.training.together import side_by_side
from jointmatch.types import Task

CLASSES, VOCABULARY = 4, 30522
LONGEST = 512  # positions in BERT
SHAPES = {  # width, layers, attention heads, inner width
    "tiny": (16, 2, 2, 32),
    "minilm": (384, 6, 12, 1536),
    "bert-base": (768, 12, 12, 3072),
}


@dataclass(frozen=True)
class Way:
    """How the networks are held and updated."""

    title: str
    precision: Literal["fp32", "bf16"] = "bf16"
    update: Literal["joint", "alternating"] = "joint"
    stacked: bool = True
    compiled: bool = False
    fused: bool = False

    def warm(self, device: torch.device) -> int:
        """Steps before timing starts: for stacks on a GPU, until every usual batch size has been recorded."""
        if device.type == "cpu":
            return 2
        return 40 if self.stacked else 6


WAYS = {
    "published": Way("as the published code: networks apart, fp32, 1 + mu updates", "fp32", "alternating", False),
    "apart_fp32": Way("networks apart, fp32, one update", "fp32", stacked=False),
    "apart": Way("networks apart, bf16, one update", stacked=False),
    "stacked_fp32": Way("stacked, fp32", "fp32"),
    "stacked": Way("stacked, replayed"),
    "compiled": Way("stacked, replayed, compiled", compiled=True),
    "fused": Way("stacked, replayed, compiled, own kernels", compiled=True, fused=True),
}


@dataclass(frozen=True)
class Load:
    """The training to time: N networks and S seeds, B labelled and mu * B unlabelled texts per step."""

    shape: str = "minilm"
    way: str = "stacked"
    algorithm: str = "jointmatch"
    networks: AtLeastOne = 2
    seeds: AtLeastOne = 1
    batch: AtLeastOne = 8
    mu: AtLeastOne = 10
    length: Annotated[int, Range(1, LONGEST)] = 64
    shortest: Count = 0  # texts have from this many tokens up to ``length``; 0: all have ``length``
    pool: AtLeastOne = 2000
    dropout: Fraction = 0.1

    def __post_init__(self) -> None:
        _, faults = check(get_type_hints(type(self), include_extras=True), asdict(self), "load")
        names: dict[str, Iterable[str]] = {"shape": SHAPES, "way": WAYS, "algorithm": ALGORITHMS}
        for what, known in names.items():
            name = getattr(self, what)
            if isinstance(name, str) and name not in known:
                faults.append(f"unknown {what} {name!r}.{did_you_mean(name, known)} Known: {', '.join(sorted(known))}")
        if not faults and self.shortest > self.length:
            faults.append(f"load.shortest is {self.shortest}, wanted at most length, which is {self.length}")
        if faults:
            raise ConfigError(faults)

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Load:
        """Create a load from an experiment's options."""
        known = {field.name for field in fields(cls)}
        unknown = [f"a load has no {key!r}.{did_you_mean(key, known)}" for key in said if key not in known]
        if unknown:
            raise ConfigError(unknown)
        return cls(**said)

    @property
    def name(self) -> str:
        """Unique name of the load; default values are left out."""
        usual = Load()
        said = ("algorithm", "networks", "seeds", "batch", "mu", "length", "shortest", "pool", "dropout")
        odd = [f"{f}-{getattr(self, f)}" for f in said if getattr(self, f) != getattr(usual, f)]
        return "_".join([self.shape, self.way, *odd])


def measure(load: Load, device: torch.device, steps: int, chunks: int = 3) -> dict[str, Any]:
    """Milliseconds per outer step and seed, and quantities derived from them."""
    timer = _Timer(device, steps, chunks, WAYS[load.way].warm(device))
    before = 0
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)  # left over from other loads
        torch.cuda.reset_peak_memory_stats(device)
    loops = [loop_of(load, seed, device, timer if seed == 0 else Listener(), timer.total) for seed in range(load.seeds)]
    lengths = _lengths(load)
    if len(loops) == 1:
        loops[0].run()
    else:
        side_by_side(loops)
    ms = 1000 * timer.seconds_per_step
    texts = load.batch * (1 + 2 * load.mu)  # each labelled text is read once, each unlabelled one twice
    flops = _flops_per_step(load, lengths) * load.seeds
    memory = (torch.cuda.max_memory_allocated(device) - before) / 2**30 if device.type == "cuda" else None
    return {
        "ms_per_step": round(ms, 3),
        "ms_per_step_and_seed": round(ms / load.seeds, 3),
        "texts_per_second": round(1000 * load.seeds * texts / ms, 1),
        "tflops": round(flops / ms / 1e9, 3),
        "peak_memory_gib": None if memory is None else round(memory, 2),
        "first_steps": timer.warm,
        "first_steps_seconds": round(timer.first, 2),
        "tokens_per_text": round(float(lengths.mean()), 1),
        "notes": timer.notes,
    }


def matmul_peak(device: torch.device) -> float:
    """TFLOP/s of a large bf16 matrix product: the best this device can do."""
    size, turns = (8192, 30) if device.type == "cuda" else (1024, 3)
    a = torch.randn(size, size, device=device, dtype=torch.bfloat16)
    for _ in range(3):
        a @ a
    wait(device)
    start = time.perf_counter()
    for _ in range(turns):
        a @ a
    wait(device)
    return turns * 2 * size**3 / (time.perf_counter() - start) / 1e12


class _Timer(Listener):
    """Time chunks of steps after a warm-up, waiting for the device only at their ends."""

    def __init__(self, device: torch.device, steps: int, chunks: int, warm: int) -> None:
        self.device, self.chunk, self.warm = device, max(steps // chunks, 1), warm
        self.total = self.warm + self.chunk * chunks
        self.steps_done = 0
        self.start = time.perf_counter()
        self.times: list[float] = []
        self.notes: list[str] = []  # speed-ups that could not be used

    def note(self, text: str) -> None:
        self.notes.append(text)

    def advance(self, amount: int = 1) -> None:
        self.steps_done += amount
        if amount and self.steps_done >= self.warm and (self.steps_done - self.warm) % self.chunk == 0:
            wait(self.device)
            self.times.append(time.perf_counter())

    @property
    def first(self) -> float:
        """Seconds until the end of the warm-up."""
        return self.times[0] - self.start

    @property
    def seconds_per_step(self) -> float:
        """Seconds per step of the median chunk."""
        chunks = [b - a for a, b in zip(self.times, self.times[1:], strict=False)]
        return statistics.median(chunks) / self.chunk


class _RandomTokens:
    """Stand-in for a pretrained tokenizer: a text is a number, and its tokens are random."""

    pad_token_id, mask_token, truncation_side, added_tokens_decoder = 0, None, "right", {}  # type: ignore[var-annotated]

    def __init__(self, load: Load) -> None:
        rng = np.random.default_rng(0)
        self.ids = [rng.integers(5, _vocabulary(load), size).tolist() for size in _lengths(load)]
        self.model_max_length = load.length

    def __call__(self, texts: Sequence[str], **settings: Any) -> dict[str, list[list[int]]]:
        return {"input_ids": [self.ids[int(text)] for text in texts]}


def loop_of(load: Load, seed: int, device: torch.device, listener: Listener, steps: int) -> Loop:
    """A training loop over random networks and tokens, for timing."""
    way = WAYS[load.way]
    numbers = [str(i) for i in range(load.batch + load.pool)]
    labels = [i % CLASSES for i in range(len(numbers))]
    given = Texts(numbers[: load.batch], labels[: load.batch])
    splits = Splits(list(range(CLASSES)), given, Texts(numbers[load.batch :], labels[load.batch :]))
    tokenizer = Tokenizer(_RandomTokens(load), load.length)
    dtype = autocast_dtype(device, way.precision, listener.warn)
    views = Views(AugmentConfig(weak="none", strong=("none",)), seed)
    learner = FullLearner(splits, _networks(load, seed, device, listener.warn), tokenizer, views, device, dtype)
    rule = build(load.algorithm, Task(CLASSES, load.networks, load.pool), {}).to(device)
    training = TrainingConfig(
        steps=steps,
        batch_size=load.batch,
        mu=load.mu,
        label_dropout=False,
        seed=seed,
        update=way.update,
        evaluate_every=steps + 1,
    )
    updater = Updater(learner, rule, training, torch.tensor(splits.pool.labels), listener)
    return Loop(updater, listener)


def _networks(load: Load, seed: int, device: torch.device, tell: Callable[[str], None]) -> Networks:
    from transformers import BertConfig, BertModel

    way = WAYS[load.way]
    width, layers, heads, inner = SHAPES[load.shape]
    config = BertConfig(
        vocab_size=_vocabulary(load),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        hidden_dropout_prob=load.dropout,
        attention_probs_dropout_prob=load.dropout,
    )
    torch.manual_seed(seed)
    encoders = [Encoder(BertModel(config), [1.0], "mean") for _ in range(load.networks)]
    held: list[Encoder] | StackedEncoders = StackedEncoders.of(encoders, tell=tell) if way.stacked else encoders
    if way.compiled and isinstance(held, StackedEncoders):
        if reason := why_not_compiled(device):
            tell(f"Layers are not compiled: {reason}.")
        else:
            held.compile_layers(tell)
    if way.fused and isinstance(held, StackedEncoders):
        held.to(device).fuse(tell)
    return Networks(held, Heads(HeadShape(width, CLASSES), load.networks, seed))


def _vocabulary(load: Load) -> int:
    return 100 if load.shape == "tiny" else VOCABULARY


def _lengths(load: Load) -> np.ndarray:
    """Number of tokens of each text, labelled ones first."""
    first = load.shortest or load.length
    return np.random.default_rng(1).integers(first, load.length + 1, load.batch + load.pool)


def _flops_per_step(load: Load, lengths: np.ndarray) -> float:
    """FLOPs of one seed, counting real tokens only: one pass over the weak views, three over what is learnt from."""
    width, layers, _, inner = SHAPES[load.shape]
    tokens, pairs = float(lengths.mean()), float((lengths.astype(float) ** 2).mean())  # attention is between pairs
    per_text = layers * (2 * (4 * width**2 + 2 * width * inner) * tokens + 4 * width * pairs)
    weak, learnt = load.mu * load.batch, (1 + load.mu) * load.batch
    return load.networks * per_text * (weak + 3 * learnt)


def wait(device: torch.device) -> None:
    """Wait until all work on the device is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
