# SPDX-License-Identifier: Apache-2.0
"""What tests of sw/compiler plan: applications, graphs written line by line, and the compiler itself. Imports of that work
behind an import of this."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = ROOT / "sw/compiler"
sys.path.insert(0, str(COMPILER))

import compile as compiler  # noqa: E402
from front import autodiff, flow as flows, graph as graphs  # noqa: E402
from planning import machine as machines, modes, patterns, pipeline as pipelines  # noqa: E402


A100 = machines.load("a100-nvswitch")
APPS = ("nerf:", "dlrm:", "mgn:", "graphcast:", "llama:", "llama:tokens=1,cached=2048")
SMALL = ("nerf:rows=5,width=6,depth=4,skip=2", "dlrm:batch=4,tables=2,entries=3", "mgn:nodes=4,edges=7,latent=5",
         "graphcast:grid=4,mesh=3,to_mesh=5,in_mesh=4,to_grid=6,latent=4",
         "llama:tokens=3,hidden=16,heads=4,kv_heads=2,between=6",
         "llama:tokens=2,cached=3,hidden=16,heads=4,kv_heads=2,between=6")


def compile_py(*arguments, env=None):
    """Runs compile.py: where nothing but the arguments matters in this process, which has read its libraries."""
    arguments = [str(COMPILER / "compile.py"), *map(str, arguments)]
    if env is not None:
        return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=env)
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            sys.argv = arguments
            status = compiler.main()
        except SystemExit as ended:
            status = ended.code
        finally:
            sys.argv = before
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


class Net:
    """A graph written line by line: rows x columns tensors, weights made as they are named."""

    def __init__(self, rows=1024, columns=256, name="net"):
        self.graph = graphs.Graph(name)
        self.rows = rows
        self.graph.tensor("x", [rows, columns], "input")

    def linear(self, x, y, columns, bias=True):
        inner = self.graph.tensors[x].columns
        given = [x, self.graph.tensor(y + ".w", [inner, columns], "weight")]
        if bias:
            given.append(self.graph.tensor(y + ".b", [columns], "weight"))
        return self.graph.op("MatMul", given, y, [self.rows, columns])

    def map(self, kind, y, *inputs, **attributes):
        return self.graph.op(kind, inputs, y, self.graph.tensors[inputs[0]].shape, **attributes)

    def concat(self, y, *inputs):
        columns = sum(self.graph.tensors[one].columns for one in inputs)
        return self.graph.op("Concat", inputs, y, [self.rows, columns], axis=1)

    def norm(self, x, y):
        columns = self.graph.tensors[x].columns
        return self.graph.op("LayerNorm", [x, self.graph.tensor(y + ".g", [columns], "weight"),
                                           self.graph.tensor(y + ".b", [columns], "weight")], y, [self.rows, columns])

    def mlp(self, x, n, widths, norm=False):
        for place, columns in enumerate(widths):
            x = self.linear(x, f"{n}{place}", columns)
            if place + 1 < len(widths):
                x = self.map("Relu", f"{n}{place}.a", x)
        return self.norm(x, n + ".n") if norm else x

    def flow(self):
        self.graph.check()
        return flows.Flow(self.graph)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def plan(self, graph, mode="kitsune", **given):
        graph.check()
        return modes.Planner(graph, mode, A100, self.path / "plan", **given).plan()

    def pipeline(self, net, depth=2, tile_rows=128, machine=A100, parts=None):
        flow = net.flow()
        group = patterns.Group("test", list(range(len(flow.ops))))
        self.assertIsNone(pipelines.stream_error(flow, group.members, machine))
        return pipelines.Pipeline(flow, group, machine, tile_rows, depth, parts=parts)

    def backward_of_a_product(self, rows=131072):
        """A pipeline with two sums over rows: gradients of a product's weights (d.q.w, of two parts) and bias (d.q.b)."""
        net = Net(rows=rows)
        net.map("Relu", "b", net.linear(net.map("Relu", "a", net.linear("x", "p", 256)), "q", 256))
        flow = flows.Flow(autodiff.backward(net.graph))
        members = [flow.made[name] for name in ("d.q", "d.a", "d.q.w", "d.q.b")]
        return pipelines.Pipeline(flow, patterns.Group("test", members), A100)
