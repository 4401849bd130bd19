// SPDX-License-Identifier: Apache-2.0
// Pictures of results: lines over x, or bars of named things, drawn by gnuplot into SVG and PNG.
#ifndef STRETTO_PLATFORM_CAMPAIGN_PLOT_H_
#define STRETTO_PLATFORM_CAMPAIGN_PLOT_H_

#include <string>
#include <utility>
#include <vector>

namespace stretto {

struct PlotLine {
  std::string title;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string title;
  std::string x;
  std::string y;
  bool log_x = false;  // Base 2.
  bool log_y = false;
  std::vector<PlotLine> lines;
  std::vector<std::string> bars = {};  // Names instead of x: a line has a bar at each; none: lines.
  bool is_stacked = false;
};

// Writes STEM.svg and STEM.png, and STEM.gp from which gnuplot makes them. Says on standard error,
// once, if gnuplot is not installed; then there is only STEM.gp. UserError if a picture finds no
// room: an earlier one stays then.
void write_plot(const std::string& stem, const Plot& plot);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_PLOT_H_
