// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/cli.h"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>
#include <system_error>

#include "models/common/error.h"
#include "platform/base/exit_status.h"
#include "platform/base/installation.h"
#include "platform/base/say.h"
#include "platform/base/version.h"
#include "platform/campaign/characterise.h"
#include "platform/campaign/sweep.h"
#include "platform/cli/listing.h"
#include "platform/cli/words.h"
#include "platform/config/options.h"
#include "platform/reproduce/reproduction.h"
#include "platform/results/compare.h"
#include "platform/run/dry_run.h"
#include "platform/run/plan_graph.h"
#include "platform/run/run.h"

namespace po = boost::program_options;

namespace stretto {

namespace {

std::vector<std::string> reproduction_names() {
  std::vector<std::string> names;
  for (const Reproduction& one : reproductions()) names.push_back(one.name);
  return names;
}

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
        name == "workload" || name == "name" || name == "topic" || name == "folder";
    throw UserError((positional ? name : "--" + name) + ": must not be empty");
  }
}

// Throws UserError. Words that are no options are values of `positional`, at most `count` (-1:
// any).
void parse(const Arguments& arguments, const std::string& command,
           const po::options_description& all, const char* positional, int count,
           po::variables_map& values) {
  po::positional_options_description order;
  if (count != 0) order.add(positional, count);
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
    throw UserError(fmt::format("{}; see 'stretto {} --help'", error.what(), command));
  }
}

// Likewise; true if --help was given (and answered). `headline`: "list TOPIC".
bool parse_or_help(const Arguments& arguments, const std::string& headline,
                   const po::options_description& visible, const po::options_description& hidden,
                   const char* positional, int count, po::variables_map& values) {
  po::options_description all;
  all.add(visible).add(hidden);
  parse(arguments, headline.substr(0, headline.find(' ')), all, positional, count, values);
  if (values.count("help") == 0) {
    refuse_empty(values);
    return false;
  }
  std::cout << "stretto " << headline << "\n\n" << visible;
  return true;
}

po::typed_value<std::string>* text(std::string& field, const char* shown) {
  return po::value(&field)->value_name(shown);
}

po::typed_value<std::vector<std::string>>* texts(std::vector<std::string>& field,
                                                 const char* shown) {
  return po::value(&field)->value_name(shown)->composing();
}

