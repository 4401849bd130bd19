# SPDX-License-Identifier: Apache-2.0
"""Question: does the proof run fail whenever it should? A tiny block is proven as it stands; then one thing at a
time is spoiled, and the run must fail and name it."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

GOOD = {
    "rtl/tiny/tiny.sv": """module tiny #(parameter int unsigned Width = 4) (
  input logic clk_i, input logic rst_i, input logic step_i, output logic [Width-1:0] count_o, output logic last_o);
  always_ff @(posedge clk_i) begin
    if (step_i && !last_o) count_o <= count_o + Width'(1);
    if (rst_i) count_o <= '0;
  end
  logic odd, odd_q;  // Of no consequence, never still, and of two names.
  always_ff @(posedge clk_i) odd_q <= !odd_q && !rst_i;
  always_comb odd = odd_q;
  always_comb last_o = count_o == Width'(9);
endmodule
""",
    "rtl/tiny/tiny_props.sv": """module tiny_props #(parameter int unsigned Width = 4) (
  input logic clk_i, input logic rst_i, input logic step_i, input logic [Width-1:0] count_o, input logic last_o);
  logic live_q = 1'b0, step_q;
  logic [Width-1:0] count_q;
  always_ff @(posedge clk_i) begin
    live_q <= !rst_i;
    step_q <= step_i;
    count_q <= count_o;
  end
  always_ff @(posedge clk_i) if (live_q) begin
    m_free: assume (step_i || !step_i);
    a_r1_bound: assert (count_o <= 9);
    a_r2_last: assert (last_o == (count_o == 9));
    a_r3_step: assert (count_o == count_q + Width'(step_q && count_q != 9));
    c_end: cover (last_o);
  end
endmodule
""",
    "rtl/tiny/tiny_formal.sv": """module tiny_formal #(parameter int unsigned Width = 4) (
  input logic clk_i, input logic rst_i, input logic step_i, input logic sleep_i);
  logic [Width-1:0] count_o, hold_count;
  logic last_o, hold_last, hold;
  always_comb hold = sleep_i && !step_i && !rst_i;
  tiny #(.Width(Width)) u_tiny (.*);
  tiny_props #(.Width(Width)) u_props (.*);
  tiny #(.Width(Width)) u_hold (.count_o(hold_count), .last_o(hold_last), .*);
  always_ff @(posedge clk_i) a_r4_hold: assert (count_o == hold_count && last_o == hold_last);
  (* twins = "odd_q" *) logic same;
  always_ff @(posedge clk_i) a_r4_lemma_same: assert (same);
  logic [Width-1:0] past_before;
  always_ff @(posedge clk_i) past_before <= rst_i ? '0 : count_o;
  always_ff @(posedge clk_i) if (!rst_i) a_r1_lemma_count: assert (count_o <= 9);
  always_ff @(posedge clk_i) if (step_i) a_r1_lemma_past: assert (past_before <= 9);
endmodule
""",
    "rtl/tiny/tiny.f": "rtl/tiny/tiny.sv\nrtl/tiny/tiny_props.sv\n",
    "rtl/tiny/README.md": "# Tiny\n\n- **R1** Counts to 9\n  at most.\n- **R2** Says when it is there.\n- **R3** One a step.\n"
                          "- **R4** Sleeps without a step.\n",
    "rtl/tiny/mutants.txt": """# Faults.
past_nine [R1]: count_o == Width'(9) => count_o == Width'(10)
never [R2]: last_o = count_o => last_o = 1'b0 && count_o
always [R2]: last_o = count_o => last_o = 1'b1 || count_o
stuck [R3]: step_i && !last_o => 1'b0
runs_on [R1 R3]: step_i && !last_o => step_i
by_two [R3]: + Width'(1) => + Width'(2)
down [R3]: count_o + Width'(1) => count_o - Width'(1)
restless [R4]: count_o <= '0; => count_o <= '0; else if (!step_i) count_o <= count_o ^ Width'(1);
""",
    "tests/formal/tiny.tasks": """all | Width=4 | prove | pdr | quick
