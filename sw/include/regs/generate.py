#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Generates everything that describes registers from sw/include/regs/*.yaml (schema: README.md here).
#
#   python3 sw/include/regs/generate.py                   writes what changed
#   python3 sw/include/regs/generate.py --check           writes nothing; exit 1 if a committed file is stale
#   python3 sw/include/regs/generate.py ... mca tracker   only these
#   python3 sw/include/regs/generate.py --root DIR ...    on another tree (for its own test)
#
# Per file <stem>.yaml: <stem>_regs.h (C, C++, assembler), <stem>_bank.h (C++ table for models), registers.md
# beside the implementation; for RTL blocks rtl/<stem>/<stem>_regs_pkg.sv; for those with a register file also
# rtl/<stem>/<stem>_regs.sv and its C++ twin <stem>_file.h; for fields that waves show waves/<stem>_<field>.txt.
# Exit 2 on an error in a YAML file, with file, register and what is allowed.

import argparse
import pathlib
import re
import sys

import register_file
import yaml
from register_file import camel

ACCESS = {
    "rw": ("kReadWrite", "read, write"),
    "ro": ("kReadOnly", "read only"),
    "wo": ("kWriteOnly", "write only, reads 0"),
    "w1c": ("kWriteOneToClear", "read, write 1 to clear"),
    "w1s": ("kWriteOneToSet", "read, write 1 to set"),
}
STORAGE = ("file", "block")
BLOCK_KEYS = {"block", "description", "rtl", "register_file", "read_address", "docs", "width", "registers"}
REGISTER_KEYS = {"name", "offset", "access", "reset", "description", "fields", "count", "stride", "width", "storage",
                 "parameter"}
FIELD_KEYS = {"name", "bits", "description", "enum", "access", "parameter", "lock", "waves"}
NAME = re.compile(r"[a-z][a-z0-9_]*$")
PARAMETER = re.compile(r"[A-Z][A-Za-z0-9]*$")
RTL_ADDRESS_BITS = register_file.ADDRESS_BITS


class SpecError(Exception):
    pass


def need(condition, message):
    if not condition:
        raise SpecError(message)


def check_keys(entry, allowed, required, where):
    need(isinstance(entry, dict), f"{where}: expected a mapping")
    where = f"{where}.{entry['name']}" if "name" in entry else where
    for key in entry:
        need(key in allowed, f"{where}: unknown key '{key}' (allowed: {', '.join(sorted(allowed))})")
    for key in required:
        need(key in entry, f"{where}: key '{key}' is missing")


def integer(value, where, low, high):
    need(isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
         f"{where}: {value!r} is not an integer in {low}..{high:#x}")
    return value


def name_of(entry, where):
    name = entry["name"]
    need(isinstance(name, str) and NAME.match(name), f"{where}: name {name!r} is not snake_case")
    return name


def parameter_of(entry, where):
    name = entry.get("parameter")
    need(name is None or (isinstance(name, str) and PARAMETER.match(name)), f"{where}: parameter {name!r} is not CamelCase")
    return name


def parse_field(entry, where, width, register_access):
    check_keys(entry, FIELD_KEYS, ("name", "bits", "description"), where)
    name = name_of(entry, where)
    where = f"{where}.{name}"
    match = re.match(r"(\d+)(?::(\d+))?$", str(entry["bits"]))
    need(match, f"{where}: bits {entry['bits']!r} is neither N nor \"high:low\" (quote the latter)")
    high = int(match.group(1))
    low = int(match.group(2)) if match.group(2) else high
    need(low <= high < width, f"{where}: bits {high}:{low} do not fit a register of {width} bits")
    access = entry.get("access", register_access)
    need(access in ACCESS, f"{where}: access {access!r} is none of {', '.join(ACCESS)}")
    enum = entry.get("enum", {})
    need(isinstance(enum, dict), f"{where}: enum is not a mapping of name to value")
    for key, value in enum.items():
        need(isinstance(key, str) and NAME.match(key), f"{where}: enum name {key!r} is not snake_case")
        integer(value, f"{where}.{key}", 0, (1 << (high - low + 1)) - 1)
    return {"name": name, "high": high, "low": low, "mask": ((1 << (high - low + 1)) - 1) << low,
            "description": sentence(entry, where), "enum": enum, "access": access,
            "parameter": parameter_of(entry, where), "lock": entry.get("lock", False), "waves": entry.get("waves", False)}


def sentence(entry, where):
    text = entry["description"]
    need(isinstance(text, str) and text.strip(), f"{where}: description is empty")
    return " ".join(text.split())