int command_run(const Arguments& arguments, const Arguments& command_line) {
  RunOptions options;
  PlanOptions plan;
  options.command_line = command_line;
  std::vector<std::string> impl;
  std::vector<std::string> preloads;
  std::string seed, time_limit, waves_limit;
  po::options_description visible("Options");
  // clang-format off
  visible.add_options()
    ("help,h",      "this text")
    ("machine",     text(options.machine, "M"),
                    "shipped machine or file.yaml; default: the workload's")
    ("mode",        text(options.mode, "NAME"),
                    "one of the workload's modes; default: its first")
    ("firmware",    text(options.firmware, "ELF"),
                    "firmware of the command processors")
    ("set",         texts(options.sets, "KEY=VALUE"),
                    "set a parameter; may be repeated")
    ("preload",     texts(preloads, "LIB"),
                    "of a program: a shared object that takes its calls before libstretto_cudart.so, as LD_PRELOAD; "
                    "may be repeated; --set program.preload")
    ("seed",        text(seed, "N")->default_value("1"),
                    "seed of operands")
    ("impl",        texts(impl, "BLOCK|all=KIND"),
                    "rtl (default), model or lockstep")
    ("data",        text(options.data, "stamp|real"),
                    "provenance stamps or FP16 numbers")
    ("out",         text(options.out, "DIR"),
                    "where stats.json, stats.csv, machine.yaml go; default: "
                    "results/WORKLOAD/MODE[@MACHINE, if given] below the working directory")
    ("profile",     texts(plan.profiles, "FILE"),
                    "of a graph: what an earlier run has measured (DIR/profile.json), for its plan; may be repeated")
    ("training",    po::bool_switch(&plan.training),
                    "of a graph: forward and backward")
    ("dry-run",     po::bool_switch(&options.dry_run),
                    "simulate nothing; print the workload, the machine as it resolves and its peaks")
    ("timeline",    po::bool_switch(&options.timeline),
                    "write DIR/timeline.json; open it in ui.perfetto.dev or chrome://tracing")
    ("timeline-window", text(options.timeline_window, "FROM..TO"),
                    "draw only what happens then: 10us..12us; implies --timeline")
    ("waves",       text(options.waves, "BLOCK[,..][@FROM..TO]"),
                    "write DIR/waves.fst (GTKWave) of RTL blocks: mca,tracker@10us..12us, mca[3], "
                    "gpu1.mca[0-3]")
    ("waves-limit", text(waves_limit, "MIB")->default_value("256"),
                    "size at which waves.fst ends")
    ("time-limit",  text(time_limit, "SECONDS"),
                    "of host time; default: none")
    ("progress",    po::bool_switch(&options.progress),
                    "progress on standard error from the start; without it after 2 s. One line on "
                    "a terminal, elsewhere a line every 5 s");
  // clang-format on
  po::options_description positional;
  positional.add_options()("workload", po::value(&options.workload), "");
  po::variables_map values;
  if (parse_or_help(
          arguments,
          "run [WORKLOAD] [options]\n\n"
          "WORKLOAD: one of 'stretto list workloads', a file.yaml, a program over nccl.h as "
          "./FILE.so,\nor a graph: FILE.onnx, or an application with its parameters as "
          "nerf:rows=1024 (nerf:, dlrm:, mgn:,\ngraphcast:, llama:, bert:). A graph has the modes "
          "kitsune, bsp and vertical",
          visible, positional, "workload", 1, values))
    return kExitSuccess;
  if (!preloads.empty()) options.sets.push_back("program.preload=" + joined(preloads, " ", " "));
  for (const std::string& text : impl) set_impl(text, options.impl);
  for (const std::string& name : block_names()) options.impl.emplace(name, Impl::rtl);
  options.waves_limit_mib =
      static_cast<uint32_t>(whole_number("waves-limit", waves_limit, 1, 65536));
  if (!values["waves-limit"].defaulted() && options.waves.empty())
    throw UserError("--waves-limit limits what --waves writes, and there is no --waves");
  options.seed = whole_number("seed", seed, 0, std::numeric_limits<uint64_t>::max());
  if (!options.timeline_window.empty()) options.timeline = true;
  if (values.count("time-limit") != 0) options.time_limit_s = seconds("time-limit", time_limit);
  if (!options.data.empty() && options.data != "stamp" && options.data != "real") {
    throw UserError("--data " + options.data + ": must be stamp or real");
  }
  PlannedGraph planned(options, plan);
  return run(options, planned.take_folder());
}

// What all commands have that run many simulations; `out` apart, whose default differs.
struct CampaignArguments {
  std::string jobs, time_limit;

  void add_to(po::options_description& visible, ReproduceOptions& options) {
    // clang-format off
    visible.add_options()
      ("jobs",       text(jobs, "N")->default_value("1"),
                     "simulations at a time")
      ("set",        texts(options.sets, "KEY=VALUE"),
                     "set a parameter in every simulation")
      ("impl",       text(options.impl, "all=KIND"),
                     "rtl (default), model or lockstep; results are the same")
      ("time-limit", text(time_limit, "SECONDS"),
                     "of host time for all simulations; results so far are kept");
    // clang-format on
  }
  // REQUIRES: the options were parsed.
  void apply(ReproduceOptions& options, const std::string& command,
             const Arguments& command_line) const {
    options.command = command;
    options.command_line = shell_quoted(command_line);
    options.jobs = static_cast<unsigned>(whole_number("jobs", jobs, 1, 256));
    if (!time_limit.empty())
      options.time_limit_s =
          static_cast<unsigned>(whole_number("time-limit", time_limit, 1, 1'000'000));
  }
};

