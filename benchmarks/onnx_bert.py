"""A BERT for ONNX Runtime, in fp32 or int8: what our own features on a CPU were measured against.

The graph is written out in ONNX Runtime's own fused operators (attention, skip + normalisation, bias + gelu), which is
what its optimiser for transformers arrives at. In int8 the weights have a scale per output; the activations have one
for the whole batch, since ONNX Runtime's operator knows no other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FUSED = "com.microsoft"  # the domain of the fused operators


class Graph:
    """Nodes and weights of a graph that is being written."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def add(self, kind: str, inputs: list[str], domain: str = "", **settings: Any) -> str:
        """A node with one output; its name."""
        from onnx import helper

        name = f"{kind}-{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], domain=domain, **settings))
        return name

    def weight(self, value: Any) -> str:
        """A constant; its name."""
        from onnx import numpy_helper

        name = f"weight-{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def product(self, x: str, weight: np.ndarray, int8: bool) -> str:
        """``x`` (.., in) times ``weight`` (in, out)."""
        if not int8:
            return self.add("MatMul", [x, self.weight(weight)])
        scale = (np.abs(weight).max(0) / 127).astype(np.float32)
        parts = [np.round(weight / scale).astype(np.int8), scale, np.zeros(len(scale), np.int8)]
        return self.add("DynamicQuantizeMatMul", [x, *map(self.weight, parts)], FUSED)

    def norm(self, x: str, skip: str, bias: np.ndarray, norm: list[np.ndarray], epsilon: float) -> str:
        """The normalised sum of all three."""
        inputs = [x, skip, *map(self.weight, [*norm, bias])]
        return self.add("SkipLayerNormalization", inputs, FUSED, epsilon=epsilon)

    def mean(self, x: str) -> str:
        """(B, T, D) -> (B, D) over real tokens."""
        masked = self.add("Mul", [x, "mask-column"])
        total = self.add("ReduceSum", [masked, self.weight(np.array([1]))], keepdims=0)
        return self.add("Div", [total, "lengths"])


def session(bert: Any, depths: list[int], int8: bool, threads: int) -> Any:
    """An ONNX Runtime session: ``ids`` and ``mask`` (B, T) -> mean features (B, D) of each depth."""
    import onnxruntime
    from onnx import TensorProto, helper

    graph = Graph()
    found = _encoder(graph, bert, depths, int8)
    inputs = [
        helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "t"]),
        helper.make_tensor_value_info("mask", TensorProto.INT32, ["b", "t"]),
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", bert.config.hidden_size]) for name in found]
    whole = helper.make_graph(graph.nodes, "bert", inputs, outputs, graph.weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    model = helper.make_model(whole, opset_imports=opsets, ir_version=9).SerializeToString()
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _encoder(graph: Graph, bert: Any, depths: list[int], int8: bool) -> list[str]:
    """Write the encoder; the names of its features."""
    of = {name: tensor.detach().numpy() for name, tensor in bert.state_dict().items()}
    epsilon, heads = bert.config.layer_norm_eps, bert.config.num_attention_heads

    def pair(name: str) -> list[np.ndarray]:
        return [of[f"{name}.weight"], of[f"{name}.bias"]]

    lengths = _mask(graph)
    words = graph.add("Gather", [graph.weight(of["embeddings.word_embeddings.weight"]), "ids"])
    places = of["embeddings.position_embeddings.weight"] + of["embeddings.token_type_embeddings.weight"][0]
    seen = graph.add("Slice", [graph.weight(places), graph.weight(np.array([0])), lengths])
    both = [graph.add("Add", [words, seen]), *map(graph.weight, pair("embeddings.LayerNorm"))]
    x, read = graph.add("LayerNormalization", both, epsilon=epsilon), []
    for number in range(max(depths)):
        layer = f"encoder.layer.{number}"
        weights, biases = zip(*(pair(f"{layer}.attention.self.{n}") for n in ("query", "key", "value")), strict=True)
        qkv = [graph.product(x, weight.T, int8) for weight in weights]
        inputs = [*qkv, graph.weight(np.concatenate(biases)), "mask"]
        mixed = graph.add("MultiHeadAttention", inputs, FUSED, num_heads=heads)
        weight, bias = pair(f"{layer}.attention.output.dense")
        mixed = graph.product(mixed, weight.T, int8)
        x = graph.norm(mixed, x, bias, pair(f"{layer}.attention.output.LayerNorm"), epsilon)
        weight, bias = pair(f"{layer}.intermediate.dense")
        up = graph.add("BiasGelu", [graph.product(x, weight.T, int8), graph.weight(bias)], FUSED)
        weight, bias = pair(f"{layer}.output.dense")
        x = graph.norm(graph.product(up, weight.T, int8), x, bias, pair(f"{layer}.output.LayerNorm"), epsilon)
        if number + 1 in depths:
            read.append(graph.mean(x))
    return read


def _mask(graph: Graph) -> str:
    """Name what pooling needs of the mask; the name of T, as a vector of one."""
    from onnx import TensorProto, helper

    numbers = graph.add("Cast", ["mask"], to=TensorProto.FLOAT)
    inputs = [numbers, graph.weight(np.array([2]))], [numbers, graph.weight(np.array([1]))]
    graph.nodes.append(helper.make_node("Unsqueeze", inputs[0], ["mask-column"]))
    graph.nodes.append(helper.make_node("ReduceSum", inputs[1], ["lengths"], keepdims=1))
    return graph.add("Shape", ["ids"], start=1, end=2)
