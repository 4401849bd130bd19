# SPDX-License-Identifier: Apache-2.0
"""Reads graphs: the YAML form, a subset of ONNX, and the builder of BERT."""

import sys

import graph as graphs


def load(what):
    if what.startswith("bert:"):
        import bert
        return bert.build(what[len("bert:"):])
    if what.endswith((".yaml", ".yml")):
        return from_yaml(what)
    if what.endswith(".onnx"):
        return from_onnx(what)
    raise graphs.GraphError("must end in .yaml or .onnx, or begin with bert:")


def from_yaml(file):
    import yaml
    try:
        with open(file, encoding="utf-8") as stream:
            data = yaml.safe_load(stream)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise graphs.GraphError(" ".join(str(error).split())) from error
    if not isinstance(data, dict):
        raise graphs.GraphError("must be a map with name, tensors and ops")
    for key in data:
        if key not in ("name", "tensors", "ops"):
            raise graphs.GraphError(f"unknown key {key!r}{graphs.near(str(key), ['name', 'tensors', 'ops'])}")
    graph = graphs.Graph(str(data.get("name", "graph")))
    for name, about in (data.get("tensors") or {}).items():
        if not isinstance(about, dict) or "shape" not in about:
            raise graphs.GraphError(f"tensor {name}: needs shape")
        extra = set(about) - {"shape", "kind", "value"}
        if extra:
            raise graphs.GraphError(f"tensor {name}: unknown key {sorted(extra)[0]!r}")
        graph.tensor(name, about["shape"], about.get("kind", "value"), about.get("value", 0.0))
    for place, about in enumerate(data.get("ops") or []):
        if not isinstance(about, dict) or not {"op", "in", "out"} <= set(about):
            raise graphs.GraphError(f"operator {place}: needs op, in and out")
        rest = {key: value for key, value in about.items() if key not in ("op", "in", "out")}
        graph.op(about["op"], about["in"], about["out"], **rest)
    if not graph.ops:
        raise graphs.GraphError("has no ops")
    return graph


ONNX = {"MatMul": "MatMul", "Gemm": "MatMul", "Add": "Add", "Sub": "Sub", "Mul": "Mul", "Gelu": "Gelu",
        "Softmax": "Softmax", "LayerNormalization": "LayerNorm", "AllReduce": "AllReduce"}


def from_onnx(file):
    """ONNX with static shapes: MatMul, Gemm (alpha = beta = 1), Add, Sub, Mul, Gelu, Softmax on the last axis,
    LayerNormalization on the last axis, and AllReduce of domain `stretto`. Initialisers are weights."""
    try:
        import onnx
    except ImportError as error:
        raise graphs.GraphError(f"needs the Python package onnx (Debian: python3-onnx) for {sys.executable}") from error
    try:
        model = onnx.shape_inference.infer_shapes(onnx.load(file))
    except Exception as error:  # protobuf raises what it likes.
        raise graphs.GraphError("is no ONNX model: " + str(error).splitlines()[0]) from error
    graph = graphs.Graph(model.graph.name or "onnx")
    weights = {one.name for one in model.graph.initializer}
    for one in model.graph.initializer:
        graph.tensor(one.name, list(one.dims) or [1], "weight")
    inputs = {one.name for one in model.graph.input}
    for one in [*model.graph.input, *model.graph.value_info, *model.graph.output]:
        if one.name in graph.tensors:
            continue
        shape = []
        for dimension in one.type.tensor_type.shape.dim:
            if not dimension.HasField("dim_value"):
                raise graphs.GraphError(f"tensor {one.name}: its shape is not static")
            shape.append(dimension.dim_value)
        graph.tensor(one.name, shape, "input" if one.name in inputs - weights else "value")
    for node in model.graph.node:
        add_node(graph, node, onnx)
    return graph


def add_node(graph, node, onnx):
    kind = ONNX.get(node.op_type)
    where = f"node {node.name or node.output[0]} ({node.op_type})"
    if kind is None:
        raise graphs.GraphError(f"{where}: not supported{graphs.near(node.op_type, ONNX)}")
    given = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    attributes = {}
    if node.op_type == "Gemm":
        if given.get("alpha", 1.0) != 1.0 or given.get("beta", 1.0) != 1.0:
            raise graphs.GraphError(f"{where}: alpha and beta must be 1")
        attributes = {"transpose_a": given.get("transA", 0), "transpose_b": given.get("transB", 0)}
    if node.op_type in ("Softmax", "LayerNormalization"):
        rank = len(graph.tensors[node.input[0]].shape)
        if given.get("axis", -1) not in (-1, rank - 1):
            raise graphs.GraphError(f"{where}: axis must be the last one")
        if node.op_type == "LayerNormalization":
            attributes = {"epsilon": given.get("epsilon", 1e-5)}
    if node.op_type == "AllReduce":
        graph.tensors[node.input[0]].kind = "gradient"
    for name in node.output:
        if name not in graph.tensors:
            raise graphs.GraphError(f"{where}: the shape of {name} is not known")
    graph.op(kind, list(node.input), node.output[0], **attributes)
