# SPDX-License-Identifier: Apache-2.0
# The register file of an RTL block, in SystemVerilog and as its C++ twin for the reference model: storage, decode,
# reset and read mux, cycle for cycle the same. What it takes from the YAML file: README.md here.

import textwrap

ADDRESS_BITS = 16
SV_KEYWORDS = {"class", "end", "event", "first_match", "local", "new", "priority", "ref", "table", "type", "unique"}
CPP_KEYWORDS = {"class", "default", "new", "register"}


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def sv_name(name):
    return name + "_" if name in SV_KEYWORDS else name


def cpp_name(name):
    return name + "_" if name in CPP_KEYWORDS else name


def is_stored(register):
    """Whether the register file holds the bits; else they are the block's."""
    return register["access"] == "rw" and register["storage"] == "file"


def is_readable(register):
    return register["access"] != "wo"


def has_strobe(register):
    return register["access"] != "ro" and not is_stored(register)


def bits_of(register):
    """Bits of one element without the holes between its fields."""
    return sum(f["high"] - f["low"] + 1 for f in register["fields"]) or register["width"]


def log2(number):
    return (number - 1).bit_length()


def problem(register):
    """What keeps this register out of a register file, or None."""
    if not (is_stored(register) or register["is_array"]):
        return None
    if register["is_array"]:
        stride, count = register["stride"], 1 << log2(register["count"])
        if stride & (stride - 1) or register["offset"] % (stride * count) >= stride:
            return f"an array begins at a multiple of {stride * count:#x} (plus less than a stride, a power of two)"
    if is_stored(register):
        if any(f["access"] != "rw" for f in register["fields"]):
            return "storage is the file, so all fields are rw (storage: block lets the block hold them)"
        if register["is_array"] and register["fields"] and bits_of(register) != register["fields_end"]:
            return "storage is the file, so an array has no hole between its fields"
    return None


def parameters(block):
    """(name, default, register or register.field) of each parameter."""
    found = {}
    for r in block["registers"]:
        places = [(r["parameter"], r["count"], r["name"])]
        places += [(f["parameter"], f["high"] - f["low"] + 1, f"{r['name']}.{f['name']}") for f in r["fields"]]
        for name, default, place in places:
            if name:
                found.setdefault(name, (default, []))[1].append(place)
    return [(name, default, ", ".join(places)) for name, (default, places) in found.items()]


# ------------------------------------------------------------------------------------------- SystemVerilog
def sv_type(register, package):
    if register["is_array"] and is_stored(register):
        return f"logic [{register['count'] * bits_of(register) - 1}:0]"
    if register["fields"]:
        return f"{package}{register['name']}_t"
    return f"logic [{register['width'] - 1}:0]"


def sv_struct(register):
    """The typedef of a register with fields, compact, for the package."""
    lines = ["  typedef struct packed {\n"]
    for f in sorted(register["fields"], key=lambda f: -f["high"]):
        width = f["high"] - f["low"]
        lines.append(f"    logic {f'[{width}:0] ' if width else ''}{sv_name(f['name'])};\n")
    return "".join(lines) + f"  }} {register['name']}_t;\n"


def sv_joined(parts):
    return parts[0] if len(parts) == 1 else "{" + ", ".join(parts) + "}"


def sv_read(indent, parts):
    """The assignment of a read's value, in lines of at most 100 columns."""
    head = "reg_rdata_o <= {"
    text = f"reg_rdata_o <= {sv_joined([part.replace(' ', chr(0)) for part in parts])};".replace("<= ", "<=\0", 1)
    lines = textwrap.wrap(text.replace("reg_rdata_o ", "reg_rdata_o\0"), 100 - indent, subsequent_indent=" " * len(head),
                          break_long_words=False, break_on_hyphens=False)
    return "".join(" " * indent + line.replace("\0", " ") + "\n" for line in lines)


def address_name(block):
    """An output if the block has to know what is read: which element of its array, or because it says so."""
    shared = block["read_address"] or any(r["is_array"] and is_readable(r) and not is_stored(r) for r in block["registers"])
    return "address_o" if shared else "address_q"


def sv_value(register, address):
    """The parts of what a read of the register returns, from bit 63 down."""
    name = register["name"] + ("_o" if is_stored(register) else "_i")
    width = bits_of(register)
    if register["is_array"] and is_stored(register):
        value = f"{name}[{width} * 32'({sv_index(register, address)})+:{width}]"
        return [f"{64 - width}'b0", value] if width < 64 else [value]
    if not register["fields"]:
        return [name]
    parts, top = [], 64
    for f in sorted(register["fields"], key=lambda f: -f["high"]):
        if top > f["high"] + 1:
            parts.append(f"{top - f['high'] - 1}'b0")
        parts.append(f"{name}.{sv_name(f['name'])}")
        top = f["low"]
    return parts + ([f"{top}'b0"] if top else [])