def parse_register(entry, where, default_width, rtl):
    check_keys(entry, REGISTER_KEYS, ("name", "offset", "access", "description"), where)
    name = name_of(entry, where)
    where = f"{where}.{name}"
    width = integer(entry.get("width", default_width), f"{where}: width", 8, 64)
    need(width in (8, 16, 32, 64), f"{where}: width {width} is none of 8, 16, 32, 64")
    need(entry["access"] in ACCESS, f"{where}: access {entry['access']!r} is none of {', '.join(ACCESS)}")
    need(entry.get("storage", "file") in STORAGE, f"{where}: storage {entry.get('storage')!r} is none of {', '.join(STORAGE)}")
    register = {
        "name": name, "storage": entry.get("storage", "file"), "parameter": parameter_of(entry, where), "access": entry["access"], "width": width, "description": sentence(entry, where),
        "offset": integer(entry["offset"], f"{where}: offset", 0, (1 << 32) - 1),
        "reset": integer(entry.get("reset", 0), f"{where}: reset", 0, (1 << width) - 1),
        "count": integer(entry.get("count", 1), f"{where}: count", 1, 1 << 24),
        "is_array": "count" in entry,
        "stride": integer(entry.get("stride", width // 8), f"{where}: stride", width // 8, 1 << 24),
        "fields": [parse_field(f, where, width, entry["access"]) for f in entry.get("fields") or []],
    }
    need("stride" not in entry or "count" in entry, f"{where}: stride without count")
    align = 8 if rtl else width // 8
    need(register["offset"] % align == 0, f"{where}: offset {register['offset']:#x} is not a multiple of {align}")
    need(register["stride"] % align == 0, f"{where}: stride {register['stride']} is not a multiple of {align}")
    need(not rtl or width == 64, f"{where}: registers of RTL blocks are 64 bits wide")
    last = register["offset"] + (register["count"] - 1) * register["stride"]
    need(not rtl or last < 1 << RTL_ADDRESS_BITS, f"{where}: {last:#x} is beyond the {RTL_ADDRESS_BITS}-bit port")
    taken = 0
    for field in register["fields"]:
        need(not taken & field["mask"], f"{where}.{field['name']}: bits overlap another field")
        taken |= field["mask"]
    register["fields_end"] = max((f["high"] + 1 for f in register["fields"]), default=0)
    need(len({f["name"] for f in register["fields"]}) == len(register["fields"]), f"{where}: two fields of one name")
    need(not register["fields"] or not register["reset"] & ~taken, f"{where}: reset sets bits outside all fields")
    if register["access"] == "ro":
        register["write_mask"] = 0
    elif register["fields"]:
        register["write_mask"] = sum(f["mask"] for f in register["fields"] if f["access"] != "ro")
    else:
        register["write_mask"] = (1 << width) - 1
    return register


def parse_block(document, path):
    where = path.name
    check_keys(document, BLOCK_KEYS, ("block", "description", "registers"), where)
    need(isinstance(document["block"], str) and NAME.match(document["block"]), f"{where}: block is not snake_case")
    where = f"{where}: {document['block']}"
    rtl = document.get("rtl", False)
    need(isinstance(rtl, bool), f"{where}: rtl is not true or false")
    block = {"name": document["block"], "description": sentence(document, where), "rtl": rtl,
             "docs": document.get("docs", ("rtl/" if rtl else "models/") + path.stem)}
    block["register_file"] = document.get("register_file", False)
    need(isinstance(block["register_file"], bool) and (rtl or not block["register_file"]),
         f"{where}: register_file is true or false, and true of RTL blocks only")
    block["read_address"] = document.get("read_address", False)
    need(isinstance(document["registers"], list) and document["registers"], f"{where}: registers is not a list")
    width = document.get("width", 64)
    registers = [parse_register(r, where, width, rtl) for r in document["registers"]]
    names, occupied = set(), {}
    for register in registers:
        need(register["name"] not in names, f"{where}: two registers named {register['name']}")
        names.add(register["name"])
        for i in range(register["count"]):
            start = register["offset"] + i * register["stride"]
            for byte in range(start, start + register["width"] // 8):
                other = occupied.setdefault(byte, register["name"])
                need(other == register["name"], f"{where}: {register['name']} and {other} overlap at {byte:#x}")
    for register in registers if block["register_file"] else []:
        trouble = register_file.problem(register)
        need(not trouble, f"{where}.{register['name']}: {trouble}")
    block["registers"] = sorted(registers, key=lambda r: r["offset"])
    return block


def banner(path, comment="//"):
    return (f"{comment} SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/{path.name} by "
            f"`python3 sw/include/regs/generate.py`; do not edit.\n")


def c_header(path, blocks):
    guard = f"STRETTO_SW_INCLUDE_REGS_{path.stem.upper()}_REGS_H_"
    out = [banner(path), "// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;\n",
           "// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.\n", f"#ifndef {guard}\n#define {guard}\n"]
    for block in blocks:
        out.append(f"\n// {block['name']}: {block['description']}\n")
        for r in block["registers"]:
            prefix = f"{block['name']}_{r['name']}".upper()
            out.append(f"\n// {r['description']} ({ACCESS[r['access']][1]})\n")
            out.append(f"#define {prefix}_OFFSET {r['offset']:#x}\n")
            if r["is_array"]:
                out.append(f"#define {prefix}_COUNT {r['count']}\n#define {prefix}_STRIDE {r['stride']:#x}\n")
                out.append(f"#define {prefix}_OFFSET_AT(i) ({r['offset']:#x} + (i) * {r['stride']:#x})\n")
            if r["reset"]:
                out.append(f"#define {prefix}_RESET {r['reset']:#x}\n")
            for f in r["fields"]:
                name = f"{prefix}_{f['name']}".upper()
                out.append(f"#define {name}_SHIFT {f['low']}  // {f['description']}\n")
                out.append(f"#define {name}_MASK {f['mask']:#x}\n")
                for key, value in f["enum"].items():
                    out.append(f"#define {name}_{key.upper()} {value}\n")
                if f["enum"]:
                    out.append(f"#define {name}_MAX {max(f['enum'].values())}\n")
    out.append(f"\n#endif  // {guard}\n")
    return "".join(out)


def model_bank(path, blocks):
    guard = f"STRETTO_SW_INCLUDE_REGS_{path.stem.upper()}_BANK_H_"
    out = [banner(path), "// The register table that a model's bank is built from, and the names of values.\n", f"#ifndef {guard}\n#define {guard}\n\n",
           '#include "sw/include/regs/register_info.h"\n\nnamespace stretto {\n']
    for block in blocks:
        out.append(f"\ninline constexpr RegisterInfo k{camel(block['name'])}Registers[] = {{\n")
        out.append("    // name, offset, count, stride, bytes, access, reset, writable bits\n")
        for r in block["registers"]:
            out.append(f'    {{"{r["name"]}", {r["offset"]:#x}, {r["count"]}, {r["stride"]}, {r["width"] // 8}, '
                       f'RegisterAccess::{ACCESS[r["access"]][0]}, {r["reset"]:#x}, {r["write_mask"]:#x}}},\n')
        out.append("};\n")
        for r, f in ((r, f) for r in block["registers"] for f in r["fields"] if f["enum"]):
            name = camel(block["name"]) + camel(r["name"]) + camel(f["name"])
            out.append(f"inline constexpr RegisterValue k{name}Values[] = {{\n")
            out += [f'    {{"{key}", {value}}},\n' for key, value in f["enum"].items()]
            out.append("};\n")
    out.append(f"\n}}  // namespace stretto\n\n#endif  // {guard}\n")
    return "".join(out)


def sv_package(path, blocks):
    out = [banner(path), "// Offsets, resets, field positions and values.\n",
           "// A package offers more than one user needs:\n// verilator lint_off UNUSEDPARAM\n",
           f"package {path.stem}_regs_pkg;\n"]
    for block in blocks:
        for r in block["registers"]:
            name = camel(r["name"])
            out.append(f"\n  // {r['description']} ({ACCESS[r['access']][1]})\n")
            out.append(f"  localparam logic [{RTL_ADDRESS_BITS - 1}:0] {name}Offset = {RTL_ADDRESS_BITS}'h{r['offset']:x};\n")
            if r["is_array"]:
                out.append(f"  localparam int unsigned {name}Count = {r['count']};\n")
                out.append(f"  localparam int unsigned {name}Stride = {r['stride']};\n")
                out.append(f"  localparam int unsigned {name}IndexLsb = {register_file.log2(r['stride'])};"
                           "  // Of the index in the address.\n")
            out.append(f"  localparam logic [63:0] {name}Reset = 64'h{r['reset']:x};\n")
            for f in r["fields"]:
                field, width = name + camel(f["name"]), f["high"] - f["low"] + 1
                out.append(f"  localparam int unsigned {field}Lsb = {f['low']};  // {f['description']}\n")
                out.append(f"  localparam int unsigned {field}Width = {width};\n")
                for key, value in f["enum"].items():
                    out.append(f"  localparam logic [{width - 1}:0] {field}{camel(key)} = {width}'d{value};\n")
            if r["fields"]:
                out.append(register_file.sv_struct(r))
    out.append("\nendpackage\n// verilator lint_on UNUSEDPARAM\n")
    return "".join(out)


def registers_md(path, blocks):
    out = [f"<!-- Generated from sw/include/regs/{path.name} by `python3 sw/include/regs/generate.py`; do not edit. -->\n"]
    for block in blocks:
        out.append(f"\n# Registers of `{block['name']}`\n\n{block['description']}\n\n"
                   "| offset | register | access | reset | what |\n|---|---|---|---|---|\n")
        for r in block["registers"]:
            offset = f"{r['offset']:#x}"
            if r["is_array"]:
                offset += f" + {r['stride']:#x} i, i < {r['count']}"
            out.append(f"| {offset} | `{r['name']}` | {r['access']} | {r['reset']:#x} | {cell(r['description'])} |\n")
        for r in block["registers"]:
            if r["fields"]:
                out.append(f"\n## `{r['name']}`\n\n| bits | field | what |\n|---|---|---|\n")
            for f in r["fields"]:
                bits = f"{f['high']}:{f['low']}" if f["high"] != f["low"] else f"{f['low']}"
                values = "; ".join(f"{v} = `{k}`" for k, v in f["enum"].items())
                access = f" ({f['access']})" if f["access"] != r["access"] else ""
                text = cell(f["description"]) + access + (f" {values}" if values else "")
                out.append(f"| {bits} | `{f['name']}` | {text} |\n")
    return "".join(out)


def cell(text):
    return text.replace("|", "\\|")


def outputs(root, path):
    """Yields (path, content) of everything generated from one YAML file."""
    try:
        documents = list(yaml.safe_load_all(path.read_text()))
    except yaml.YAMLError as error:
        raise SpecError(f"{path.name}: {' '.join(str(error).split())}") from error
    blocks = [parse_block(document, path) for document in documents]
    need(blocks, f"{path.name}: no block")
    need(len(blocks) == 1 or not any(b["rtl"] for b in blocks), f"{path.name}: an RTL block has a file of its own")
    yield path.with_name(f"{path.stem}_regs.h"), c_header(path, blocks)
    yield path.with_name(f"{path.stem}_bank.h"), model_bank(path, blocks)
    yield root / blocks[0]["docs"] / "registers.md", registers_md(path, blocks)
    if blocks[0]["rtl"]:
        yield root / "rtl" / path.stem / f"{path.stem}_regs_pkg.sv", sv_package(path, blocks)
    for r, f in ((r, f) for b in blocks for r in b["registers"] for f in r["fields"] if f["waves"]):
        yield root / "waves" / f"{path.stem}_{f['name']}.txt", "".join(f"{v:x} {k}\n" for k, v in f["enum"].items())
    if blocks[0]["register_file"]:
        yield root / "rtl" / path.stem / f"{path.stem}_regs.sv", register_file.sv_module(blocks[0], banner(path))
        yield path.with_name(f"{path.stem}_file.h"), register_file.cpp_header(blocks[0], path.stem, banner(path))


def main():
    parser = argparse.ArgumentParser(description="Generate register files from sw/include/regs/*.yaml")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is stale")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[3])
    parser.add_argument("block", nargs="*", help="only these (file names without .yaml)")
    arguments = parser.parse_args()
    folder = arguments.root / "sw" / "include" / "regs"
    paths = sorted(folder.glob("*.yaml"))
    for stem in arguments.block:
        if folder / f"{stem}.yaml" not in paths:
            parser.error(f"{folder}/{stem}.yaml does not exist")
    stale = []
    seen = {}
    for path in paths:
        if arguments.block and path.stem not in arguments.block:
            continue
        for target, content in outputs(arguments.root, path):
            name = target.relative_to(arguments.root)
            need(name not in seen, f"{path.name} and {seen.get(name)} both generate {name}; set docs:")
            seen[name] = path.name
            if target.exists() and target.read_text() == content:
                continue
            stale.append(name)
            if not arguments.check:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content)
                print(f"wrote {name}")
    if arguments.check and stale:
        print(f"stale: {', '.join(map(str, stale))}; repair with: python3 sw/include/regs/generate.py")
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SpecError as error:
        print(f"generate.py: {error}", file=sys.stderr)
        sys.exit(2)
