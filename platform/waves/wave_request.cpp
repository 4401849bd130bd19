// SPDX-License-Identifier: Apache-2.0
#include "platform/waves/wave_request.h"

#include <algorithm>
#include <regex>

#include "models/common/error.h"
#include "models/common/spec.h"

namespace stretto {

namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw UserError("--waves " + text + ": " + why);
}

[[noreturn]] void refuse_window(const std::string& option, const std::string& why) {
  throw UserError(option + ": " + why);
}

Time parse_time(const std::string& whole, const std::string& text, Time if_empty) {
  if (text.empty()) return if_empty;
  static const std::regex form("([0-9]{1,9})(?:\\.([0-9]{1,15}))?(fs|ps|ns|us|ms)");
  std::smatch part;
  if (!std::regex_match(text, part, form))
    refuse_window(whole, "'" + text + "' is not a time; write it like 10us, 10.5us, 800ns or 2ms");
  static const std::map<std::string, Time> units{{"fs", 1},
                                                 {"ps", kPicosecond},
                                                 {"ns", kNanosecond},
                                                 {"us", kMicrosecond},
                                                 {"ms", 1000 * kMicrosecond}};
  Time unit = units.at(part[3]);
  constexpr uint64_t kLongest = 3'600'000'000'000'000'000;  // An hour of machine time.
  const uint64_t count = std::stoull(part[1]);
  if (count > kLongest / unit) refuse_window(whole, "'" + text + "' is beyond any run");
  Time time = count * unit;
  for (const char digit : part[2].str()) {
    unit /= 10;
    time += static_cast<unsigned>(digit - '0') * unit;
  }
  return time;
}

WaveRange parse_range(const std::string& whole, const std::string& text) {
  const size_t dash = text.find('-');
  WaveRange range;
  range.first = static_cast<unsigned>(std::stoul(text.substr(0, dash)));
  range.last = dash == std::string::npos ? range.first
                                         : static_cast<unsigned>(std::stoul(text.substr(dash + 1)));
  if (range.last < range.first) refuse(whole, text + " goes backwards");
  return range;
}

WaveItem parse_item(const std::string& whole, const std::string& text) {
  static const std::regex form(
      "(?:gpu(\\*|[0-9]{1,4}|\\[[0-9]{1,4}-[0-9]{1,4}\\])\\.)?([A-Za-z_0-9]+)"
      "(?:\\[([0-9]{1,4}(?:-[0-9]{1,4})?)\\])?");
  std::smatch part;
  if (!std::regex_match(text, part, form)) {
    refuse(whole, "'" + text + "' is not BLOCK, BLOCK[3], BLOCK[0-3] or gpu1.BLOCK[0-3]");
  }
  WaveItem item;
  item.text = text;
  item.block = part[2];
  std::string gpu = part[1];
  std::erase_if(gpu, [](char c) { return c == '[' || c == ']'; });
  if (gpu == "*") {
    item.gpus = WaveRange();
  } else if (!gpu.empty()) {
    item.gpus = parse_range(whole, gpu);
  }
  if (part[3].matched) item.instances = parse_range(whole, part[3]);
  const std::vector<std::string> names = block_names();
  if (item.block != "all" && std::find(names.begin(), names.end(), item.block) == names.end()) {
    const std::string near = nearest_names(item.block, names);
    refuse(whole, "no block '" + item.block + "'" + (near.empty() ? "" : "; nearest: " + near) +
                      "; 'stretto list blocks' shows all");
  }
  return item;
}

}  // namespace

TimeWindow parse_window(const std::string& option, const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos)
    refuse_window(option, "'" + text + "' is not FROM..TO, for example 10us..12us");
  if (text == "..")
    refuse_window(option, "a window has a begin or an end, for example 10us.. or ..12us");
  TimeWindow window;
  window.from = parse_time(option, text.substr(0, dots), 0);
  window.to = parse_time(option, text.substr(dots + 2), kNever);
  if (window.from >= window.to) refuse_window(option, "the window must end after it begins");
  return window;
}

WaveRequest parse_waves(const std::string& text) {
  WaveRequest request;
  const size_t at = text.find('@');
  if (at != std::string::npos) {
    const TimeWindow window = parse_window("--waves " + text, text.substr(at + 1));
    request.from = window.from;
    request.to = window.to;
  }
  const std::string blocks = text.substr(0, at);
  for (size_t begin = 0; begin <= blocks.size();) {
    const size_t end = std::min(blocks.find(',', begin), blocks.size());
    request.items.push_back(parse_item(text, blocks.substr(begin, end - begin)));
    begin = end + 1;
  }
  return request;
}

void check_waves(const WaveRequest& request, unsigned gpus,
                 const std::map<std::string, unsigned>& instances,
                 const std::map<std::string, Impl>& impl) {
  for (const WaveItem& item : request.items) {
    if (item.gpus.bounded() && item.gpus.last >= gpus)
      refuse(item.text, "the simulated machine has GPU 0.." + std::to_string(gpus - 1));
    if (item.block == "all") continue;
    if (impl.at(item.block) == Impl::model) {
      refuse(item.text, item.block + " runs as its reference model (--impl " + item.block +
                            "=model): there is no RTL to look at");
    }
    const unsigned count = instances.at(item.block);
    if (item.instances.bounded() && item.instances.last >= count)
      refuse(item.text, "a GPU has " + item.block + " 0.." + std::to_string(count - 1));
  }
  const auto is_rtl = [](const auto& entry) { return entry.second != Impl::model; };
  if (std::none_of(impl.begin(), impl.end(), is_rtl))
    refuse(request.items.front().text, "all blocks run as models: there is no RTL to look at");
}

}  // namespace stretto
