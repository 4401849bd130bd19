# SPDX-License-Identifier: Apache-2.0
"""Training step of BERT encoder layers: forward, backward, all-reduce of the gradients, update.

  bert:layers=L,hidden=H,heads=A,sequence=S,batch=B,update=0|1       defaults: BERT-Large (24, 1024, 16, 384, 10)

One rank of data-parallel training in FP16. The loss is the sum of the last layer's output times a fixed tensor, so
the gradient that comes back to it is an input. Left out: embeddings and vocabulary (in BERT-Large 9 % of the
parameters), dropout, gradients of gamma and beta of the layer normalisations (0.03 %).
"""

from front import graph as graphs, parameters

DEFAULTS = {"layers": 24, "hidden": 1024, "heads": 16, "sequence": 384, "batch": 10, "update": 1}


def build(text):
    p = parameters.parse(text, DEFAULTS, may_be_0=("update",))
    graph = graphs.Graph("bert-" + "-".join(f"{key}{value}" for key, value in p.items()))
    tokens, hidden = p["sequence"] * p["batch"], p["hidden"]
    x = graph.tensor("x", [tokens, hidden], "input")
    graph.tensor("ones", [1, tokens], "constant", 1.0)
    graph.tensor("dy", [tokens, hidden], "input")
    saved = []
    for layer in range(p["layers"]):
        x = forward(graph, f"l{layer}.", x, p, tokens, saved)
    gradient = "dy"
    updates = []
    for layer in reversed(range(p["layers"])):
        gradient = backward(graph, f"l{layer}.", gradient, saved[layer], p, tokens, updates)
    for _, dw in updates:
        graph.op("AllReduce", [dw], dw)
    if p["update"]:
        for w, dw in updates:
            graph.op("Update", [w, dw], w, rate=0.0009765625)
    return graph


def linear(graph, name, x, rows, columns_in, columns_out):
    graph.tensor(name + "w", [columns_in, columns_out], "weight")
    graph.tensor(name + "b", [columns_out], "weight")
    graph.op("MatMul", [x, name + "w"], name + "p", [rows, columns_out])
    return graph.op("Add", [name + "p", name + "b"], name + "y", [rows, columns_out])


def norm(graph, name, x, rows, columns):
    graph.tensor(name + "g", [columns], "weight")
    graph.tensor(name + "b", [columns], "weight")
    return graph.op("LayerNorm", [x, name + "g", name + "b"], name + "y", [rows, columns])


def forward(graph, n, x, p, tokens, saved):
    hidden, heads, sequence, batch = p["hidden"], p["heads"], p["sequence"], p["batch"]
    q, k, v = (linear(graph, n + part, x, tokens, hidden, hidden) for part in ("q.", "k.", "v."))
    cut = {"sequences": batch}
    scores = graph.op("MatMul", [q, k], n + "scores", [batch * heads, sequence, sequence], transpose_b=1,
                      heads_a=heads, heads_b=heads, **cut)
    probs = graph.op("Softmax", [scores], n + "probs", [batch * heads, sequence, sequence],
                     scale=(hidden // heads) ** -0.5)
    context = graph.op("MatMul", [probs, v], n + "context", [tokens, hidden], heads_b=heads, heads_out=heads, **cut)
    o = linear(graph, n + "o.", context, tokens, hidden, hidden)
    r1 = graph.op("Add", [o, x], n + "r1", [tokens, hidden])
    h = norm(graph, n + "n1.", r1, tokens, hidden)
    f1 = linear(graph, n + "f1.", h, tokens, hidden, 4 * hidden)
    g = graph.op("Gelu", [f1], n + "gelu", [tokens, 4 * hidden])
    f2 = linear(graph, n + "f2.", g, tokens, 4 * hidden, hidden)
    r2 = graph.op("Add", [f2, h], n + "r2", [tokens, hidden])
    y = norm(graph, n + "n2.", r2, tokens, hidden)
    saved.append({"x": x, "q": q, "k": k, "v": v, "probs": probs, "context": context, "r1": r1, "h": h, "f1": f1,
                  "gelu": g, "r2": r2})
    return y


def backward(graph, n, dy, s, p, tokens, updates):
    hidden, heads, sequence, batch = p["hidden"], p["heads"], p["sequence"], p["batch"]
    cut = {"sequences": batch}

    def linear_back(name, x, d, columns_in, columns_out, wanted=True):
        graph.op("MatMul", [x, d], name + "dw", [columns_in, columns_out], "gradient", transpose_a=1)
        graph.op("MatMul", ["ones", d], name + "db", [1, columns_out], "gradient")
        updates.extend([(name + "w", name + "dw"), (name + "b", name + "db")])
        if wanted:
            return graph.op("MatMul", [d, name + "w"], name + "dx", [tokens, columns_in], transpose_b=1)
        return None

    d_r2 = graph.op("LayerNormGrad", [s["r2"], n + "n2.g", dy], n + "d.r2", [tokens, hidden])
    d_gelu = linear_back(n + "f2.", s["gelu"], d_r2, 4 * hidden, hidden)
    d_f1 = graph.op("GeluGrad", [s["f1"], d_gelu], n + "d.f1", [tokens, 4 * hidden])
    d_ffn = linear_back(n + "f1.", s["h"], d_f1, hidden, 4 * hidden)
    d_h = graph.op("Add", [d_ffn, d_r2], n + "d.h", [tokens, hidden])
    d_r1 = graph.op("LayerNormGrad", [s["r1"], n + "n1.g", d_h], n + "d.r1", [tokens, hidden])
    d_context = linear_back(n + "o.", s["context"], d_r1, hidden, hidden)
    stacked = [batch * heads, sequence, sequence]
    d_probs = graph.op("MatMul", [d_context, s["v"]], n + "d.probs", stacked, transpose_b=1, heads_a=heads,
                       heads_b=heads, **cut)
    d_v = graph.op("MatMul", [s["probs"], d_context], n + "d.v", [tokens, hidden], transpose_a=1, heads_b=heads,
                   heads_out=heads, **cut)
    d_scores = graph.op("SoftmaxGrad", [s["probs"], d_probs], n + "d.scores", stacked,
                        scale=(hidden // heads) ** -0.5)
    d_q = graph.op("MatMul", [d_scores, s["k"]], n + "d.q", [tokens, hidden], heads_b=heads, heads_out=heads, **cut)
    d_k = graph.op("MatMul", [d_scores, s["q"]], n + "d.k", [tokens, hidden], transpose_a=1, heads_b=heads,
                   heads_out=heads, **cut)
    parts = [linear_back(n + part, s["x"], d, hidden, hidden) for part, d in (("q.", d_q), ("k.", d_k), ("v.", d_v))]
    d_qk = graph.op("Add", parts[:2], n + "d.qk", [tokens, hidden])
    d_qkv = graph.op("Add", [d_qk, parts[2]], n + "d.qkv", [tokens, hidden])
    return graph.op("Add", [d_qkv, d_r1], n + "dx", [tokens, hidden])
