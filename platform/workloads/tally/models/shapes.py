#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernel lists of the six trainings and six inferences of Tally's evaluation, from public model definitions.

    shapes.py [FOLDER]        writes NAME.yaml there, without FOLDER beside it
    shapes.py --check         says what of README.md, and of lists that lie beside it, is stale (exit 1)

Each line of a list is TIMES OPERATOR with the source of its shape. Nothing comes from measured times. Launches of
the same operator are one line, so order differs from the model's; the mix of kernels does not. The parameters
that the lists imply are compared with those that the models are published with.
"""
import argparse
import math
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
MULTI_TENSOR = 320 * 65536  # Elements of a launch: blocks x chunk, PyTorch's MultiTensorApply.cuh.

SOURCES = {
    "adam": "Loshchilov & Hutter 2019, Algorithm 2; PyTorch's foreach form: eight passes, MultiTensorApply.cuh",
    "bert": "Devlin et al. 2019, section 3: L=12, H=768, A=12, FFN 4H; WordPiece 30522; SQuAD fine-tuning: length 384",
    "bn": "Ioffe & Szegedy 2015, Algorithm 1 and its gradients: two sums and one pass each",
    "gpt2": "Radford et al. 2019, Table 2: 36 layers, d=1280; 20 heads, BPE 50257, context 1024; blocks of 512",
    "gptneo": "EleutherAI gpt-neo-2.7B, configuration: 32 layers, d=2560, 20 heads, FFN 4d, 50257",
    "llama": "Touvron et al. 2023: 32 layers, d=4096, 32 heads; FFN 11008, 32000 pieces (Llama-2-7b's configuration)",
    "pegasus": "Zhang et al. 2020: 16+16 layers, H=1024, F=4096, A=16, Unigram 96103; XSum model's lengths 512 and 64",
    "pointnet": "Qi et al. 2017, Figure 2, appendix C: 64-128-1024, T-Nets, 512-256-k; ShapeNet: 2500 points, 16 kinds",
    "resnet": "He et al. 2016, Table 1, 50 layers; 224 x 224",
    "sd": "Rombach et al. 2022; Stable Diffusion 1: 320 x (1,2,4,4), two blocks, 8 heads, text 77 x 768",
    "whisper": "Radford et al. 2022, Table 1, small: 12+12 layers, width 768, 12 heads; 1500 frames",
    "yolo": "Li et al. 2022 (YOLOv6 2.0), m: CSPBep backbone and CSPRepBiFPAN neck, depth 0.6, width 0.75; 640 x 640",
}


class Model:
    def __init__(self, name, title, element, published, tolerance=0.02):
        self.name, self.title, self.element = name, title, element
        self.published, self.tolerance = published, tolerance
        self.parameters = self.launches = self.operations = 0
        self.lines, self.used, self.notes = [], [], []

    def line(self, times, operator, source, what):
        if source not in self.used:
            self.used.append(source)
        text = (f"{times} " if times > 1 else "") + operator
        self.lines.append((text, f"[{source}] {what}"))

    # --- pieces; e: element of this model ---

    def gemm(self, times, m, n, k, source, what, options="", element=None):
        text = f"gemm:{m}x{n}x{k}:{element or self.element}" + (":" + options if options else "") + ":streams=0"
        self.line(times, text, source, what)

    def each(self, times, operator, elements, source, what):
        self.line(times, f"{operator}:{elements}:{self.element}", source, what)

    def rows(self, times, operator, rows, columns, source, what):
        self.line(times, f"{operator}:{rows}x{columns}:{self.element}", source, what)

    def linear(self, times, tokens, out, into, source, what, options="bias", backward=False, bias=True,
               count=True):
        """y = x W^T (+ b); W lies as out x in. Backward: gradients of x, W and b."""
        if count:
            self.parameters += times * (out * into + (out if bias else 0))
        if not backward:
            self.gemm(times, tokens, out, into, source, what, "nt" + (":" + options if bias and options else ""))
            return
        self.gemm(times, tokens, into, out, source, what + ", gradient of x", "nn")
        self.gemm(times, out, into, tokens, source, what + ", of W", "tn")
        if bias:
            self.rows(times, "sum_rows", tokens, out, source, what + ", of b")

    def vector(self, times, out, into, source, what):
        """A matrix times a vector; rows of a gemv have 8 KiB at most."""
        if into <= 4096:
            self.rows(times, "gemv", out, into, source, what)
        else:
            self.gemm(times, 1, out, into, source, what, "nt")

    def attention_scores(self, times, batch, heads, queries, keys, d, source, what, backward=False,
                         dropout=True):
        b, squares = batch * heads, batch * heads * queries * keys
        if not backward:
            self.gemm(times, queries, keys, d, source, what + ": Q K^T", f"nt:batch={b}")
            self.each(times, "add", squares, source, what + ": scale and mask")
            self.rows(times, "softmax", b * queries, keys, source, what + ": weights")
            if dropout:
                self.each(times, "mul", squares, source, what + ": dropout")
            self.gemm(times, queries, d, keys, source, what + ": weights x V", f"nn:batch={b}")
            self.each(times, "copy", b * queries * d, source, what + ": heads put together")
            return
        self.each(times, "copy", b * queries * d, source, what + ", backward: heads apart")
        self.gemm(times, keys, d, queries, source, what + ", backward: of V", f"tn:batch={b}")
        self.gemm(times, queries, keys, d, source, what + ", backward: of the weights", f"nt:batch={b}")
        if dropout:
            self.each(times, "mul", squares, source, what + ", backward: dropout")
        self.rows(times, "softmax_grad", b * queries, keys, source, what + ", backward: softmax")
        self.each(times, "copy", squares, source, what + ", backward: scale")
        self.gemm(times, queries, d, keys, source, what + ", backward: of Q", f"nn:batch={b}")
        self.gemm(times, keys, d, queries, source, what + ", backward: of K", f"tn:batch={b}")

    def layer(self, times, source, what, batch, length, width, heads, ffn, backward, memory=None, count=True,
              dropout=True):
        """A transformer layer of training; `memory`: length of the encoder's output for cross-attention."""
        t = batch * length
        norms = 2 if memory is None else 3
        if count:
            self.parameters += times * norms * 2 * width
        for keys, into in [(length, "self-attention")] + ([(memory, "cross-attention")] if memory else []):
            place = f"{what}, {into}"
            for tokens, which in [(t, "Q, output"), (batch * keys, "K, V")]:
                self.linear(2 * times, tokens, width, width, source, f"{place}: {which}", "bias", backward, True, count)
            self.attention_scores(times, batch, heads, length, keys, width // heads, source, place, backward, dropout)
        self.linear(times, t, ffn, width, source, f"{what}, FFN in", backward=backward, count=count)
        self.each(times, "gelu_grad" if backward else "gelu", t * ffn, source, f"{what}, FFN")
        self.linear(times, t, width, ffn, source, f"{what}, FFN out", backward=backward, count=count)
        norm = "layer_norm_grad" if backward else "layer_norm"
        self.rows(norms * times, norm, t, width, source, f"{what}, layer norms")
        self.each(norms * times, "add", t * width, source, f"{what}, residuals")
        if dropout:
            self.each(norms * times, "mul", t * width, source, f"{what}, dropout")

    def embedding(self, tokens, width, vocabulary, source, what, backward=False):
        if not backward:
            self.parameters += vocabulary * width
            self.line(1, f"gather:{tokens}x{width}x{vocabulary}:{self.element}", source, what)
        else:
            self.line(1, f"scatter_add:{tokens}x{width}x{vocabulary}:{self.element}", source, what + ", gradient")

    def head(self, tokens, width, vocabulary, source, backward):
        """Logits with the embedding's weights, and cross-entropy."""
        self.linear(1, tokens, vocabulary, width, source, "logits", backward=backward, bias=False, count=False)
        self.rows(1, "softmax_grad" if backward else "softmax", tokens, vocabulary, source, "cross-entropy")

    def adam(self):
        whole, rest = divmod(self.parameters, MULTI_TENSOR)
        for operator, times, what in [("copy", 4, "weight decay, square root, epsilon, scale"),
                                      ("triad", 4, "moments, quotient, step")]:
            if whole:
                self.each(times * whole, operator, MULTI_TENSOR, "adam", what)
            if rest:
                self.each(times, operator, rest, "adam", what + ", the rest")

    # --- convolutions as products over unfolded patches ---

    def convolution(self, times, n, out_hw, cout, cin, k, source, what, element, stride=1, backward=False,
                    first=False, bn=True, activation="relu"):
        rows, depth = n * out_hw * out_hw, (cin * k * k + 15) // 16 * 16
        self.parameters += times * (cout * cin * k * k + (2 * cout if bn else cout))
        self.gemm(times, rows, cout, depth, source, what, "nt", element)
        if not backward:
            return
        self.norm(times, rows, cout, activation)
        into = n * (out_hw * stride) ** 2
        self.gemm(times, cout, depth, rows, source, what + ", gradient of weights", "tn", element)
        if not first:
            back = (cout * k * k // stride**2 + 15) // 16 * 16
            self.gemm(times, into, cin, back, source, what + ", gradient of x", "nt", element)
        self.norm(times, rows, cout, activation, backward=True)

    def norm(self, times, rows, columns, activation, backward=False):
        self.rows(2 * times, "sum_rows", rows, columns, "bn", "sums" + (", gradients" if backward else ""))
        self.each(times, "triad", rows * columns, "bn", "normalised" + (", gradients" if backward else ""))
        if activation:
            self.each(times, activation + ("_grad" if backward else ""), rows * columns, "bn", "activation behind it")

    def note(self, text):
        self.notes.append(text)

    # --- what is written ---

    def join(self):
        """Launches of the same operator in one line: each line has an output of its own."""
        joined = {}
        for line, comment in self.lines:
            times = int(line.split()[0]) if line[0].isdigit() else 1
            all_times, comments = joined.get(line.split()[-1], (0, []))
            joined[line.split()[-1]] = (all_times + times, comments + ([comment] if comment not in comments else []))
        self.lines = []
        for operator, (times, comments) in joined.items():
            more = f"; and {len(comments) - 1} alike" if len(comments) > 1 else ""
            self.lines.append(((f"{times} " if times > 1 else "") + operator, comments[0] + more))

    def count(self):
        """Launches, and operations of products (two a multiply-add)."""
        for line, _ in self.lines:
            times = int(line.split()[0]) if line[0].isdigit() else 1
            name, shape, *options = line.split()[-1].split(":")
            sizes = [int(size) for size in shape.split("x")]
            batch = next((int(option[6:]) for option in options if option.startswith("batch=")), 1)
            self.launches += times
            if name in ("gemm", "gemv", "attention"):
                self.operations += times * batch * (4 if name == "attention" else 2) * math.prod(sizes)

    def row(self):
        return (f"| `{self.name}` | {self.launches} | {self.operations / 1e12:.3g} | {self.parameters / 1e6:.4g}, "
                f"{self.published / 1e6:.4g} |")

    def text(self):
        self.join()
        self.count()
        if abs(self.parameters / self.published - 1) > self.tolerance:
            sys.exit(f"{self.name}: {self.parameters} parameters, published {self.published}")
        out = ["# Generated by shapes.py beside it.",
               f"# {self.title}. {self.parameters / 1e6:.1f} million parameters in the lines."]
        out += [f"# {note}" for note in self.notes]
        out += [f"# [{tag}] {SOURCES[tag]}." for tag in self.used]
        out += [f'description: "{self.title}"', "machine: a100-nvswitch",
                "set: {gpus: 1, software.launch_ns: 3000, gpu.tile_values: false, gpu.pipe_turn_cycles: 64}",
                "tenants:", "  kernels: |"]
        width = min(64, max(len(line) for line, _ in self.lines))
        out += [f"    {line:{width}}  # {comment}" for line, comment in self.lines]
        return "\n".join(out + ["  requests: 1", "modes: [ideal]", ""])


# --- trainings ---

def resnet50(name, title, batch, element, training):
    m = Model(name, title, "fp32" if training else element, 25.56e6)
    convolve = "tf32" if training else element
    if training:
        m.note("Convolutions as TF32, PyTorch's default for cuDNN; all else FP32. They read patches that are unfolded.")
    else:
        m.note("Batch normalisation is folded into the weights; the activation is the product's.")
    add = lambda times, hw, cout, cin, k, what, stride=1, **more: m.convolution(
        times, batch, hw, cout, cin, k, "resnet", what, convolve, stride, training, **more)
    add(1, 112, 64, 3, 7, "conv1", 2, first=True)
    m.each(1, "copy", batch * 112 * 112 * 64, "resnet", "max pooling")
    for stage, (blocks, hw) in enumerate([(3, 56), (4, 28), (6, 14), (3, 7)]):
        width, stride = 64 << stage, 1 if stage == 0 else 2
        out, into = 4 * width, 64 if stage == 0 else 2 * width
        place = f"conv{stage + 2}_x"
        add(1, hw * stride, width, into, 1, f"{place}, 1x1 of the first block")
        add(1, hw, width, width, 3, f"{place}, 3x3 of the first block", stride)
        add(blocks, hw, out, width, 1, f"{place}, 1x1 to four times the width", activation=None)
        add(1, hw, out, into, 1, f"{place}, projection", stride, activation=None)
        add(blocks - 1, hw, width, out, 1, f"{place}, 1x1")
        add(blocks - 1, hw, width, width, 3, f"{place}, 3x3")
        for operator in ["add", "relu"] + (["add", "relu_grad"] if training else []):
            m.each(blocks, operator, batch * hw * hw * out, "resnet", f"{place}, sums of blocks")
    m.rows(1, "sum_columns", batch * 2048, 49, "resnet", "average pooling")
    m.linear(1, batch, 1000, 2048, "resnet", "classes")
    if training:
        m.linear(1, batch, 1000, 2048, "resnet", "classes", backward=True, count=False)
        m.rows(1, "softmax", batch, 1000, "resnet", "cross-entropy")
        m.adam()
        m.note("Optimiser: AdamW, as in the other trainings; the paper names none.")
    return m


def pointnet():
    batch, points = 128, 2500
    m = Model("pointnet-training", "PointNet training, batch 128, FP32", "fp32", 3.5e6)
    m.note("Convolutions of one point are products, TF32 as cuDNN's; classification with the feature transform.")
    rows = batch * points

    def shared(cout, cin, what, activation="relu"):
        m.parameters += cout * cin + 3 * cout
        k = max(16, cin)
        m.gemm(1, rows, cout, k, "pointnet", what, "nt:bias", "tf32")
        m.norm(1, rows, cout, activation)
        m.gemm(1, cout, k, rows, "pointnet", what + ", gradient of weights", "tn", "tf32")
        if cin > 3:
            m.gemm(1, rows, cin, cout, "pointnet", what + ", gradient of x", "nn", "tf32")
        m.norm(1, rows, cout, activation, backward=True)

    def tail(sizes, what):
        m.rows(1, "sum_columns", batch * 1024, points, "pointnet", what + ": maximum over points")
        for into, out in zip(sizes, sizes[1:]):
            for backward in [False, True]:
                place = f"{what}: {into} to {out}"
                m.linear(1, batch, out, into, "pointnet", place, backward=backward, count=not backward)
            m.parameters += 2 * out if out != sizes[-1] else 0

    for k, into in [(3, 3), (64, 64)]:
        for cin, cout in [(into, 64), (64, 128), (128, 1024)]:
            shared(cout, cin, f"T-Net of {k}: {cin} to {cout}")
        tail([1024, 512, 256, k * k], f"T-Net of {k}")
        m.gemm(1, points, max(16, k), max(16, k), "pointnet", f"points times their {k} x {k}", f"nn:batch={batch}")
    for cin, cout in [(3, 64), (64, 128), (128, 1024)]:
        shared(cout, cin, f"{cin} to {cout}", "relu" if cout < 1024 else None)
    tail([1024, 512, 256, 16], "classes")
    m.rows(1, "softmax", batch, 16, "pointnet", "cross-entropy")
    m.adam()
    return m


def language_training(name, title, batch, length, layers, width, heads, vocabulary, positions, source, published,
                      head):
    m = Model(name, title, "fp32", published)
    t = batch * length
    m.note("FP32 without TF32 for products, PyTorch's default.")
    m.embedding(t, width, vocabulary, source, "embeddings")
    m.parameters += positions * width + 2 * width
    m.rows(1, "layer_norm", t, width, source, "norm beside the embeddings")
    for backward in [False, True]:
        m.layer(layers, source, "layers", batch, length, width, heads, 4 * width, backward, count=not backward)
        if head:
            m.head(t, width, vocabulary, source, backward)
        else:
            m.linear(1, t, 2, width, source, "begin and end of the answer", backward=backward, count=not backward)
    m.rows(1, "layer_norm_grad", t, width, source, "norm beside the embeddings, gradient")
    m.embedding(t, width, vocabulary, source, "embeddings", backward=True)
    m.adam()
    return m


def encoder_decoder(name, title, source, batch, frames, length, layers, width, heads, ffn, vocabulary, published,
                    recompute, tokens):
    m = Model(name, title, "fp32", published)
    m.note("FP32 without TF32 for products, PyTorch's default.")
    passes = [(False, True)] + ([(False, False)] if recompute else []) + [(True, False)]
    m.embedding(batch * length, width, vocabulary, source, "embeddings of the text")
    if tokens:
        m.embedding(batch * frames, width, vocabulary, source, "embeddings of the document")
        m.parameters -= vocabulary * width  # The same ones.
    else:
        for cin, stride in [(80, 2), (width, 1)]:
            m.parameters += width * cin * 3 + width
            rows = batch * frames * stride
            m.gemm(1, rows, width, 3 * cin, source, f"convolution of {cin} channels, as a product", "nt:bias", "tf32")
            m.each(1, "gelu", rows * width, source, f"convolution of {cin} channels")
            m.gemm(1, width, 3 * cin, rows, source, f"convolution of {cin} channels, gradient of weights", "tn", "tf32")
        m.parameters += (frames + 448) * width  # Positions.
    for backward, count in passes:
        again = "" if backward or count else ", again for its gradients"
        m.layer(layers, source, "encoder" + again, batch, frames, width, heads, ffn, backward, count=count,
                dropout=tokens)
        m.layer(layers, source, "decoder" + again, batch, length, width, heads, ffn, backward, memory=frames,
                count=count, dropout=tokens)
        if backward or count:
            m.head(batch * length, width, vocabulary, source, backward)
    m.embedding(batch * length, width, vocabulary, source, "embeddings of the text", backward=True)
    m.adam()
    return m


# --- inferences, batch 1 ---

def bert_inference():
    t, width, m = 128, 768, Model("bert-inference", "BERT-base inference, 128 tokens, FP16", "fp16", 110e6)
    m.note("As ONNX Runtime fuses it: Q, K, V in one product, attention in one kernel, activation in the product.")
    m.embedding(t, width, 30522, "bert", "embeddings")
    m.parameters += 514 * width + 2 * width + 12 * 4 * width + width * width + width  # Positions, norms, pooler.
    m.rows(1, "layer_norm", t, width, "bert", "embeddings")
    m.linear(12, t, 3 * width, width, "bert", "Q, K, V")
    m.line(12, f"attention:12x{t}x{t}x64", "bert", "attention")
    m.linear(12, t, width, width, "bert", "output of attention", "bias:add")
    m.rows(24, "layer_norm", t, width, "bert", "layer norms")
    m.linear(12, t, 4 * width, width, "bert", "FFN in", "bias:gelu")
    m.linear(12, t, width, 4 * width, "bert", "FFN out", "bias:add")
    m.linear(1, t, 2, width, "bert", "begin and end of the answer", count=False)
    return m


def decode(name, title, source, layers, width, heads, ffn, vocabulary, gated, past, published):
    tokens = 16
    m = Model(name, title, "fp16", published)
    m.note(f"{tokens} tokens of a longer answer, each behind {past} others: a request is composed of such pieces.")
    times = tokens * layers
    m.parameters += vocabulary * width * (2 if gated else 1) + layers * (2 * width + (0 if gated else 2 * width))
    m.parameters += layers * (4 * width * width + (3 if gated else 2) * width * ffn)
    m.parameters += width + (0 if gated else 2048 * width)
    m.line(tokens, f"gather:1x{width}x{vocabulary}:fp16", source, "embeddings")
    m.rows(2 * times, "layer_norm", 1, width, source, "norms")
    m.vector(times, 3 * width, width, source, "Q, K, V")
    m.line(times, f"attention:{heads}x1x{past}x{width // heads}", source, "attention to what is cached")
    m.vector(times, width, width, source, "output of attention")
    m.vector(times, (2 if gated else 1) * ffn, width, source, "FFN in" + (", and gate" if gated else ""))
    m.each(times, "mul" if gated else "gelu", ffn, source, "FFN")
    m.vector(times, width, ffn, source, "FFN out")
    m.each(2 * times, "add", width, source, "residuals")
    m.vector(tokens, vocabulary, width, source, "logits")
    m.rows(tokens, "softmax", 1, vocabulary, source, "choice")
    return m


def stable_diffusion():
    steps, batch = 5, 2
    m = Model("stable-diffusion-inference", "Stable Diffusion inference, five of its steps, FP16", "fp16", 860e6)
    m.note("The U-Net alone, with and without text; five of 50 steps: a request is composed of them.")
    widths, sizes, context = [320, 640, 1280, 1280], [64, 32, 16, 8], 77

    def convolution(cout, cin, hw, k, what):
        m.convolution(1, batch, hw, cout, cin, k, "sd", what, "fp16", bn=False)

    def residual(cout, cin, hw, what):
        m.parameters += 2 * cin + 2 * cout + 1280 * cout + cout
        rows = batch * hw * hw
        for c in (cin, cout):
            m.rows(1, "layer_norm", batch * 32, rows * c // (batch * 32), "sd", what + ": group norm")
            m.each(1, "gelu", rows * c, "sd", what + ": SiLU, at the cost of a GELU")
        convolution(cout, cin, hw, 3, what)
        convolution(cout, cout, hw, 3, what)
        m.gemm(1, batch, cout, 1280, "sd", what + ": time", "nt:bias")
        if cin != cout:
            convolution(cout, cin, hw, 1, what + ": shortcut")
        m.each(1, "add", rows * cout, "sd", what + ": sum")

    def attend(c, hw, what):
        t, n = batch * hw * hw, hw * hw
        m.parameters += 2 * c + 6 * c
        m.rows(1, "layer_norm", batch * 32, n * c // 32, "sd", what + ": group norm")
        m.linear(2, t, c, c, "sd", what + ": in, out")
        m.rows(3, "layer_norm", t, c, "sd", what + ": norms")
        for keys, name in [(n, "itself"), (context, "text")]:
            into = c if keys == n else 768
            m.linear(1, t, c, c, "sd", f"{what}, to {name}: Q", bias=False)
            m.linear(2, batch * keys, c, into, "sd", f"{what}, to {name}: K, V", bias=False)
            d = c // 8
            if d <= 128:
                m.line(1, f"attention:{8 * batch}x{n}x{keys}x{d}", "sd", f"{what}, to {name}")
            else:
                m.gemm(1, n, (keys + 7) // 8 * 8, d, "sd", f"{what}, to {name}: Q K^T", f"nt:batch={8 * batch}")
                m.rows(1, "softmax", 8 * batch * n, (keys + 7) // 8 * 8, "sd", f"{what}, to {name}: weights")
                m.gemm(1, n, d, (keys + 7) // 8 * 8, "sd", f"{what}, to {name}: weights x V", f"nn:batch={8 * batch}")
            m.linear(1, t, c, c, "sd", f"{what}, to {name}: output")
        m.linear(1, t, 8 * c, c, "sd", what + ": FFN in, with gate")
        m.each(1, "mul", t * 4 * c, "sd", what + ": gate")
        m.linear(1, t, c, 4 * c, "sd", what + ": FFN out")

    m.parameters += 320 * 1280 + 1280 + 1280 * 1280 + 1280  # Time embedding.
    convolution(320, 4, 64, 3, "in")
    skips, c = [320], 320
    for i, (out, hw) in enumerate(zip(widths, sizes)):
        for _ in range(2):
            residual(out, c, hw, f"down {hw}")
            c = out
            if i < 3:
                attend(c, hw, f"down {hw}, transformer")
            skips.append(c)
        if i < 3:
            convolution(c, c, hw // 2, 3, f"down {hw} to {hw // 2}")
            skips.append(c)
    residual(c, c, 8, "middle")
    attend(c, 8, "middle, transformer")
    residual(c, c, 8, "middle")
    for i, (out, hw) in reversed(list(enumerate(zip(widths, sizes)))):
        for _ in range(3):
            residual(out, c + skips.pop(), hw, f"up {hw}")
            c = out
            if i < 3:
                attend(c, hw, f"up {hw}, transformer")
        if i > 0:
            convolution(c, c, hw * 2, 3, f"up {hw} to {hw * 2}")
    convolution(4, 320, 64, 3, "out")
    for i, (line, what) in enumerate(m.lines):
        times = int(line.split()[0]) if line[0].isdigit() else 1
        m.lines[i] = (f"{steps * times} {line.split()[-1]}", what)
    return m


def yolov6m():
    m = Model("yolov6m-inference", "YOLOv6m inference, 640 x 640, FP16", "fp16", 34.9e6, 0.1)
    m.note("Branches of RepVGG blocks are merged, as for deployment. Neck and heads by their published widths.")

    def convolution(times, cout, cin, hw, k, what):
        m.convolution(times, 1, hw, cout, cin, k, "yolo", what, "fp16")
        m.each(times, "relu", hw * hw * cout, "yolo", what + ": activation")

    def csp(out, cin, hw, repeats, what):
        half = int(out * 2 / 3) // 8 * 8
        convolution(2, half, cin, hw, 1, what + ": two ways")
        convolution(2 * ((repeats + 1) // 2), half, half, hw, 3, what + ": blocks")
        m.line(1, f"concat:{hw * hw}x{half}x{half}:fp16", "yolo", what + ": ways together")
        convolution(1, out, 2 * half, hw, 1, what + ": out")

    widths, repeats = [48, 96, 192, 384, 768], [4, 7, 11, 4]
    convolution(1, 48, 3, 320, 3, "stem")
    for i, hw in enumerate([160, 80, 40, 20]):
        convolution(1, widths[i + 1], widths[i], hw, 3, f"down to {hw}")
        csp(widths[i + 1], widths[i + 1], hw, repeats[i], f"stage of {hw}")
    convolution(1, 384, 768, 20, 1, "pyramid pooling, in")
    convolution(1, 768, 4 * 384, 20, 1, "pyramid pooling, out")
    for out, cin, hw in [(192, 768, 20), (96, 192, 40)]:
        convolution(1, out, cin, hw, 1, f"neck, reduced at {hw}")
    for out, cin, hw in [(192, 3 * 192, 40), (96, 3 * 96, 80), (192, 2 * 96, 40), (384, 2 * 192, 20)]:
        csp(out, cin, hw, 7, f"neck at {hw}")
    for c, hw in [(96, 80), (192, 40), (384, 20)]:
        convolution(1, c, c, hw, 1, f"head at {hw}: stem")
        convolution(2, c, c, hw, 3, f"head at {hw}: classes, boxes")
        convolution(1, 80, c, hw, 1, f"head at {hw}: classes")
        convolution(1, 64, c, hw, 1, f"head at {hw}: boxes")
    return m


def models():
    yield resnet50("resnet50-training", "ResNet50 training, batch 128, FP32", 128, "fp32", True)
    yield pointnet()
    yield language_training(
        "bert-training", "BERT-base training, 32 x 384 tokens, FP32", batch=32, length=384, layers=12, width=768,
        heads=12, vocabulary=30522, positions=514, source="bert", published=110e6, head=False)
    yield language_training(
        "gpt2-large-training", "GPT2-Large training, 1 x 512 tokens, FP32", batch=1, length=512, layers=36, width=1280,
        heads=20, vocabulary=50257, positions=1024, source="gpt2", published=774e6, head=True)
    yield encoder_decoder(
        "pegasus-training", "PEGASUS training, 4 x 512 to 64 tokens, FP32", "pegasus", batch=4, frames=512, length=64,
        layers=16, width=1024, heads=16, ffn=4096, vocabulary=96103, published=568e6, recompute=False, tokens=True)
    yield encoder_decoder(
        "whisper-training", "Whisper-small training, 16 x 1500 frames to 96 tokens, FP32", "whisper", batch=16,
        frames=1500, length=96, layers=12, width=768, heads=12, ffn=3072, vocabulary=51865, published=244e6,
        recompute=True, tokens=False)
    yield resnet50("resnet50-inference", "ResNet50 inference, batch 1, FP16", 1, "fp16", False)
    yield bert_inference()
    yield yolov6m()
    yield decode("llama-2-7b-inference", "Llama-2-7b inference, 16 tokens, FP16", "llama", layers=32, width=4096,
                 heads=32, ffn=11008, vocabulary=32000, gated=True, past=128, published=6.74e9)
    yield stable_diffusion()
    yield decode("gpt-neo-inference", "GPT-Neo 2.7B inference, 16 tokens, FP16", "gptneo", layers=32, width=2560,
                 heads=20, ffn=10240, vocabulary=50257, gated=False, past=128, published=2.65e9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=FOLDER)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    stale = []
    readme = open(os.path.join(FOLDER, "README.md")).read()
    for model in models():
        path, text = os.path.join(arguments.folder, model.name + ".yaml"), model.text()
        if not arguments.check:
            open(path, "w").write(text)
            continue
        if os.path.exists(path) and open(path).read() != text:
            stale.append(path)
        if model.row() not in readme:
            stale.append("README.md, which needs " + model.row())
    if stale:
        sys.exit("stale: " + "; ".join(stale))


if __name__ == "__main__":
    main()
