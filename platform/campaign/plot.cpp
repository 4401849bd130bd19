// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "platform/base/atomic_file.h"

namespace stretto {

namespace fs = std::filesystem;

namespace {

constexpr const char* kKinds[] = {"svg", "png"};

// One line: what is between lines or no character ends no comment, string or row of data.
std::string plain_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

// A string in single quotes of gnuplot, in which nothing is replaced or run.
std::string gnuplot_text(const std::string& text) {
  std::string out = "'";
  for (const char c : plain_line(text)) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

// A field of its data.
std::string gnuplot_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : plain_line(text)) out += c == '"' || c == '\\' ? '_' : c;
  return out + "\"";
}

// Rows of a block of data. Of bars each line has all, where it has no point an empty one.
std::string rows_of(const Plot& plot, const PlotLine& line) {
  std::string text;
  if (plot.bars.empty()) {
    for (const auto& [x, y] : line.points) text += fmt::format("{:.9g} {:.9g}\n", x, y);
    return text;
  }
  for (size_t bar = 0; bar < plot.bars.size(); ++bar) {
    const auto point = std::find_if(line.points.begin(), line.points.end(), [&](const auto& one) {
      return one.first == static_cast<double>(bar);
    });
    text += gnuplot_field(plot.bars[bar]) +
            (point == line.points.end() ? " ?\n" : fmt::format(" {:.9g}\n", point->second));
  }
  return text;
}

std::string body(const Plot& plot) {
  std::string text = fmt::format(
      "set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\nset grid\n"
      "set key outside right noenhanced\nset tics out\n",
      gnuplot_text(plot.title), gnuplot_text(plot.x), gnuplot_text(plot.y));
  if (plot.log_x) text += "set logscale x 2\nset format x \"2^{%L}\"\n";
  text += plot.log_y ? "set logscale y 10\n" : "set yrange [0:]\n";
  if (!plot.bars.empty())
    text += fmt::format(
        "set style data histograms\nset style histogram {}\nset style fill solid border -1\n"
        "set boxwidth 0.8\nset xtics rotate by -45 noenhanced\n",
        plot.is_stacked ? "rowstacked" : "clustered");
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    text += fmt::format("$line{} << EOD\n", i);
    text += rows_of(plot, plot.lines[i]) + "EOD\n";
  }
  return text;
}

std::string drawing(const Plot& plot) {
  std::string text = "plot ";
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::string("$line") + std::to_string(i) +
            (plot.bars.empty() ? "" : " using 2:xtic(1)") +
            (plot.bars.empty() ? " with linespoints" : "") + " title " +
            gnuplot_text(plot.lines[i].title);
  }
  return text + "\n";
}

// Gnuplot ends well also where its picture found no room: is the end of the file that of its kind?
bool is_whole(const std::string& file, const std::string& kind) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in.tellg();
  std::string end(static_cast<size_t>(std::clamp<std::streamoff>(size, 0, 16)), '\0');
  in.seekg(size - static_cast<std::streamoff>(end.size()));
  in.read(end.data(), static_cast<std::streamsize>(end.size()));
  return end.find(kind == "svg" ? "</svg>" : "IEND") != std::string::npos;
}

// Whether there is a gnuplot that took the script to its end.
bool run_gnuplot(const std::string& script) {
  const auto earlier = std::signal(SIGPIPE, SIG_IGN);  // Nobody reads if there is no gnuplot.
  std::FILE* const gnuplot = popen("gnuplot >/dev/null 2>&1", "w");
  if (gnuplot != nullptr) std::fwrite(script.data(), 1, script.size(), gnuplot);
  const bool drawn = gnuplot != nullptr && pclose(gnuplot) == 0;
  std::signal(SIGPIPE, earlier);
  return drawn;
}

}  // namespace

void write_plot(const std::string& stem, const Plot& plot) {
  const std::string head =
      "# gnuplot " + plain_line(stem) + ".gp\nset datafile missing '?'\n" + body(plot);
  const auto script = [&](const std::string& output_suffix) {
    std::string text = head;
    for (const char* kind : kKinds)
      text += std::string("set terminal ") + kind + " size 900,540\nset output " +
              gnuplot_text(stem + "." + kind + output_suffix) + "\n" + drawing(plot);
    return text;
  };
  write_atomically(stem + ".gp", script(""));
  const std::string suffix = temporary_suffix();
  const bool drawn = run_gnuplot(script(suffix));
  static bool said = false;
  if (!drawn && !said) {
    std::fprintf(
        stderr,
        "stretto: gnuplot draws no pictures (package gnuplot-nox); the scripts are there: %s.gp\n",
        stem.c_str());
    said = true;
  }
  std::string cut;
  for (const char* kind : kKinds) {
    const std::string file = stem + "." + kind;
    std::error_code error;
    const bool whole = drawn && is_whole(file + suffix, kind);
    if (whole) fs::rename(file + suffix, file, error);
    if (whole && !error) continue;
    if (drawn && cut.empty()) cut = file;
    fs::remove(file + suffix, error);
  }
  if (!cut.empty())
    throw UserError(cut + ": gnuplot could not write the whole picture (is the disk full?); " +
                    stem + ".gp draws it");
}

}  // namespace stretto