// Options that every reproduction has.
void add_reproduce_options(po::options_description& visible, ReproduceOptions& options,
                           CampaignArguments& campaign) {
  // clang-format off
  visible.add_options()
    ("help,h",     "this text")
    ("figure",     text(options.figure, "ID"),
                   "only the targets of this figure or id (T3-R01)")
    ("out",        text(options.out, "DIR"),
                   "results, one folder a simulation (default: results/reproduce-NAME); what has "
                   "a result is not simulated again")
    ("table-only", po::bool_switch(&options.table_only),
                   "simulate nothing; table of the results that exist");
  // clang-format on
  campaign.add_to(visible, options);
}

po::options_description own_options(const Reproduction& one) {
  po::options_description own("Options of " + one.name);
  if (one.add_options != nullptr) one.add_options(own);
  return own;
}

bool has_option(const po::options_description& all, const std::string& name) {
  return all.find_nothrow(name, false) != nullptr;
}

// One reproduction if `name` is one, else all of them.
void print_reproduce_help(const po::options_description& common, const std::string& name) {
  std::cout << fmt::format("stretto reproduce {} [options]\n\n",
                           joined(reproduction_names(), "|", "|"));
  const bool is_known = std::any_of(reproductions().begin(), reproductions().end(),
                                    [&](const Reproduction& one) { return one.name == name; });
  std::vector<const Reproduction*> shown;
  for (const Reproduction& one : reproductions()) {
    if (!is_known || one.name == name) shown.push_back(&one);
  }
  for (const Reproduction* one : shown) {
    std::cout << fmt::format("  {:<14} {}\n", one->name, one->sentence);
    if (!one->figures.empty()) std::cout << fmt::format("{:17}--figure {}\n", "", one->figures);
    if (one->time_limit_s != 0)
      std::cout << fmt::format("{:17}--time-limit {} if not given\n", "", one->time_limit_s);
  }
  std::cout << "\n" << common;
  for (const Reproduction* one : shown) {
    if (one->add_options != nullptr) std::cout << "\n" << own_options(*one);
  }
}

// The reproduction that `arguments` name; null if they ask for help, which is printed.
const Reproduction* named_reproduction(const Arguments& arguments) {
  // Options of all reproductions, to tell their values from the name.
  ReproduceOptions options;
  CampaignArguments campaign;
  po::options_description common("Options"), all;
  add_reproduce_options(common, options, campaign);
  all.add(common);
  for (const Reproduction& one : reproductions()) {
    const po::options_description own = own_options(one);
    for (const auto& option : own.options()) {
      if (!has_option(all, option->long_name())) all.add(option);
    }
  }
  all.add_options()("name", po::value(&options.name), "");
  po::variables_map values;
  parse(arguments, "reproduce", all, "name", 1, values);
  if (values.count("help") != 0) {
    print_reproduce_help(common, options.name);
    return nullptr;
  }
  refuse_empty(values);
  if (options.name.empty())
    throw UserError("reproduce needs a name: " + joined(reproduction_names()) +
                    "; see 'stretto reproduce --help'");
  const Reproduction* named = nullptr;
  for (const Reproduction& one : reproductions()) {
    if (one.name == options.name) named = &one;
  }
  if (named == nullptr)
    throw UserError("reproduce " + options.name + ": must be " + joined(reproduction_names()));
  const po::options_description own = own_options(*named);
  for (const auto& [name, value] : values) {
    if (value.defaulted() || name == "name" || has_option(common, name) || has_option(own, name))
      continue;
    std::vector<std::string> owners;
    for (const Reproduction& one : reproductions()) {
      if (has_option(own_options(one), name)) owners.push_back(one.name);
    }
    throw UserError(fmt::format("--{}: only of reproduce {}", name, joined(owners)));
  }
  return named;
}

