// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/cli.h"

#include <boost/program_options.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>

#include "models/common/error.h"
#include "models/common/spec.h"
#include "platform/base/exit_status.h"
#include "platform/base/version.h"
#include "platform/cli/listing.h"
#include "platform/config/options.h"
#include "platform/reproduce/t3/reproduce.h"
#include "platform/results/compare.h"
#include "platform/run/run.h"

namespace po = boost::program_options;

namespace stretto {

namespace {

constexpr const char* kUsage =
    "Stretto simulates multi-GPU machines whose communication overlaps their computation.\n"
    "\n"
    "  stretto run [WORKLOAD] [options]     simulate one workload, or boot firmware\n"
    "  stretto reproduce t3|gpu-driven|collectives\n"
    "                                       the table of a paper: published, measured, "
    "verdict\n"
    "  stretto list machines|workloads|blocks|parameters\n"
    "  stretto report DIR                   print the results in DIR\n"
    "  stretto compare DIR DIR...           results side by side; ratios are to the first\n"
    "\n"
    "'stretto COMMAND --help' explains a command. 'stretto --version' prints the version.\n"
    "Exit status: 0 success, 1 a check failed, 2 bad usage or input or results that cannot be "
    "written,\n124 time limit, 129, 130, 143 interrupted by SIGHUP, SIGINT, SIGTERM (results so "
    "far are "
    "kept;\na second signal some seconds later ends at once).\n";

using Arguments = std::vector<std::string>;

// An empty value is most often a variable that a script did not set; it must not count as absent.
void refuse_empty(const po::variables_map& values) {
  for (const auto& [name, value] : values) {
    if (value.defaulted()) continue;
    bool empty = false;
    if (const auto* text = boost::any_cast<std::string>(&value.value())) empty = text->empty();
    if (const auto* all = boost::any_cast<std::vector<std::string>>(&value.value()))
      empty = std::count(all->begin(), all->end(), "") != 0;
    if (!empty) continue;
    const bool positional =
        name == "workload" || name == "paper" || name == "what" || name == "folder";
    throw UserError((positional ? name : "--" + name) + ": must not be empty");
  }
}

// As a shell reads it back.
std::string quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// Parses `arguments`; true if --help was given (and answered).
bool parse(const Arguments& arguments, const std::string& headline,
           const po::options_description& visible, const po::options_description& positional,
           const char* names, int count, po::variables_map& values) {
  po::options_description all;
  all.add(visible).add(positional);
  po::positional_options_description order;
  if (count != 0) order.add(names, count);
  try {
    po::store(
        po::command_line_parser(arguments)
            .options(all)
            .positional(order)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run(),
        values);
    po::notify(values);
  } catch (const po::error& error) {
    throw UserError(std::string(error.what()) + "; see 'stretto " +
                    headline.substr(0, headline.find(' ')) + " --help'");
  }
  if (values.count("help") == 0) {
    refuse_empty(values);
    return false;
  }
  std::cout << "stretto " << headline << "\n\n" << visible;
  return true;
}

// A whole number in [low, high]. "-1" is not one: it would wrap around.
uint64_t whole(const std::string& option, const std::string& text, uint64_t low, uint64_t high) {
  uint64_t value = 0;
  ParameterSet set;
  set.number(option, value, low, high, "");
  if (!set.all()[0].set(text)) {
    throw UserError("--" + option + " " + text + ": must be a whole number " + std::to_string(low) +
                    ".." + std::to_string(high));
  }
  return value;
}

double seconds(const std::string& option, const std::string& text) {
  constexpr double kMost = 1e9;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0 && value <= kMost))
    throw UserError("--" + option + " " + text +
                    ": must be a number of seconds, more than 0, at most 1e9");
  return value;
}

