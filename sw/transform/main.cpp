// SPDX-License-Identifier: Apache-2.0
// stretto-transform: the command line of transform.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/program_options.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "sw/transform/transform.h"

namespace po = boost::program_options;
using namespace stretto::transform;

namespace {

constexpr int kUsage = 2;
constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr const char* kHelp =
    "stretto-transform IN.elf --form slice|preempt [-o OUT.elf] [--kernel K] ...\n\n"
    "Rewrites kernels so that a launch runs a slice of the grid, or workers that take tasks in a\n"
    "loop and stop when told to. Exit status: 0, or 2 if nothing could be transformed.\n";

struct Command {
  std::string input, output;
  Options options;
  bool explain = false;
};

// Files that never end are read up to the limit.
std::vector<uint8_t> read(const std::string& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) throw Refused("is a folder");
  if (std::filesystem::is_fifo(path, none)) throw Refused("is no regular file");
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes;
  while (file && bytes.size() <= kMaxFileBytes) {
    const size_t begin = bytes.size();
    bytes.resize(begin + kPieceBytes);
    file.read(reinterpret_cast<char*>(bytes.data() + begin), kPieceBytes);
    bytes.resize(begin + static_cast<size_t>(file.gcount()));
  }
  if (!file.eof() && bytes.size() <= kMaxFileBytes) throw Refused("cannot be read");
  return bytes;
}

// As errno has it.
struct NotWritten : std::runtime_error {
  explicit NotWritten(const std::string& file)
      : std::runtime_error(fmt::format("{}: cannot be written ({})", file, std::strerror(errno))) {}
};

bool write_all(int file, const std::vector<uint8_t>& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

// Complete or not at all: written beside its place, then renamed into it. A device or a pipe stays
// what it is.
void write_output(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::error_code none;
  const bool exists = std::filesystem::exists(path, none);
  const bool replaces = !exists || std::filesystem::is_regular_file(path, none);
  const std::string target =
      exists && replaces ? std::filesystem::canonical(path, none).string() : path;
  const std::string place = replaces ? fmt::format("{}.tmp.{}", target, getpid()) : path;
  const int file = open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw NotWritten(path);
  const auto require = [&](bool succeeded) {
    if (succeeded) return;
    const NotWritten reason(path);
    if (replaces) unlink(place.c_str());
    throw reason;
  };
  const bool written = write_all(file, bytes);
  const int reason = errno;
  const bool closed = close(file) == 0;
  if (!written) errno = reason;
  require(written && closed);
  require(!replaces || rename(place.c_str(), target.c_str()) == 0);
}

void explain(const Result& result) {
  for (const Outcome& outcome : result.kernels) {
    if (!outcome.refusal.empty()) continue;
    fmt::print("{}:\n", outcome.kernel);
    for (const Patch& patch : outcome.patches)
      fmt::print("  {:6x}  {:08x} -> {:08x}  {}\n", patch.address, patch.before, patch.after,
                 patch.what);
  }
  fmt::print("stubs:\n");
  for (const Line& line : result.stubs)
    fmt::print("  {:6x}  {:08x}  {:10}  {}\n", line.address, line.word, decode(line.word).name,
               line.what);
}

void report(const Command& command, const Result& result) {
  size_t transformed = 0;
  for (const Outcome& outcome : result.kernels) {
    transformed += outcome.refusal.empty();
    const bool asked = command.options.kernel.empty() || command.options.kernel == outcome.kernel;
    if (!outcome.refusal.empty() && (asked || outcome.faults)) {
      fmt::print(
          stderr, "{}: {} stays as it is: {}{}\n", command.input, outcome.kernel, outcome.refusal,
          outcome.faults ? "; it may run into rewritten code, so that a launch of it faults" : "");
    }
    for (const std::string& warning : outcome.warnings)
      if (outcome.refusal.empty())
        fmt::print(stderr, "{}: {} {}\n", command.input, outcome.kernel, warning);
  }
  fmt::print("{} of {} kernels transformed\n", transformed, result.kernels.size());
}

void require_name(const po::variables_map& values, const char* option) {
  if (values.count(option) != 0 && values[option].as<std::string>().empty())
    throw po::error(std::string("--") + option + ": an empty name");
}

Form form_of(const std::string& name) {
  if (name == "slice") return Form::slice;
  if (name == "preempt") return Form::preempt;
  throw po::error("--form " + name + ": slice or preempt");
}

Isa isa_of(const std::string& name) {
  if (name == "tile") return Isa::tile;
  if (name == "stock") return Isa::stock;
  throw po::error("--isa " + name + ": tile or stock");
}

// Nothing: help was asked for.
bool parse(int argc, char** argv, Command& command) {
  po::options_description options("Options");
  std::string form, isa;
  options.add_options()("help,h", "this text")(
      "form", po::value(&form)->required(),
      "slice: a launch begins at any work-group; preempt: workers")(
      "output,o", po::value(&command.output), "file to write; without it only the report")(
      "kernel", po::value(&command.options.kernel), "one kernel alone; without it all that can be")(
      "isa", po::value(&isa)->default_value("tile"),
      "preempt: tile, or stock: without tile.vote and tile.release")(
      "zero-private", po::bool_switch(&command.options.zero_private),
      "preempt: clear private memory before each task, for kernels that take it to be zero")(
      "explain", po::bool_switch(&command.explain), "print every word that is new")(
      "input", po::value(&command.input)->required(), "kernel ELF, also without --input");
  po::positional_options_description place;
  place.add("input", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(options).positional(place).run(), values);
  if (values.count("help") != 0) {
    std::ostringstream text;
    text << kHelp << '\n' << options;
    fmt::print("{}", text.str());
    return false;
  }
  po::notify(values);
  for (const char* option : {"input", "output", "kernel"}) require_name(values, option);
  command.options.form = form_of(form);
  command.options.isa = isa_of(isa);
  for (const char* option : {"isa", "zero-private"})
    if (command.options.form == Form::slice && !values[option].defaulted())
      throw po::error(std::string("--") + option + " is of --form preempt; slices need none");
  return true;
}

// Where print() would throw, nobody reads.
template <class... T>
void complain(fmt::format_string<T...> format, T&&... values) {
  std::fputs(fmt::format(format, std::forward<T>(values)...).c_str(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
  Command command;
  try {
    if (!parse(argc, argv, command)) return 0;
    const Result result = transform(read(command.input), command.options);
    if (!command.output.empty()) write_output(command.output, result.elf);
    if (command.explain) explain(result);
    report(command, result);
    if (std::fflush(stdout) != 0) throw NotWritten("standard output");
    return 0;
  } catch (const po::error& error) {
    complain("stretto-transform: {}; --help says more\n", error.what());
  } catch (const Refused& refused) {
    complain("{}: {}\n", command.input, refused.what());
  } catch (const NotWritten& error) {
    complain("{}\n", error.what());
  } catch (const std::system_error& error) {  // Of print().
    complain("standard output: cannot be written ({})\n", error.code().message());
  }
  return kUsage;
}