int command_reproduce(const Arguments& arguments, const Arguments& command_line) {
  const Reproduction* const named = named_reproduction(arguments);
  if (named == nullptr) return kExitSuccess;
  ReproduceOptions options;
  CampaignArguments campaign;
  po::options_description all;
  add_reproduce_options(all, options, campaign);
  all.add(own_options(*named));
  all.add_options()("name", po::value(&options.name), "");
  po::variables_map values;
  parse(arguments, "reproduce", all, "name", 1, values);
  if (named->figures.empty() && !options.figure.empty())
    throw UserError(fmt::format("--figure: {} has none", named->name));
  if (options.out.empty()) options.out = "results/reproduce-" + named->name;
  options.time_limit_s = named->time_limit_s;
  campaign.apply(options, "reproduce " + named->name, command_line);
  return named->run(options, values);
}

int command_characterise(const Arguments& arguments, const Arguments& command_line) {
  CharacteriseOptions options;
  ReproduceOptions& campaign = options.campaign;
  CampaignArguments common;
  po::options_description visible("Options"), positional;
  // clang-format off
  visible.add_options()
    ("help,h",     "this text")
    ("machine",    text(options.machine, "M"),
                   "shipped machine or file.yaml; default: the workloads'")
    ("mode",       text(options.mode, "NAME"),
                   "of all workloads, those of --check apart; default: the first of each")
    ("bodies",     text(options.bodies, "FILE")->default_value("bodies.txt"),
                   "the table; what it has of the same machine stays in it")
    ("check",      texts(options.checks, "WORKLOAD[:MODE]"),
                   "compare a sampled with a simulated run of it, too, without measuring it: times, and p50, p99 "
                   "and rate of each client; may be repeated")
    ("no-check",   po::bool_switch(&options.no_check),
                   "measure only: the table then has no errors")
    ("out",        text(campaign.out, "DIR")->default_value("results/characterise"),
                   "results, a folder a simulation; what has a result is not simulated again");
  // clang-format on
  common.add_to(visible, campaign);
  positional.add_options()("workload", po::value(&options.workloads), "");
  po::variables_map values;
  if (parse_or_help(arguments,
                    "characterise WORKLOAD... [options]\n\n"
                    "Simulates each workload four times, with all work-groups that fit on a "
                    "compute unit, half "
                    "of them, one,\nand one on every eighth unit, and notes what work-groups of "
                    "its kernels take. "
                    "Runs with\n--set gpu.executor=sampled --set sampled.bodies=FILE then take "
                    "such times. Then "
                    "compares sampled with\nsimulated runs, and notes the errors",
                    visible, positional, "workload", -1, values))
    return kExitSuccess;
  if (options.workloads.empty())
    throw UserError(
        "characterise needs a workload: one of 'stretto list workloads', a file.yaml or what else "
        "'stretto run' takes");
  common.apply(campaign, "characterise", command_line);
  return characterise(options);
}

int command_sweep(const Arguments& arguments, const Arguments& command_line) {
  SweepOptions options;
  ReproduceOptions& campaign = options.campaign;
  CampaignArguments common;
  po::options_description visible("Options"), positional;
  // clang-format off
  visible.add_options()
    ("help,h",     "this text")
    ("vary",       texts(options.vary, "KEY=V,V,.."),
                   "values of a parameter ('stretto list parameters'), of mode or of machine, one with commas in double "
                   "quotes; may be repeated: all combinations, the last varies fastest")
    ("value",      texts(options.values, "PLACE"),
                   "a column of the table: a place in stats.json, as time_ns.compute, job.sizes.0.rate_gb_s or "
                   "statistics.*.l2.hits.* (sum of what matches); may be repeated")
    ("machine",    text(options.machine, "M"),
                   "shipped machine or file.yaml; default: the workload's")
    ("mode",       text(options.mode, "NAME"),
                   "one of the workload's modes; default: its first")
    ("out",        text(campaign.out, "DIR"),
                   "results (default: results/sweep/WORKLOAD): sweep.csv, sweep.json, a picture, and a folder a "
                   "simulation; what has a result is not simulated again")
    ("table-only", po::bool_switch(&campaign.table_only),
                   "simulate nothing; table of the results that exist");
  // clang-format on
  common.add_to(visible, campaign);
  positional.add_options()("workload", po::value(&options.workload), "");
  po::variables_map values;
  if (parse_or_help(arguments,
                    "sweep WORKLOAD --vary KEY=V,V,.. [options]\n\n"
                    "Simulates a workload with every combination of values: time, its ratio to the "
                    "first one's, and what\n--value asks for. 'stretto compare' shows single "
                    "results in full",
                    visible, positional, "workload", 1, values))
    return kExitSuccess;
  if (options.workload.empty())
    throw UserError("sweep needs a workload: one of 'stretto list workloads' or a file.yaml");
  if (campaign.out.empty()) campaign.out = "results/sweep" / folder_of(options.workload);
  common.apply(campaign, "sweep", command_line);
  return sweep(options);
}