int command_run(const Arguments& arguments, const Arguments& command_line) {
  RunOptions options;
  options.command_line = command_line;
  std::vector<std::string> impl;
  std::string seed, time_limit, waves_limit;
  po::options_description visible("Options");
  visible.add_options()("help,h", "this text")(
      "machine", po::value(&options.machine)->value_name("M"),
      "shipped machine or file.yaml; default: the workload's")(
      "mode", po::value(&options.mode)->value_name("NAME"),
      "one of the workload's modes; default: its first")(
      "firmware", po::value(&options.firmware)->value_name("ELF"),
      "firmware of the command processors")(
      "set", po::value(&options.sets)->value_name("KEY=VALUE")->composing(),
      "set a parameter; may be repeated")(
      "seed", po::value(&seed)->value_name("N")->default_value("1"), "seed of operands")(
      "impl", po::value(&impl)->value_name("BLOCK|all=KIND")->composing(),
      "rtl (default), model or lockstep")(
      "data", po::value(&options.data)->value_name("stamp|real"),
      "provenance stamps or FP16 numbers")("out", po::value(&options.out)->value_name("DIR"),
                                           "where stats.json, stats.csv, machine.yaml go; default: "
                                           "results/WORKLOAD/MODE below the working directory")(
      "timeline", po::bool_switch(&options.timeline),
      "write DIR/timeline.json; open it in ui.perfetto.dev or chrome://tracing")(
      "waves", po::value(&options.waves)->value_name("BLOCK[,..][@FROM..TO]"),
      "write DIR/waves.fst (GTKWave) of RTL blocks: mca,tracker@10us..12us, mca[3], gpu1.mca[0-3]")(
      "waves-limit", po::value(&waves_limit)->value_name("MIB")->default_value("256"),
      "size at which waves.fst ends")("time-limit", po::value(&time_limit)->value_name("SECONDS"),
                                      "of host time; default: none")(
      "progress", po::bool_switch(&options.progress),
      "progress on standard error from the start; without it after 2 s. One line on a terminal, "
      "elsewhere a line every 5 s");
  po::options_description positional;
  positional.add_options()("workload", po::value(&options.workload), "");
  po::variables_map values;
  if (parse(arguments,
            "run [WORKLOAD] [options]\n\n"
            "WORKLOAD: one of 'stretto list workloads', a file.yaml, or a program over nccl.h as "
            "./FILE.so",
            visible, positional, "workload", 1, values))
    return kExitSuccess;
  for (const std::string& text : impl) set_impl(text, options.impl);
  for (const std::string& name : block_names()) options.impl.emplace(name, Impl::rtl);
  options.waves_limit_mib = static_cast<uint32_t>(whole("waves-limit", waves_limit, 1, 65536));
  if (!values["waves-limit"].defaulted() && options.waves.empty())
    throw UserError("--waves-limit limits what --waves writes, and there is no --waves");
  options.seed = whole("seed", seed, 0, std::numeric_limits<uint64_t>::max());
  if (values.count("time-limit") != 0) options.time_limit_s = seconds("time-limit", time_limit);
  if (!options.data.empty() && options.data != "stamp" && options.data != "real") {
    throw UserError("--data " + options.data + ": must be stamp or real");
  }
  return run(options);
}

// Options that both papers have.
void add_reproduce_options(po::options_description& visible, ReproduceOptions& options,
                           std::string& jobs, std::string& time_limit) {
  visible.add_options()("help,h", "this text")(
      "figure", po::value(&options.figure)->value_name("ID"),
      "only the targets of this figure (t3: 16, 17, 18; gpu-driven: 1, 4, 5, I) or id (T3-R01)")(
      "jobs", po::value(&jobs)->value_name("N")->default_value("1"), "simulations at a time")(
      "out", po::value(&options.out)->value_name("DIR"),
      "results, one folder a simulation (default results/reproduce-PAPER); what is there is not "
      "run again")("set", po::value(&options.sets)->value_name("KEY=VALUE")->composing(),
                   "set a parameter in every simulation")(
      "impl", po::value(&options.impl)->value_name("all=KIND"),
      "rtl (default), model or lockstep; results are the same")(
      "time-limit", po::value(&time_limit)->value_name("SECONDS"),
      "of host time for all simulations; what is there is kept (default: none; collectives 2700)")(
      "table-only", po::bool_switch(&options.table_only), "run nothing; table of what is there");
}

