// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/plot.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "platform/base/atomic_file.h"

namespace stretto {

namespace {

// For a string in double quotes of gnuplot.
std::string gnuplot_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
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
    for (const auto& [x, y] : plot.lines[i].points) {
      const std::string at = plot.bars.empty() ? fmt::format("{:.9g}", x)
                                               : gnuplot_text(plot.bars.at(static_cast<size_t>(x)));
      text += fmt::format("{} {:.9g}\n", at, y);
    }
    text += "EOD\n";
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

}  // namespace

void write_plot(const std::string& stem, const Plot& plot) {
  std::string script = "# gnuplot " + stem + ".gp\n" + body(plot);
  for (const char* kind : {"svg", "png"}) {
    script += "set terminal " + std::string(kind) + " size 900,540\nset output " +
              gnuplot_text(stem + "." + kind) + "\n" + drawing(plot);
  }
  write_atomically(stem + ".gp", script);
  std::FILE* const gnuplot = popen("gnuplot >/dev/null 2>&1", "w");
  bool drawn = gnuplot != nullptr;
  if (drawn) {
    std::fwrite(script.data(), 1, script.size(), gnuplot);
    drawn = pclose(gnuplot) == 0;
  }
  static bool said = false;
  if (!drawn && !said) {
    std::fprintf(
        stderr,
        "stretto: gnuplot draws no pictures (package gnuplot-nox); the scripts are there: %s.gp\n",
        stem.c_str());
    said = true;
  }
}

}  // namespace stretto
