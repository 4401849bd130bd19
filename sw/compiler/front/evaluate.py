# SPDX-License-Identifier: Apache-2.0
"""What a graph computes, in double precision: numpy, one operator a function, independent of the kernels.

Also the derivative of a graph by central differences, against which autodiff.py is checked.
"""

import math

import numpy

from front import graph as graphs


def contents(graph, seed=1):
    """Contents of all given tensors, the same for the same seed. Indices are below every axis that they name."""
    random = numpy.random.default_rng(seed)
    limits = {}
    for op in graph.ops:
        if op.kind in ("Gather", "ScatterAdd"):
            tensor = graph.tensors[op.inputs[0] if op.kind == "Gather" else op.output]
            extent = tensor.shape[op.get("axis")]
            limits[op.inputs[1]] = min(extent, limits.get(op.inputs[1], extent))
    given = {}
    for one in graph.tensors.values():
        if one.kind == "constant":
            given[one.name] = numpy.full(one.shape, one.value)
        elif one.kind == "index":
            given[one.name] = random.integers(0, limits.get(one.name, 1), one.shape)
        elif one.kind in graphs.GIVEN:
            given[one.name] = random.uniform(-1, 1, one.shape)
    for op in graph.ops:
        if op.kind == "Update" and len(op.inputs) == 3:
            given[op.inputs[2]] = given[op.inputs[0]].copy()
    return given


def run(graph, given):
    """All tensors of the graph by name; `given` as contents() makes it."""
    values = dict(given)
    for op in graph.ops:
        shape = graph.tensors[op.output].shape
        values[op.output] = OPERATORS[op.kind](op, *(values[name] for name in op.inputs), shape=shape).reshape(shape)
        if op.kind == "Update":
            values.update(dict.fromkeys(op.inputs[2:], values[op.output]))
    return values


def sigmoid(x):
    return 0.5 * (1 + numpy.tanh(0.5 * x))


