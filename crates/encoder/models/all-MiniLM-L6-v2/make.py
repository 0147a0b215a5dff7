"""Makes model.onnx: the graph of all-MiniLM-L6-v2, without its weights.

    python3 make.py path/to/model.safetensors model.onnx

An ONNX initializer may live in another file at an offset, and a safetensors file is raw little-endian
tensors at offsets. So the graph's initializers point into the published `model.safetensors`, and the 91 MB
of weights need no conversion. Linear layers are `Gemm` with `transB=1`, which reads the weights as they are
stored; `MatMul` would have ONNX Runtime keep a transposed copy of each.

Shapes: input_ids, attention_mask, token_type_ids [batch, sequence] int64 -> last_hidden_state
[batch, sequence, 384] float32. Pooling is left to the program that runs it.

Needs the packages in requirements.txt; the same versions give the same bytes.
"""

import json
import math
import struct
import sys

import onnx
from onnx import TensorProto, helper

LAYERS, HIDDEN, HEADS = 6, 384, 12
WEIGHTS_FILE = "model.safetensors"
OPSET, IR_VERSION = 20, 10
# Added to the scores of padding before the softmax: the lowest float32, so that its share is exactly 0.
MASKED = -3.4028234663852886e38


class Graph:
    """Collects nodes and initializers; each method returns the name of its result."""

    def __init__(self, safetensors):
        with open(safetensors, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            self.tensors = json.loads(file.read(length))
        self.data_start = 8 + length
        self.nodes, self.initializers, self.known = [], [], set()

    def weight(self, name):
        """An initializer that points into the safetensors file."""
        if name not in self.known:
            self.known.add(name)
            entry = self.tensors[name]
            assert entry["dtype"] == "F32", name
            begin, end = entry["data_offsets"]
            tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=entry["shape"])
            tensor.data_location = TensorProto.EXTERNAL
            place = {"location": WEIGHTS_FILE, "offset": self.data_start + begin, "length": end - begin}
            for key, value in place.items():
                tensor.external_data.add(key=key, value=str(value))
            self.initializers.append(tensor)
        return name

    def constant(self, name, values, kind=TensorProto.INT64):
        """A small tensor kept in the graph; a bare number makes a scalar."""
        if name not in self.known:
            self.known.add(name)
            is_scalar = not isinstance(values, list)
            shape = [] if is_scalar else [len(values)]
            self.initializers.append(helper.make_tensor(name, kind, shape, [values] if is_scalar else values))
        return name

    def add(self, operator, *inputs, **attributes):
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def linear(self, rows, prefix):
        """[rows, in] -> [rows, out]"""
        return self.add("Gemm", rows, self.weight(prefix + ".weight"), self.weight(prefix + ".bias"), transB=1)

    def layer_norm(self, rows, prefix):
        scale, bias = self.weight(prefix + ".weight"), self.weight(prefix + ".bias")
        return self.add("LayerNormalization", rows, scale, bias, axis=-1, epsilon=1e-12)


def embeddings(graph, shape):
    """[batch, sequence] ids -> [batch * sequence, hidden]"""
    length = graph.add("Gather", shape, graph.constant("second", [1]))
    positions = graph.add(
        "Slice", graph.weight("embeddings.position_embeddings.weight"), graph.constant("start", [0]), length
    )
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    types = graph.add("Gather", graph.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
    total = graph.add("Add", graph.add("Add", words, types), positions)
    rows = graph.add("Reshape", total, graph.constant("as_rows", [-1, HIDDEN]))
    return graph.layer_norm(rows, "embeddings.LayerNorm")


def mask(graph):
    """[batch, sequence] of 1 and 0 -> [batch, 1, 1, sequence] of 0 and MASKED"""
    one = graph.constant("one", 1.0, TensorProto.FLOAT)
    padding = graph.add("Sub", one, graph.add("Cast", "attention_mask", to=TensorProto.FLOAT))
    masked = graph.add("Mul", padding, graph.constant("masked", MASKED, TensorProto.FLOAT))
    return graph.add("Unsqueeze", masked, graph.constant("middle", [1, 2]))


def attention(graph, rows, by_head, mask_name, prefix):
    """Multi-head self-attention. [rows, hidden] -> [rows, hidden]"""

    def heads(name, order):
        projected = graph.linear(rows, f"{prefix}.self.{name}")
        return graph.add("Transpose", graph.add("Reshape", projected, by_head), perm=order)

    query, key, value = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
    scale = graph.constant("scale", 1 / math.sqrt(HIDDEN / HEADS), TensorProto.FLOAT)
    scores = graph.add("Add", graph.add("Mul", graph.add("MatMul", query, key), scale), mask_name)
    context = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
    context = graph.add("Transpose", context, perm=[0, 2, 1, 3])
    context = graph.add("Reshape", context, graph.constant("as_rows", [-1, HIDDEN]))
    output = graph.linear(context, f"{prefix}.output.dense")
    return graph.layer_norm(graph.add("Add", output, rows), f"{prefix}.output.LayerNorm")


def feed_forward(graph, rows, prefix):
    inner = graph.add("Gelu", graph.linear(rows, f"{prefix}.intermediate.dense"))
    output = graph.linear(inner, f"{prefix}.output.dense")
    return graph.layer_norm(graph.add("Add", output, rows), f"{prefix}.output.LayerNorm")


def main(safetensors, output):
    graph = Graph(safetensors)
    shape = graph.add("Shape", "input_ids")
    rows = embeddings(graph, shape)
    mask_name = mask(graph)
    by_head = graph.add("Concat", shape, graph.constant("heads", [HEADS, HIDDEN // HEADS]), axis=0)
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        rows = attention(graph, rows, by_head, mask_name, f"{prefix}.attention")
        rows = feed_forward(graph, rows, prefix)
    hidden = graph.add("Concat", shape, graph.constant("width", [HIDDEN]), axis=0)
    graph.nodes.append(helper.make_node("Reshape", [rows, hidden], ["last_hidden_state"], name="last"))

    ids = ("input_ids", "attention_mask", "token_type_ids")
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "sequence"]) for n in ids],
            [helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", HIDDEN])],
            graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="m3 models/all-MiniLM-L6-v2/make.py",
    )
    with open(output, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