int command_list(const Arguments& arguments, const Arguments&) {
  std::vector<std::string> words;
  bool names = false;
  po::options_description visible("Options"), positional;
  // clang-format off
  visible.add_options()
    ("help,h", "this text")
    ("names",  po::bool_switch(&names), "names alone, one a line, for scripts");
  // clang-format on
  positional.add_options()("topic", po::value(&words), "");
  po::variables_map values;
  if (parse_or_help(arguments, "list " + joined(list_topics(), "|", "|") + " [NAME]", visible,
                    positional, "topic", 2, values))
    return kExitSuccess;
  if (words.empty()) throw UserError("list needs a topic: " + joined(list_topics()));
  return list(words[0], words.size() == 2 ? words[1] : "", names);
}

int command_show(const Arguments& arguments, const Arguments&) {
  std::string name;
  std::vector<std::string> sets;
  po::options_description visible("Options"), positional;
  // clang-format off
  visible.add_options()
    ("help,h", "this text")
    ("set",    texts(sets, "KEY=VALUE"), "set a parameter; may be repeated");
  // clang-format on
  positional.add_options()("machine", po::value(&name), "");
  po::variables_map values;
  if (parse_or_help(arguments, "show MACHINE|WORKLOAD", visible, positional, "machine", 1, values))
    return kExitSuccess;
  if (name.empty())
    throw UserError(
        "show needs a machine: one of 'stretto list machines' or a file.yaml, or a workload: one "
        "of "
        "'stretto list workloads' or a file");
  Machine machine;
  if (is_workload_name(name)) {
    RunOptions options;
    options.workload = name;
    options.sets = sets;
    set_impl("all=rtl", options.impl);
    std::cout << resolved_text(prepare_request(options, machine));
    return kExitSuccess;
  }
  machine.load(name);
  for (const std::string& set : sets) machine.set(set);
  machine.check();
  std::cout << machine_file(machine);
  return kExitSuccess;
}

int print_results(const Arguments& arguments, const std::string& headline, bool many) {
  std::vector<std::string> folders;
  po::options_description visible("Options"), positional;
  visible.add_options()("help,h", "this text");
  positional.add_options()("folder", po::value(&folders), "");
  po::variables_map values;
  if (parse_or_help(arguments, headline, visible, positional, "folder", -1, values))
    return kExitSuccess;
  if (many && folders.size() < 2)
    throw UserError("compare needs two result folders or more; 'stretto report DIR' shows one");
  if (!many && folders.size() != 1) throw UserError("report needs one result folder");
  return compare(folders);
}

int command_report(const Arguments& arguments, const Arguments&) {
  return print_results(arguments, "report DIR", false);
}

int command_compare(const Arguments& arguments, const Arguments&) {
  return print_results(arguments, "compare DIR DIR...", true);
}

struct Command {
  const char* name;
  const char* arguments;
  const char* sentence;
  int (*run)(const Arguments& arguments, const Arguments& command_line);
};

