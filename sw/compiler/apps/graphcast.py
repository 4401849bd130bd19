#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GraphCast (Lam et al., 2022), the published GraphCast_small: a grid of 1 degree, a mesh refined five times.

Three graph networks: grid to mesh, mesh (one of 16 steps), mesh to grid; MLPs of two linear layers of 512 with swish
and a layer norm. Latent vectors are inputs: embedders are left out, and so are residuals and the hidden layer of the output.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from apps import builder  # noqa: E402

DEFAULTS = {"grid": 65160, "mesh": 10242, "to_mesh": 101520, "in_mesh": 81900, "to_grid": 195480, "latent": 512}
OUT_COLUMNS = 83  # 5 surface variables and 6 on 13 levels.


def build(p):
    m = builder.Model(f"graphcast-grid{p['grid']}")
    widths = [p["latent"]] * 2

    def network(name, edge_count, sender_rows, receiver_rows):
        edges = m.input(name + ".edges", [p[edge_count], p["latent"]])
        senders, receivers = m.index(name + ".senders", p[edge_count]), m.index(name + ".receivers", p[edge_count])
        ends = [m.gather(name + ".sent", sender_rows, senders), m.gather(name + ".received", receiver_rows, receivers)]
        edges = m.mlp(name + ".edge", m.concat(name + ".edge.in", edges, *ends), widths, "Silu", norm=True)
        sums = m.scatter(name + ".sums", edges, receivers, m.shapes[receiver_rows][0])
        return m.mlp(name + ".node", m.concat(name + ".node.in", receiver_rows, sums), widths, "Silu", norm=True)

    grid, mesh = m.input("grid", [p["grid"], p["latent"]]), m.input("mesh", [p["mesh"], p["latent"]])
    mesh = network("to_mesh", "to_mesh", grid, mesh)
    grid = m.mlp("grid.node", grid, widths, "Silu", norm=True)
    mesh = network("in_mesh", "in_mesh", mesh, mesh)
    grid = network("to_grid", "to_grid", mesh, grid)
    return m.model(m.linear("result", grid, OUT_COLUMNS))


if __name__ == "__main__":
    sys.exit(builder.main("graphcast"))
