#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NeRF (Mildenhall et al., ECCV 2020): positions and directions of samples to colours and densities.

Eight layers of 256, the encoded position once more before the sixth, a layer of 128 with the encoded direction.
Encodings (63 and 27 columns) are inputs. 24 operators, as Table 2 of the Kitsune paper counts. rows: samples, rays x
samples a ray.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from apps import builder  # noqa: E402

DEFAULTS = {"rows": 131072, "width": 256, "depth": 8, "skip": 4}


def build(p):
    m = builder.Model(f"nerf-rows{p['rows']}")
    points, views = m.input("points", [p["rows"], 63]), m.input("views", [p["rows"], 27])
    h = points
    for layer in range(p["depth"]):
        h = m.map("Relu", m.linear(f"p{layer}", h, p["width"]), f"p{layer}.a")
        if layer == p["skip"]:
            h = m.concat("skip", points, h)
    density = m.linear("density", h, 1)
    feature = m.linear("feature", h, p["width"])
    h = m.concat("directed", feature, views)
    h = m.map("Relu", m.linear("v", h, p["width"] // 2), "v.a")
    return m.model(m.concat("result", m.linear("colour", h, 3), density))


if __name__ == "__main__":
    sys.exit(builder.main("nerf"))