def gelu(x):
    return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu_slope(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
    return 0.5 * (1 + numpy.tanh(inner)) + 0.5 * x * (1 - numpy.tanh(inner)**2) * slope


def broadcast(x, y):
    """y as far as x reaches; a row of any shape is repeated for all rows."""
    if y.size == x.size:
        return y.reshape(x.shape)
    try:
        return numpy.broadcast_to(y, x.shape)
    except ValueError:
        return numpy.broadcast_to(y.reshape(-1), x.shape)


def matrices(x, heads, sequences):
    """A batch of matrices: as the last two dimensions, or by cutting rows into sequences and columns into heads."""
    if heads:
        rows, columns = x.size // x.shape[-1], x.shape[-1]
        cut = x.reshape(sequences, rows // sequences, heads, columns // heads)
        return cut.transpose(0, 2, 1, 3).reshape(sequences * heads, rows // sequences, columns // heads)
    return x.reshape(-1, x.shape[-2] if x.ndim > 1 else 1, x.shape[-1])


def matmul(op, a, b, *bias, shape):
    sequences = op.get("sequences", 1)
    a, b = matrices(a, op.get("heads_a"), sequences), matrices(b, op.get("heads_b"), sequences)
    if op.get("transpose_a"):
        a = a.transpose(0, 2, 1)
    if op.get("transpose_b"):
        b = b.transpose(0, 2, 1)
    if len(b) not in (1, len(a)):
        b = numpy.repeat(b, len(a) // len(b), 0)  # Heads of queries that share one of keys.
    product = a @ b
    if op.get("heads_out"):
        heads, rows, columns = op.get("heads_out"), product.shape[1], product.shape[2]
        product = product.reshape(sequences, heads, rows, columns).transpose(0, 2, 1, 3)
        product = product.reshape(sequences * rows, heads * columns)
    product = product.reshape(shape)
    return product + bias[0].reshape(-1) if bias else product


def softmax(op, x, shape):
    del shape
    scaled = x * op.get("scale", 1.0)
    powers = numpy.exp(scaled - scaled.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def softmax_grad(op, y, dy, shape):
    del shape
    return op.get("scale", 1.0) * y * (dy - (y * dy).sum(-1, keepdims=True))


def normal(op, x):
    """x less its row's mean, over the deviation; and 1 / deviation."""
    scale = 1 / numpy.sqrt(x.var(-1, keepdims=True) + op.get("epsilon", 1e-5))
    return (x - x.mean(-1, keepdims=True)) * scale, scale


def layer_norm_grad(op, x, gamma, dy, shape):
    del shape
    (unit, scale), d = normal(op, x), dy * gamma.reshape(-1)
    return scale * (d - d.mean(-1, keepdims=True) - unit * (d * unit).mean(-1, keepdims=True))


def rope(op, x, cosines, sines, shape):
    heads = op.get("heads", 1)
    cut = x.reshape(len(cosines), heads, -1)
    half = cut.shape[-1] // 2
    turned = numpy.concatenate([-cut[..., half:], cut[..., :half]], -1)
    sines = sines[:, None, :]
    if op.get("inverse"):  # The transpose of x -> x cos + turned(x) sin.
        weighted = cut * sines
        turned = numpy.concatenate([weighted[..., half:], -weighted[..., :half]], -1)
        return (cut * cosines[:, None, :] + turned).reshape(shape)
    return (cut * cosines[:, None, :] + turned * sines).reshape(shape)


def expand(op, x, shape):
    axis = op.get("axis")
    kept = (*shape[:axis], 1, *shape[axis + 1:])
    return numpy.broadcast_to(x.reshape(kept), shape) * op.get("scale", 1.0)


def scatter_add(op, x, index, shape):
    axis = op.get("axis")
    out = numpy.zeros(shape)
    numpy.add.at(numpy.moveaxis(out, axis, 0), index.ravel(), numpy.moveaxis(x, axis, 0))
    return out


def cut(op, x, shape):
    del shape
    return numpy.take(x, range(op.get("start"), op.get("stop")), op.get("axis"))


def pad(op, x, shape):
    del shape
    widths = [(0, 0)] * x.ndim
    widths[op.get("axis")] = (op.get("before"), op.get("after"))
    return numpy.pad(x, widths)


def simple(function):
    return lambda op, *inputs, shape: function(*inputs)


def binary(function):
    return lambda op, x, y, shape: function(x, broadcast(x, y))


OPERATORS = {
    "MatMul": matmul,
    "Add": binary(numpy.add), "Sub": binary(numpy.subtract), "Mul": binary(numpy.multiply), "Div": binary(numpy.divide),
    "Gelu": simple(gelu), "GeluGrad": simple(lambda x, dy: dy * gelu_slope(x)),
    "Relu": simple(lambda x: numpy.maximum(x, 0)), "ReluGrad": simple(lambda y, dy: numpy.where(y > 0, dy, 0)),
    "Sigmoid": simple(sigmoid), "SigmoidGrad": simple(lambda y, dy: dy * y * (1 - y)),
    "Tanh": simple(numpy.tanh), "TanhGrad": simple(lambda y, dy: dy * (1 - y * y)),
    "Silu": simple(lambda x: x * sigmoid(x)),
    "SiluGrad": simple(lambda x, dy: dy * sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
    "Neg": simple(numpy.negative), "Sqrt": lambda op, x, shape: numpy.sqrt(x + op.get("epsilon", 0.0)),
    "Pow": lambda op, x, shape: x ** op.get("exponent", 1.0),
    "Rope": rope, "Softmax": softmax, "SoftmaxGrad": softmax_grad,
    "LayerNorm": lambda op, x, gamma, beta, shape: normal(op, x)[0] * gamma.reshape(-1) + beta.reshape(-1),
    "LayerNormGrad": layer_norm_grad,
    "LayerNormGammaGrad": lambda op, x, dy, shape: (normal(op, x)[0] * dy).reshape(-1, x.shape[-1]).sum(0),
    "LayerNormBetaGrad": lambda op, dy, shape: dy.reshape(-1, dy.shape[-1]).sum(0),
    "ReduceSum": lambda op, x, shape: x.sum(op.get("axis")), "ReduceMean": lambda op, x, shape: x.mean(op.get("axis")),
    "Expand": expand, "Concat": lambda op, *inputs, shape: numpy.concatenate(inputs, op.get("axis")),
    "Slice": cut, "Pad": pad, "Gather": lambda op, x, index, shape: numpy.take(x, index.ravel(), op.get("axis")),
    "ScatterAdd": scatter_add, "Reshape": lambda op, x, shape: x.reshape(shape),
    "Transpose": lambda op, x, shape: x.transpose(op.get("perm")),
    "Update": lambda op, w, dw, *master, shape: [w, *master][-1] - op.get("rate", 0.001) * dw.reshape(w.shape),
    "AllReduce": lambda op, x, shape: x,
}


def central_difference(graph, given, output, seeds, name, step=1e-6):
    """The derivative of sum(output * seeds) by each element of tensor `name`."""
    values = given[name].astype(float)
    slopes = numpy.zeros_like(values)
    for place in numpy.ndindex(values.shape):
        sums = []
        for sign in (1, -1):
            moved = values.copy()
            moved[place] += sign * step
            sums.append((run(graph, {**given, name: moved})[output] * seeds).sum())
        slopes[place] = (sums[0] - sums[1]) / (2 * step)
    return slopes
