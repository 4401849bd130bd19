# SPDX-License-Identifier: Apache-2.0
"""Graphs of applications, written as ONNX. builder.py has what they share."""

NAMES = ("nerf", "dlrm", "mgn", "graphcast", "llama")