wide | Width=6 | prove | induction 12: shows the engine | only=a_r1_*
brief | Width=4 | prove | pdr 1 | only=a_r1_bound
leaning | Width=4 | prove | pdr | noscorr only=a_r1_* lemmas=a_r1_lemma_*
apart | Width=4 | prove | pdr | noscorr apart only=a_r1_* lemmas=a_r1_lemma_*
shallow | Width=4 | prove | bmc 8: shows the engine | only=a_r2_*
story | | cover | smtbmc 14 | quick
story_bmc | | cover | bmc 14
""",
}

# What is spoiled: file, text, replacement; what the run must say; and which job is run ("all", the proof, unless given).
SPOILED = {
    "a false property": ("rtl/tiny/tiny_props.sv", "count_o <= 9", "count_o <= 8",
                         ["a_r1_bound is FALSE", "R1: Counts to 9 at most.", "a_r1_bound.vcd"]),
    "a false property, by induction": ("rtl/tiny/tiny_props.sv", "count_o <= 9", "count_o <= 8",
                                       ["induction 12", "base case: u_props.a_r1_bound"], "wide"),
    # 2147483647 x 2147483629, to be found by a solver in one second.
    "a proof that takes too long": ("rtl/tiny/tiny_props.sv",
                                    "always_ff @(posedge clk_i) if (live_q) begin\n    m_free: assume (step_i || !step_i);\n"
                                    "    a_r1_bound: assert (count_o <= 9);",
                                    "(* anyconst *) logic [31:0] p, q;\n"
                                    "  always_ff @(posedge clk_i) if (live_q) begin\n    m_free: assume (step_i || !step_i);\n"
                                    "    a_r1_bound: assert (64'(p) * 64'(q) != 64'd4611685975477714963);",
                                    ["a_r1_bound is UNDECIDED in its time"], "brief"),
    "a cut of what sleeps": ("tests/formal/tiny.tasks", "pdr 1 | only=a_r1_bound", "pdr 1 | only=a_r1_bound cut=tiny",
                             ["u_hold has no flip-flop"], "brief"),
    "a cut of the properties": ("tests/formal/tiny.tasks", "pdr 1 | only=a_r1_bound",
                                "pdr 1 | only=a_r1_bound cut=tiny_props", ["$assert cells are gone"], "brief"),
    "a cut of nothing": ("tests/formal/tiny.tasks", "pdr 1 | only=a_r1_bound", "pdr 1 | only=a_r1_bound cut=teeny",
                         ["no module teeny to cut"], "brief"),
    "a false lemma": ("rtl/tiny/tiny_formal.sv", "count_o <= 9", "count_o <= 8", ["a_r1_lemma_count is FALSE"], "leaning"),
    "a false lemma, given all of the clock before": ("rtl/tiny/tiny_formal.sv", "count_o <= 9", "count_o <= 8",
                                                     ["a_r1_lemma_count is FALSE"], "apart"),
    "false lemmas that follow from each other": (
        "rtl/tiny/tiny_formal.sv", "count_o <= 9);\n  always_ff @(posedge clk_i) if (step_i) "
        "a_r1_lemma_past: assert (past_before <= 9", "count_o <= past_before);\n  always_ff @(posedge clk_i) if (step_i) "
        "a_r1_lemma_past: assert (past_before >= count_o",
        ["a_r1_lemma_count is FALSE", "a_r1_lemma_past is FALSE"], "apart"),
    "another false property": ("rtl/tiny/tiny_props.sv", "count_q != 9", "count_q != 7", ["a_r3_step is FALSE"]),
    "an unreached cover": ("rtl/tiny/tiny_props.sv", "cover (last_o)", "cover (count_o == 11)",
                           ["not reached in 14 clocks: u_props.c_end"], "story"),
    "a surviving mutant": ("rtl/tiny/mutants.txt", "Width'(1) => count_o - Width'(1)",
                           "Width'(1) => Width'(1) + count_o", ["tiny mutant down", "SURVIVED: no assertion of R3"], "down"),
    "a mutant that breaks another rule only": ("rtl/tiny/mutants.txt", "runs_on [R1 R3]", "runs_on [R1 R2]",
                                               ["SURVIVED: no assertion of R2"], "runs_on"),
    "a mutant hunted where its rule is not proven": (
        "rtl/tiny/mutants.txt", "down [R3]", "down [R3] @wide",
        ["no row with the parameters of task wide proves an assertion of R3"], "down"),
    "a mutant whose text is not there": ("rtl/tiny/mutants.txt", "+ Width'(1) =>", "+ Width'(3) =>",
                                         ["mutant by_two: its text occurs 0 times"]),
    "a mutant whose text is there twice": ("rtl/tiny/mutants.txt", "+ Width'(1) =>", "count_o =>",
                                           ["mutant by_two: its text occurs"]),
    "a mutant that does not compile": ("rtl/tiny/mutants.txt", "=> + Width'(2)", "=> + + ;", ["by_two", "yosys: "], "by_two"),
    "seven mutants": ("rtl/tiny/mutants.txt", "down [R3]", "# down [R3]", ["7 mutants; at least 8"]),
    "no rule R1 mutant at all": ("rtl/tiny/mutants.txt", "R1", "R3", ["rule R1 of README.md has no mutant"]),
    "a mutant of no rule": ("rtl/tiny/mutants.txt", "stuck [R3]", "stuck [R9]", ["README.md has no rule R9"]),
    "no assertion": ("rtl/tiny/tiny_props.sv", "assert (", "cover (", ["rule R1 of README.md has no assertion"]),
    "a copy that sleeps too long": ("rtl/tiny/tiny_formal.sv", "sleep_i && !step_i", "sleep_i",
                                    ["a_r4_hold is FALSE", "a_r4_lemma_same is FALSE", "R4: Sleeps without a step."]),
    "a sleeping copy without hold": ("rtl/tiny/tiny_formal.sv", "hold;\n  always_comb hold =", "sleep;\n  always_comb sleep =",
                                     ["u_hold needs a signal 'hold'"]),
    "a sleeping copy of which nothing is compared": ("rtl/tiny/tiny_formal.sv", 'twins = "odd_q"', 'twins = "*"',
                                                     ["no flip-flop of u_hold to compare"]),
    "no cover": ("rtl/tiny/tiny_props.sv", "    c_end: cover (last_o);\n", "", ["has no cover"]),
    "an assertion that elaboration drops": ("rtl/tiny/tiny_props.sv", "always_ff @(posedge clk_i) if (live_q) begin",
                                            "if (Width == 7) always_ff @(posedge clk_i) if (live_q) begin",
                                            ["3 of 7 $assert cells are gone after elaboration"]),
    "properties that are only bound": (
        "rtl/tiny/tiny_formal.sv", "  tiny_props #(.Width(Width)) u_props (.*);\n",
        "  bind tiny tiny_props #(.Width(Width)) u_props (.*);\n", ["$assert cells are gone"]),
    "an assertion without label": ("rtl/tiny/tiny_props.sv", "a_r2_last: assert", "assert",
                                   ["9 assert/assume/cover statements, but 8 different labels"]),
    "an assertion of no rule": ("rtl/tiny/tiny_props.sv", "a_r2_last", "a_r7_last", ["README.md has no rule 'R7'"]),
    "a rule without assertion": ("rtl/tiny/README.md", "- **R3**", "- **R5** What nobody checks.\n- **R3**",
                                 ["rule R5 of README.md has no assertion"]),
    "an implicit wire": ("rtl/tiny/tiny_formal.sv", "u_tiny (.*);",
                         "u_tiny (.clk_i(clk_i), .rst_i(rst_i), .step_i(stepp), .count_o(count_o), .last_o(last_o));",
                         ["implicit or undriven wire"]),
    "a name into the block": ("rtl/tiny/tiny_formal.sv", "u_props (.*);",
                              "u_props (.clk_i, .rst_i, .step_i, .count_o(u_tiny.count_o), .last_o);",
                              ["implicit or undriven wire"]),
    "an unknown parameter": ("tests/formal/tiny.tasks", "Width=4 | prove | pdr", "Depth=4 | prove | pdr", ["yosys: "]),
    "a bound without reason": ("tests/formal/tiny.tasks", "bmc 8: shows the engine", "bmc 8", ["say why not PDR"]),
    "an assertion that only a row of the gate proves": ("tests/formal/tiny.tasks", "pdr | quick", "pdr | gate",
                                                        ["no task proves a_r3_step"]),
    "a missing file": ("rtl/tiny/tiny_formal.sv", None, None, ["missing: rtl/tiny/tiny_formal.sv"]),
}


def run(change, *arguments):
    """Status and output of the runner on the tiny block with `change` = (file, text, replacement) applied."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in GOOD.items():
            if change and change[0] == name:
                if change[1] is None:
                    continue
                assert change[1] in text, f"{name} has no '{change[1]}'"
                text = text.replace(change[1], change[2])
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        done = subprocess.run([str(HERE / "run.sh"), "--root", folder, "--keep", str(root / "keep"), "-j", "1",
                               *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout


def main():
    mistakes = []
    status, output = run(None)
    if status != 0 or "all proven" not in output or output.count("refuted by") != 8:
        mistakes.append(f"the good block: status {status}\n{output}")
    for what, (name, text, replacement, wanted, *only) in SPOILED.items():
        status, output = run((name, text, replacement), "--only", *(only or ["all"]))
        if status == 0 or "FAILED" not in output or not all(part in output for part in wanted):
            mistakes.append(f"{what}: status {status}, expected {wanted}\n{output}")
    for arguments in (["--only", "nothing"], ["other"]):
        status, output = run(None, *arguments)
        if status == 0:
            mistakes.append(f"{arguments}: status 0\n{output}")
    print("\n".join(mistakes) if mistakes else f"{len(SPOILED)} faults found")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
