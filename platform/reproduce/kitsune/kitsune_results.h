// SPDX-License-Identifier: Apache-2.0
// What plans of the compiler and simulations say of Kitsune's applications: read from their files,
// compared operator by operator. Nothing published is used here.
#ifndef STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_RESULTS_H_
#define STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_RESULTS_H_

#include <boost/json/value.hpp>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/campaign/targets.h"

namespace stretto {

// An application as Table 2 counts them.
struct KitsuneApp {
  const char* name;   // "nerf-training"; of folders and files.
  const char* graph;  // As compile.py takes it.
  const char* id;     // Of its row in Table 2.
  bool is_trained = false;
};
const std::vector<KitsuneApp>& kitsune_apps();

inline constexpr const char* kKitsuneMachine = "a100";
inline constexpr const char* kTwiceMachine = "a100-2x";
// Modes of the compiler, and of simulations: "bsp" is `launched` of a graph. Vertical fusion runs on kKitsuneMachine.
inline constexpr const char* kBsp = "bsp";
inline constexpr const char* kVertical = "vertical";
inline constexpr const char* kKitsune = "kitsune";
// Of simulations and plans: pipelines balanced by a profile of the first run.
inline constexpr const char* kBalanced = "balanced";

// A group of operators that a plan fuses, or runs as a pipeline.
struct PlannedGroup {
  std::string name;
  std::vector<std::string> operators;  // By their results.
  bool has_fan_in = false;             // A stage that sums over rows.
  std::string not_run;                 // Why it is planned only; empty: there are stages for it.
};

struct PlannedOperator {
  std::string output;
  bool is_backward = false;
  bool is_product = false;
  double dram_bytes = 0;
  double flop = 0;  // Of products.
};

struct KitsunePlan {
  bool is_vertical = false;
  double operators = 0, grouped = 0;  // As Table 2 counts them.
  double coverage_percent = 0, cut_percent = 0;
  std::vector<PlannedOperator> list;
  std::vector<PlannedGroup> groups;

  // How many of the groups there are stages for, and why not the first of the others.
  size_t groups_run() const;
  std::string not_run() const;
};
// From NAME.json and what compile.py has printed.
KitsunePlan kitsune_plan(const boost::json::value& plan, const std::string& printed);

// A simulation of an application.
struct KitsuneRun {
  double us = 0;                     // Of the only iteration.
  double dram_bytes = 0;             // Of its kernels.
  std::vector<std::string> outputs;  // Of operators, in the order in which they ran.
  std::vector<double> op_end_us;     // Of each of them; those of a pipeline end together.
  // Shares of the time, percent.
  double both_low = 0, only_sm_low = 0, only_dram_low = 0, neither_low = 0;
  double sm = 0, dram = 0;  // Mean use, percent.

  // From the end of what ran before until the last of `outputs` has ended; of operators that run one
  // by one their sum. Nothing: one of them did not run.
  std::optional<double> time_of(const std::vector<std::string>& of) const;
};
KitsuneRun kitsune_run(const boost::json::value& stats);

// What operators would take on a machine of these peaks, one after the other.
double roofline_us(const KitsunePlan& plan, double gb_s, double tflop_s);

// A payload of kitsune/queue.
struct QueueLine {
  double bytes = 0;
  double all_gb_s = 0, one_gb_s = 0, without_atomics_gb_s = 0;
  double cost_percent = 0;  // Of synchronisation, as a part of the time without.
};

// Folders of simulations and stems of plans, which are also their names.
inline constexpr const char* kQueueFolder = "queue";
inline constexpr const char* kAtomicsFolder = "atomics";
std::string plan_name(const std::string& app, const std::string& mode, const std::string& machine);
std::string run_folder(const std::string& app, const std::string& mode, const std::string& machine);

struct KitsunePeaks {
  double hbm_gb_s = 0, tensor_tflop_s = 0;
};

// All of it; empty where there is no result.
struct KitsuneResults {
  std::vector<QueueLine> queue;
  double atomics_per_s = 0;                    // Of a work-group alone.
  std::map<std::string, KitsunePlan> plans;    // By plan_name().
  std::map<std::string, KitsuneRun> runs;      // By run_folder().
  std::map<std::string, std::string> refused;  // Plans and runs that the platform refuses: why.
  std::map<std::string, KitsunePeaks> peaks;   // By machine.
  std::map<unsigned, bool> products_fused;     // Widths of an MLP: whether one kernel has two.
};

// Of dlrm with fewer rows (KT-D9), as a name of an application.
std::string sweep_name(unsigned rows);
inline constexpr unsigned kSweepRows[] = {256, 2048, 8192};
inline constexpr unsigned kWidths[] = {128, 256, 768};

// Thrown while a result is looked for: the platform or the compiler refuses what it needs.
struct NotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Throw NotRun or MissingSimulations where there is none. A run of kKitsune is the balanced one, if
// it is there.
const KitsunePlan& plan_of(const KitsuneResults& r, const std::string& app,
                           const std::string& mode);
const KitsuneRun& run_of(const KitsuneResults& r, const std::string& app, const std::string& mode,
                         const std::string& machine = kKitsuneMachine);

// Of an application or a group over bsp on the same machine.
struct Speedup {
  std::string name;  // "nerf", "mgn edges.l0".
  double x = 0;
  double roofline_percent = 0;  // What the baseline reaches of its operators' roofline.
  size_t operators = 0;
  bool has_fan_in = false;
  std::string partly;  // Why not all groups ran as pipelines, or fused; empty: all did.
};
Speedup app_speedup(const KitsuneResults& r, const std::string& app, const std::string& machine,
                    const std::string& mode = kKitsune);
// Of its pipelines that ran.
std::vector<Speedup> group_speedups(const KitsuneResults& r, const std::string& app,
                                    const std::string& machine);
// Share of bsp's time that is in groups of the plan, percent, of the operators that `is_backward`
// says; nothing: of all.
double grouped_percent(const KitsuneResults& r, const std::string& app,
                       std::optional<bool> is_backward = std::nullopt);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_RESULTS_H_