def sv_index(register, address):
    low = log2(register["stride"])
    return f"{address}[{low + log2(register['count']) - 1}:{low}]"


def sv_hit(register, address, package):
    """The condition that `address` is an element of the array."""
    low, bits = log2(register["stride"]), log2(register["count"])
    mask = (1 << ADDRESS_BITS) - 1 & ~(((1 << bits) - 1) << low)
    hit = f"({address} & {ADDRESS_BITS}'h{mask:x}) == {package}{camel(register['name'])}Offset"
    if register["parameter"] or register["count"] != 1 << bits:
        limit = register["parameter"] or register["count"]
        hit += f" &&\n          32'({sv_index(register, address)}) < {limit}"
    return hit


def sv_assign(register, source, indent):
    """Statements that store `source`, 64 bits, field by field."""
    name, out = register["name"] + "_o", []
    if register["is_array"]:
        width = bits_of(register)
        index = sv_index(register, "reg_addr_i")
        return f"{' ' * indent}{name}[{width} * 32'({index})+:{width}] <= {source}[{width - 1}:0];\n"
    if not register["fields"]:
        return f"{' ' * indent}{name} <= {source};\n"
    for f in register["fields"]:
        width = f["high"] - f["low"] + 1
        bits = f"{source}[{f['high']}:{f['low']}]" if width > 1 else f"{source}[{f['low']}]"
        if f["parameter"]:
            bits = f"{width}'({source}[{f['low']}+:{f['parameter']}])"
        guard = f"if (!{register['name']}_{f['name']}_lock_i) " if f["lock"] else ""
        out.append(f"{' ' * indent}{guard}{name}.{sv_name(f['name'])} <= {bits};\n")
    return "".join(out)


def sv_reset(register):
    name, reset = register["name"] + "_o", register["reset"]
    if register["is_array"] or not register["fields"]:
        value = "'0" if not reset else f"{{{register['count']}{{{bits_of(register)}'h{reset:x}}}}}"
        return f"      {name} <= {value};\n"
    if not reset:
        return f"      {name} <= '0;\n"
    out = []
    for f in register["fields"]:
        width, value = f["high"] - f["low"] + 1, (reset & f["mask"]) >> f["low"]
        text = f"{width}'d{value}"
        if f["parameter"]:
            text = f"{width}'({f['parameter']}'({text}))"
        out.append(f"      {name}.{sv_name(f['name'])} <= {text};\n")
    return "".join(out)


def sv_ports(block, package):
    """(declaration, comment) of the ports that belong to registers."""
    ports = []
    for r in block["registers"]:
        name = r["name"]
        if is_stored(r):
            ports.append((f"output {sv_type(r, package)} {name}_o", None))
            ports += [(f"input  logic {name}_{f['name']}_lock_i", "While high, a write leaves the field.")
                      for f in r["fields"] if f["lock"]]
        elif is_readable(r):
            ports.append((f"input  {sv_type(r, package)} {name}_i",
                          "Of the element at address_o." if r["is_array"] else None))
        if has_strobe(r):
            ports.append((f"output logic {name}_we_o", None))
    return ports