// clang-format off
constexpr Command kCommands[] = {
    {"run",       "[WORKLOAD] [options]", "simulate one workload, or boot firmware",                  command_run},
    {"show",      "MACHINE|WORKLOAD",     "print a machine as a file of all its keys, and its peaks", command_show},
    {"reproduce", "NAME [options]",       "a table of published results: published, measured, verdict", command_reproduce},
    {"characterise", "WORKLOAD... [options]", "measure kernels for gpu.executor=sampled",             command_characterise},
    {"sweep",     "WORKLOAD --vary KEY=V,V", "a workload with all combinations of values, as a table", command_sweep},
    {"list",      "TOPIC",                "what ships, what can be set",                              command_list},
    {"report",    "DIR",                  "print the results in DIR",                                 command_report},
    {"compare",   "DIR DIR...",           "results side by side; ratios are to the first",            command_compare},
};
// clang-format on

std::string usage() {
  std::string text =
      "Stretto simulates multi-GPU machines whose communication overlaps their computation.\n\n";
  for (const Command& one : kCommands)
    text += fmt::format("  stretto {:<30} {}\n", fmt::format("{} {}", one.name, one.arguments),
                        one.sentence);
  text += fmt::format(
      "\n"
      "NAME: {}. TOPIC: {}.\n"
      "'stretto COMMAND --help' explains a command. 'stretto --version' prints version and "
      "commit.\n"
      "Exit status: 0 success, 1 a check failed, 2 bad usage or input or results that cannot be "
      "written,\n124 time limit, 129, 130, 143 interrupted by SIGHUP, SIGINT, SIGTERM (results so "
      "far are kept;\na second signal some seconds later ends at once).\n",
      joined(reproduction_names()), joined(list_topics()));
  return text;
}

int run_command(const std::string& name, const Arguments& command_line) {
  const Arguments arguments(command_line.begin() + 2, command_line.end());
  for (const Command& one : kCommands) {
    if (name == one.name) return one.run(arguments, command_line);
  }
  throw UserError(fmt::format("unknown command '{}'; must be {}; see 'stretto --help'", name,
                              joined(command_names())));
}

int run_cli(int argc, char* argv[]) {
  try {
    if (argc < 2) {
      std::cerr << usage();
      return kExitUsage;
    }
    const std::string name = argv[1];
    if (name == "--help" || name == "-h" || name == "help") {
      std::cout << usage();
      return kExitSuccess;
    }
    if (name == "--version") {
      std::cout << version_text() << "\n";
      return kExitSuccess;
    }
    return run_command(name, Arguments(argv, argv + argc));
  } catch (const UserError& error) {
    say(error.what());
    return kExitUsage;
  } catch (const Interrupted& error) {
    say(error.what());
    return kExitSignal + error.signal;
  } catch (const CheckError& error) {
    say(error.what());
    return kExitCheckFailed;
  } catch (const std::filesystem::filesystem_error& error) {
    say(error.path1().string() + ": " + error.code().message());
    return kExitUsage;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::no_space_on_device || error.code() == std::errc::broken_pipe ||
        error.code() == std::errc::bad_file_descriptor || error.code() == std::errc::io_error) {
      say("standard output cannot be written (" + error.code().message() + ")");
      return kExitUsage;
    }
    say(
        fmt::format("the system gives no more threads or memory ({}); raise its limits: ulimit -v, "
                    "ulimit -u",
                    error.what()));
    return kExitUsage;
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
    return kExitUsage;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    if (text.find("failed to allocate stack memory") != std::string::npos) {  // SystemC's E518.
      say("no memory for the stack of a host program; raise ulimit -v");
      return kExitUsage;
    }
    say(text);
    return kExitCheckFailed;
  }
}

}  // namespace

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& one : kCommands) names.emplace_back(one.name);
  return names;
}

int cli(int argc, char* argv[]) {
  const int status = run_cli(argc, argv);
  // What nobody could read was not said.
  errno = 0;
  if (std::cout.flush() && std::fflush(stdout) == 0) return status;
  const std::string reason = errno == 0 ? "" : fmt::format(" ({})", std::strerror(errno));
  say("standard output cannot be written" + reason);
  return status == kExitSuccess ? kExitUsage : status;
}

}  // namespace stretto
