#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DLRM (Naumov et al., 2019) in the configuration of MLPerf.

Dense features 13-512-256-128, 26 tables of 128 columns, products of all pairs of the 27 vectors, 479-1024-1024-512-256-1.
One index a table and sample; all tables are one tensor. 21 operators, as Table 2 of the Kitsune paper counts.
entries: rows of a table.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from apps import builder  # noqa: E402

DEFAULTS = {"batch": 32768, "tables": 26, "entries": 40000}
COLUMNS = 128


def build(p):
    m = builder.Model(f"dlrm-batch{p['batch']}")
    batch, vectors = p["batch"], p["tables"] + 1
    dense = m.mlp("bottom", m.input("dense", [batch, 13]), [512, 256, COLUMNS], last="Relu")
    table = m.weight("table", [p["tables"] * p["entries"], COLUMNS])
    rows = m.gather("embedding", table, m.index("ids", batch * p["tables"]))
    flat = m.node("Reshape", [rows, m.numbers("flat", [batch, p["tables"] * COLUMNS])], "embeddings",
                  [batch, p["tables"] * COLUMNS])
    joined = m.concat("joined", dense, flat)
    stacked = m.node("Reshape", [joined, m.numbers("stack", [batch, vectors, COLUMNS])], "stacked",
                     [batch, vectors, COLUMNS])
    products = m.node("MatMul", [stacked, stacked], "products", [batch, vectors, vectors], domain="stretto",
                      transpose_b=1)
    square = m.node("Reshape", [products, m.numbers("square", [batch, vectors**2])], "square.in", [batch, vectors**2])
    pairs = vectors * (vectors - 1) // 2
    below = m.node("Gather", [square, m.index("pairs", pairs)], "interactions", [batch, pairs], axis=1)
    return m.model(m.mlp("top", m.concat("features", dense, below), [1024, 1024, 512, 256, 1], last="Sigmoid"))


if __name__ == "__main__":
    sys.exit(builder.main("dlrm"))