def sv_module(block, banner):
    package = f"{block['name']}_regs_pkg::"
    registers = block["registers"]
    address = address_name(block)
    singles = [r for r in registers if not r["is_array"]]
    arrays = [r for r in registers if r["is_array"]]
    out = [banner, "// Register file: storage, decode, reset and read mux. x_o: stored here; x_i: what a read of a\n",
           "// register of the block returns; x_we_o: such a register is written at this edge (reg_wdata_i).\n",
           f"module {block['name']}_regs"]
    declared = [f"  parameter int unsigned {name} = {default}" for name, default, _ in parameters(block)]
    if declared:
        uses = [f"  // Built of {use}; at most the default.\n" for _, _, use in parameters(block)]
        out.append(" #(\n" + ",\n".join(use + line for use, line in zip(uses, declared)) + "\n)")
    ports = [("input  logic clk_i", None), ("input  logic rst_i", None), ("input  logic reg_we_i", None),
             ("input  logic reg_re_i", None), (f"input  logic [{ADDRESS_BITS - 1}:0] reg_addr_i", None),
             ("input  logic [63:0] reg_wdata_i", None), ("output logic [63:0] reg_rdata_o", None),
             ("output logic read_pending_o", "A read is answered at the next edge."),
             *([(f"output logic [{ADDRESS_BITS - 1}:0] address_o", "Of the last read.")] if address == "address_o" else []),
             *sv_ports(block, package)]
    out.append(" (\n  // verilator coverage_off\n")  # The ports repeat signals of the block.
    whole = 0
    for r in registers:
        whole |= r["write_mask"] if is_stored(r) else 0
    partly = whole != (1 << 64) - 1  # No register has all bits.
    for i, (port, comment) in enumerate(ports):
        waived = partly and "reg_wdata_i" in port
        out.append("  // verilator lint_off UNUSEDSIGNAL\n" if waived else "")
        line = f"  {port}{',' if i + 1 < len(ports) else ''}"
        comment = f"// {comment}" if comment else ""
        fits = len(f"{line}  {comment}") <= 100
        out.append(f"{line}{'  ' + comment if comment else ''}\n" if fits else f"  {comment}\n{line}\n")
        out.append("  // verilator lint_on UNUSEDSIGNAL\n" if waived else "")
    out.append(");\n")
    if address == "address_q":
        out.append(f"\n  logic [{ADDRESS_BITS - 1}:0] address_q;  // Of the last read.\n")
    out.append("  // verilator coverage_on\n")
    strobes = [r for r in registers if has_strobe(r)]
    if strobes:
        out.append("\n  always_comb begin : strobes\n")
        out += [f"    {r['name']}_we_o = 1'b0;\n" for r in strobes]
        out.append("    if (reg_we_i) begin\n")
        if any(not r["is_array"] for r in strobes):
            out.append("      case (reg_addr_i)\n")
            out += [f"        {package}{camel(r['name'])}Offset: {r['name']}_we_o = 1'b1;\n"
                    for r in strobes if not r["is_array"]]
            out.append("        default: ;\n      endcase\n")
        out += [f"      if ({sv_hit(r, 'reg_addr_i', package)}) begin\n        {r['name']}_we_o = 1'b1;\n      end\n"
                for r in strobes if r["is_array"]]
        out.append("    end\n  end\n")
    out.append("\n  always_ff @(posedge clk_i) begin : registers\n    read_pending_o <= reg_re_i;\n"
               f"    if (reg_re_i) {address} <= reg_addr_i;\n    if (read_pending_o) begin\n      case ({address})\n")
    for r in singles:
        if is_readable(r):
            line = f"        {package}{camel(r['name'])}Offset: reg_rdata_o <= {sv_joined(sv_value(r, address))};\n"
            if len(line) > 101:
                line = (f"        {package}{camel(r['name'])}Offset: begin\n" + sv_read(10, sv_value(r, address)) +
                        "        end\n")
            out.append(line)
    out.append("        default: reg_rdata_o <= '0;\n      endcase\n")
    for r in arrays:
        if is_readable(r):
            out.append(f"      if ({sv_hit(r, address, package)}) begin\n" + sv_read(8, sv_value(r, address)) +
                       "      end\n")
    out.append("    end\n")
    stored = [r for r in registers if is_stored(r)]
    if stored:
        out.append("    if (reg_we_i) begin\n      case (reg_addr_i)\n")
        for r in stored:
            if not r["is_array"]:
                out.append(f"        {package}{camel(r['name'])}Offset: begin\n" + sv_assign(r, "reg_wdata_i", 10) +
                           "        end\n")
        out.append("        default: ;\n      endcase\n")
        for r in stored:
            if r["is_array"]:
                out.append(f"      if ({sv_hit(r, 'reg_addr_i', package)}) begin\n" + sv_assign(r, "reg_wdata_i", 8) +
                           "      end\n")
        out.append("    end\n")
    out.append("    if (rst_i) begin\n" + "".join(sv_reset(r) for r in stored))
    out.append(f"      read_pending_o <= 1'b0;\n      {address} <= '0;\n      reg_rdata_o <= '0;\n    end\n  end\n\nendmodule\n")
    return "".join(out)


# ------------------------------------------------------------------------------------------------------ C++
def cpp_type(width):
    return "bool" if width == 1 else f"uint{max(8, 1 << log2(width))}_t"


def cpp_field_type(field):
    return cpp_type(field["high"] - field["low"] + 1)


def cpp_struct(block, register):
    macro = f"{block['name']}_{register['name']}".upper()
    out = [f"  struct {camel(register['name'])} {{\n"]
    for f in register["fields"]:
        reset = (register["reset"] & f["mask"]) >> f["low"]
        first = ("true" if reset else "false") if f["high"] == f["low"] else str(reset)
        out.append(f"    {cpp_field_type(f)} {cpp_name(f['name'])} = {first};\n")
    if register["access"] != "ro":
        out.append(f"    static constexpr {camel(register['name'])} from(uint64_t data) {{\n      return {{\n")
        for f in register["fields"]:
            value = f"STRETTO_FIELD_GET(data, {macro}_{f['name'].upper()})"
            cast = f"{value} != 0" if f["high"] == f["low"] else f"static_cast<{cpp_field_type(f)}>({value})"
            out.append(f"          {cast},\n")
        out.append("      };\n    }\n")
    if is_readable(register):
        out.append("    constexpr uint64_t bits() const {\n      return ")
        out.append(" |\n             ".join(f"STRETTO_FIELD({macro}_{f['name'].upper()}, {cpp_name(f['name'])})"
                                            for f in register["fields"]))
        out.append(";\n    }\n")
    return "".join(out) + "  };\n"


