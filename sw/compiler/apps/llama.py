#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Llama 3 8B: one of its 32 layers. 4096 columns, 32 heads of 128, 8 of keys and values, 14336 in between.

tokens: rows (2048: context). cached: keys and values of earlier tokens, joined with the new ones (tokens=1,cached=2048:
decode). Linear layers have no bias. RMS norm is five operators: square, mean, root with epsilon, division, scale.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from apps import builder  # noqa: E402
from front import graph as graphs  # noqa: E402

DEFAULTS = {"tokens": 2048, "cached": 0, "layers": 1, "hidden": 4096, "heads": 32, "kv_heads": 8, "between": 14336}


def rms_norm(m, name, x):
    rows, columns = m.shapes[x]
    squares = m.map("Pow", [x, "two"], name + ".squares")
    mean = m.node("ReduceMean", [squares], name + ".mean", [rows, 1], axes=[-1])
    root = m.node("Sqrt", [m.node("Add", [mean, "epsilon"], name + ".sum", [rows, 1])], name + ".root", [rows, 1])
    return m.map("Mul", [m.map("Div", [x, root], name + ".unit"), m.weight(name + ".g", [columns])], name)


def attention(m, n, x, p):
    rows, head = p["tokens"], p["hidden"] // p["heads"]
    own = {"domain": "stretto", "sequences": 1}
    q, k, v = (m.linear(n + part, x, head * p[heads], bias=False)
               for part, heads in (("q", "heads"), ("k", "kv_heads"), ("v", "kv_heads")))
    q = m.map("RotaryEmbedding", [q, "cosines", "sines"], n + "q.turned", domain="stretto", heads=p["heads"])
    k = m.map("RotaryEmbedding", [k, "cosines", "sines"], n + "k.turned", domain="stretto", heads=p["kv_heads"])
    if p["cached"]:
        shape = [p["cached"] + rows, head * p["kv_heads"]]
        k, v = (m.node("Concat", [m.input(f"{n}{part}.cache", [p["cached"], shape[1]]), new], f"{n}{part}.all", shape,
                       axis=0) for part, new in (("k", k), ("v", v)))
    square = [p["heads"], rows, p["cached"] + rows]
    scores = m.node("MatMul", [q, k], n + "scores", square, heads_a=p["heads"], heads_b=p["kv_heads"], transpose_b=1,
                    **own)
    masked = m.map("Add", [scores, "mask"], n + "masked")
    weights = m.map("Softmax", masked, n + "weights", scale=head ** -0.5)
    return m.node("MatMul", [weights, v], n + "context", [rows, p["hidden"]], heads_b=p["kv_heads"],
                  heads_out=p["heads"], **own)


def build(p):
    if p["hidden"] % p["heads"] or p["heads"] % p["kv_heads"]:
        raise graphs.GraphError(f"heads {p['heads']} must divide hidden {p['hidden']}, kv_heads {p['kv_heads']} heads")
    m = builder.Model(f"llama-tokens{p['tokens']}-cached{p['cached']}")
    rows, head = p["tokens"], p["hidden"] // p["heads"]
    x = m.input("x", [rows, p["hidden"]])
    m.input("cosines", [rows, head])
    m.input("sines", [rows, head])
    m.input("mask", [rows, p["cached"] + rows])
    m.numbers("two", 2.0, "FLOAT16")
    m.numbers("epsilon", 1e-5, "FLOAT16")
    for layer in range(p["layers"]):
        n = f"l{layer}."
        o = m.linear(n + "o", attention(m, n, rms_norm(m, n + "n1", x), p), p["hidden"], bias=False)
        x = m.map("Add", [o, x], n + "r1")
        h = rms_norm(m, n + "n2", x)
        gate = m.map("Silu", m.linear(n + "gate", h, p["between"], bias=False), n + "silu", domain="stretto")
        up = m.linear(n + "up", h, p["between"], bias=False)
        down = m.linear(n + "down", m.map("Mul", [up, gate], n + "gated"), p["hidden"], bias=False)
        x = m.map("Add", [down, x], n + "r2")
    return m.model(x)


if __name__ == "__main__":
    sys.exit(builder.main("llama"))
