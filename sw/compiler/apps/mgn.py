#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MeshGraphNets (Pfaff et al., ICLR 2021): encoders of nodes and edges, blocks of message passing, decoder.

Latent vectors of 128, MLPs of three linear layers and a layer norm (none in the decoder). Nodes and edges of 32 meshes
of its cylinder flow; 2 of 15 blocks, with which the graph has the 51 operators of Table 2 of the Kitsune paper. Left out:
residuals of blocks, which that count has no room for.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from apps import builder  # noqa: E402

DEFAULTS = {"nodes": 60000, "edges": 352000, "blocks": 2, "latent": 128}
NODE_COLUMNS, EDGE_COLUMNS, OUT_COLUMNS = 11, 3, 3  # Velocity and type; distance; velocity and pressure.


def build(p):
    m = builder.Model(f"mgn-nodes{p['nodes']}-edges{p['edges']}")
    widths = [p["latent"]] * 3
    senders, receivers = m.index("senders", p["edges"]), m.index("receivers", p["edges"])
    nodes = m.mlp("nodes", m.input("node_features", [p["nodes"], NODE_COLUMNS]), widths, norm=True)
    edges = m.mlp("edges", m.input("edge_features", [p["edges"], EDGE_COLUMNS]), widths, norm=True)
    for block in range(p["blocks"]):
        n = f"b{block}."
        ends = [m.gather(n + "sent", nodes, senders), m.gather(n + "received", nodes, receivers)]
        edges = m.mlp(n + "edge", m.concat(n + "edge.in", edges, *ends), widths, norm=True)
        sums = m.scatter(n + "sums", edges, receivers, p["nodes"])
        nodes = m.mlp(n + "node", m.concat(n + "node.in", nodes, sums), widths, norm=True)
    return m.model(m.mlp("decoder", nodes, [p["latent"], p["latent"], OUT_COLUMNS]))


if __name__ == "__main__":
    sys.exit(builder.main("mgn"))