int command_reproduce(const Arguments& arguments, const Arguments& command_line) {
  ReproduceOptions options;
  std::string jobs, time_limit;
  po::options_description visible("Options");
  add_reproduce_options(visible, options, jobs, time_limit);
  po::options_description t3("Options of t3");
  t3.add_options()("full", po::bool_switch(&options.full),
                   "all GPUs of every case instead of one mirrored GPU")(
      "cases", po::value(&options.cases)->value_name("A,B"),
      "only cases whose names begin with A, B ...: tnlg,mega-op")(
      "machines", po::value(&options.machines)->value_name("A,B")->default_value("t3,t3-paper"),
      "side by side")("modes", po::value(&options.modes)->value_name("A,B"), "only these modes");
  visible.add(t3);
  po::options_description positional;
  positional.add_options()("paper", po::value(&options.paper), "");
  po::variables_map values;
  if (parse(arguments, "reproduce t3|gpu-driven|collectives [options]", visible, positional,
            "paper", 1, values))
    return kExitSuccess;
  if (options.paper.empty())
    throw UserError(
        "reproduce needs a paper: t3, gpu-driven, or collectives; see 'stretto reproduce --help'");
  const bool is_t3 = options.paper == "t3";
  const bool is_collectives = options.paper == "collectives";
  if (!is_t3 && !is_collectives && options.paper != "gpu-driven")
    throw UserError("reproduce " + options.paper + ": must be t3, gpu-driven or collectives");
  if (is_collectives && !options.figure.empty()) throw UserError("--figure: collectives have none");
  for (const char* name : {"full", "cases", "machines", "modes"}) {
    if (!is_t3 && values.count(name) != 0 && !values[name].defaulted())
      throw UserError(std::string("--") + name + ": only of reproduce t3");
  }
  if (options.out.empty()) options.out = "results/reproduce-" + options.paper;
  for (const std::string& word : command_line) {
    if (!options.command_line.empty()) options.command_line += ' ';
    options.command_line += quoted(word);
  }
  options.jobs = static_cast<unsigned>(whole("jobs", jobs, 1, 256));
  if (time_limit.empty() && is_collectives) time_limit = "2700";
  if (!time_limit.empty())
    options.time_limit_s = static_cast<unsigned>(whole("time-limit", time_limit, 1, 1000000));
  if (is_collectives) return reproduce_collectives(options);
  return is_t3 ? reproduce(options) : reproduce_gpu_driven(options);
}

int command_list(const Arguments& arguments) {
  std::string what;
  po::options_description visible("Options");
  visible.add_options()("help,h", "this text");
  po::options_description positional;
  positional.add_options()("what", po::value(&what), "");
  po::variables_map values;
  if (parse(arguments, "list machines|workloads|blocks|parameters", visible, positional, "what", 1,
            values))
    return kExitSuccess;
  if (values.count("what") == 0)
    throw UserError("list needs a topic: machines, workloads, blocks or parameters");
  return list(what);
}

int command_compare(const Arguments& arguments, bool many) {
  std::vector<std::string> folders;
  po::options_description visible("Options");
  visible.add_options()("help,h", "this text");
  po::options_description positional;
  positional.add_options()("folder", po::value(&folders), "");
  po::variables_map values;
  if (parse(arguments, many ? "compare DIR DIR..." : "report DIR", visible, positional, "folder",
            -1, values))
    return kExitSuccess;
  if (folders.empty() || (!many && folders.size() != 1)) {
    throw UserError(many ? "compare needs at least one result folder"
                         : "report needs one result folder");
  }
  return compare(folders);
}

}  // namespace

namespace {

int command(int argc, char* argv[]) {
  try {
    if (argc < 2) {
      std::cerr << kUsage;
      return kExitUsage;
    }
    const std::string command = argv[1];
    const Arguments arguments(argv + 2, argv + argc);
    if (command == "--help" || command == "-h" || command == "help") {
      std::cout << kUsage;
      return kExitSuccess;
    }
    if (command == "--version") {
      std::cout << version_text() << "\n";
      return kExitSuccess;
    }
    const Arguments command_line(argv, argv + argc);
    if (command == "run") return command_run(arguments, command_line);
    if (command == "reproduce") return command_reproduce(arguments, command_line);
    if (command == "list") return command_list(arguments);
    if (command == "report") return command_compare(arguments, false);
    if (command == "compare") return command_compare(arguments, true);
    throw UserError("unknown command '" + command +
                    "'; must be run, reproduce, list, report or compare; see 'stretto --help'");
  } catch (const UserError& error) {
    std::cerr << "stretto: " << error.what() << "\n";
    return kExitUsage;
  } catch (const Interrupted& error) {
    std::cerr << "stretto: " << error.what() << "\n";
    return kExitSignal + error.signal;
  } catch (const CheckError& error) {
    std::cerr << "stretto: " << error.what() << "\n";
    return kExitCheckFailed;
  } catch (const std::bad_alloc&) {
    std::cerr << "stretto: out of host memory\n";
    return kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << "stretto: " << error.what() << "\n";
    return kExitCheckFailed;
  }
}

}  // namespace

int cli(int argc, char* argv[]) {
  const int status = command(argc, argv);
  // What nobody could read was not said.
  if (std::cout.flush() && std::fflush(stdout) == 0) return status;
  std::cerr << "stretto: standard output cannot be written (" << std::strerror(errno) << ")\n";
  return status == kExitSuccess ? kExitUsage : status;
}

}  // namespace stretto
