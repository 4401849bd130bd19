# SPDX-License-Identifier: Apache-2.0
"""Parameters of graphs that have a name, as in nerf:rows=300,width=64."""

from front import graph as graphs

MOST = 1 << 30


def parse(text, defaults, may_be_0=()):
    """KEY=NUMBER,... over the defaults; 0 only where it is the default, or allowed. Raises GraphError."""
    found = {}
    for item in text.split(",") if text else []:
        key, equals, value = item.partition("=")
        if not item:
            raise graphs.GraphError(f"{text!r} has an empty parameter")
        if key not in defaults:
            raise graphs.GraphError(f"no parameter {key!r}{graphs.near(key, defaults)}")
        least = 0 if key in may_be_0 else min(1, defaults[key])
        if not equals or not value.isdecimal() or not least <= int(value) <= MOST:
            raise graphs.GraphError(f"{item!r}: {key} must be a whole number, {least} to {MOST}")
        if key in found:
            raise graphs.GraphError(f"{key} is there twice")
        found[key] = int(value)
    return {**defaults, **found}