def cpp_value_type(register):
    return camel(register["name"]) if register["fields"] else cpp_type(register["width"])


def cpp_bits(register, place):
    return f"{place}.bits()" if register["fields"] else place


def cpp_header(block, stem, banner):
    name = f"{camel(block['name'])}Registers"
    guard = f"STRETTO_SW_INCLUDE_REGS_{stem.upper()}_FILE_H_"
    registers = block["registers"]
    singles = [r for r in registers if not r["is_array"]]
    arrays = [r for r in registers if r["is_array"]]
    prefix = block["name"].upper()
    out = [banner, f"// Register file of the model of {block['name']}: twin of rtl/{stem}/{stem}_regs.sv.\n",
           f"#ifndef {guard}\n#define {guard}\n\n#include <cstdint>\n\n", '#include "sw/include/regs/field.h"\n',
           f'#include "sw/include/regs/{stem}_regs.h"\n\nnamespace stretto {{\n\nstruct {name} {{\n',
           f"  enum class Name : uint8_t {{ {', '.join(cpp_name(r['name']) for r in registers)}, none }};\n",
           "  struct Place {\n    Name name = Name::none;\n    unsigned index = 0;  // In an array.\n  };\n"]
    out += ["\n" + cpp_struct(block, r) for r in registers if r["fields"]]
    out.append("\n  // Stored here.\n")
    for r in registers:
        if is_stored(r):
            first = "" if r["fields"] else f" = {r['reset']}"
            out.append(f"  {cpp_value_type(r)} {cpp_name(r['name'])}" +
                       (f"[{prefix}_{r['name'].upper()}_COUNT]{{}};\n" if r["is_array"] else f"{first};\n"))
    out.append("\n  // What a read returns of the registers of the block; of an array, of the element that is read.\n"
               "  struct Hardware {\n")
    for r in registers:
        if not is_stored(r) and is_readable(r):
            first = "{}" if r["fields"] else " = 0"
            out.append(f"    {cpp_value_type(r)} {cpp_name(r['name'])}{first};\n")
    out.append("  };\n\n  static constexpr Place find(uint16_t address) {\n    switch (address) {\n")
    out += [f"      case {prefix}_{r['name'].upper()}_OFFSET: return {{Name::{cpp_name(r['name'])}, 0}};\n"
            for r in singles]
    out.append("      default: break;\n    }\n")
    for r in arrays:
        macro = f"{prefix}_{r['name'].upper()}"
        out.append(f"    if (address >= {macro}_OFFSET && (address - {macro}_OFFSET) % {macro}_STRIDE == 0 &&\n"
                   f"        address < {macro}_OFFSET_AT({macro}_COUNT)) {{\n      return {{Name::{cpp_name(r['name'])}, "
                   f"static_cast<unsigned>(address - {macro}_OFFSET) / {macro}_STRIDE}};\n    }}\n")
    out.append("    return {};\n  }\n")
    locks = [(r, f) for r in registers for f in r["fields"] if f["lock"]]
    arguments = "".join(f", bool {r['name']}_{f['name']}_lock" for r, f in locks)
    out.append(f"\n  // Of a register that is stored here; nothing else happens.\n"
               f"  void write(Place place, uint64_t data{arguments}) {{\n    switch (place.name) {{\n")
    for r in registers:
        if is_stored(r):
            value = f"{camel(r['name'])}::from(data)" if r["fields"] else "data"
            where = cpp_name(r["name"]) + ("[place.index]" if r["is_array"] else "")
            mine = [f["name"] for other, f in locks if other is r]
            kept = "".join(f"        if ({r['name']}_{f}_lock) value.{cpp_name(f)} = {where}.{cpp_name(f)};\n" for f in mine)
            out.append(f"      case Name::{cpp_name(r['name'])}: " +
                       (f"{{\n        {camel(r['name'])} value = {value};\n{kept}        {where} = value;\n"
                        "        break;\n      }\n" if mine else f"{where} = {value}; break;\n"))
    out.append("      default: break;\n    }\n  }\n\n"
               "  uint64_t read(Place place, const Hardware& hardware) const {\n    switch (place.name) {\n")
    for r in registers:
        if is_readable(r):
            where = ("" if is_stored(r) else "hardware.") + cpp_name(r["name"])
            where += "[place.index]" if is_stored(r) and r["is_array"] else ""
            out.append(f"      case Name::{cpp_name(r['name'])}: return {cpp_bits(r, where)};\n")
    out.append("      default: return 0;\n    }\n  }\n};\n\n}  // namespace stretto\n\n")
    return "".join(out) + f"#endif  // {guard}\n"
