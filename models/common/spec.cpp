// SPDX-License-Identifier: Apache-2.0
// Setting parameters and telling what was wrong with them: models/common/spec.h.
#include "models/common/spec.h"

#include <algorithm>
#include <cctype>

#include "models/common/error.h"

namespace stretto {

namespace {

// Levenshtein distance, case-insensitive.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = std::tolower(a[i - 1]) == std::tolower(b[j - 1]);
      const size_t value = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (same ? 0 : 1)});
      diagonal = row[j];
      row[j] = value;
    }
  }
  return row[b.size()];
}

std::string last_part(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

}  // namespace

std::string nearest_names(const std::string& wanted, const std::vector<std::string>& names,
                          size_t count) {
  std::vector<std::pair<size_t, std::string>> scored;
  for (const std::string& name : names) {
    size_t score = distance(wanted, name);
    // The right name in the wrong group is near as well.
    score = std::min(score, 2 + distance(last_part(wanted), last_part(name)));
    if (name.find(wanted) != std::string::npos) score = std::min<size_t>(score, 2);
    if (score <= std::max<size_t>(3, wanted.size() / 3)) scored.emplace_back(score, name);
  }
  std::sort(scored.begin(), scored.end());
  std::string text;
  for (size_t i = 0; i < scored.size() && i < count; ++i)
    text += (i ? ", " : "") + scored[i].second;
  return text;
}

bool ParameterSet::parse_integer(const std::string& text, uint64_t& value) {
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits += c;
  }
  if (digits.empty() || !std::isdigit(static_cast<unsigned char>(digits[0]))) return false;
  try {
    size_t used = 0;
    const bool hex =
        digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    value = std::stoull(digits, &used, hex ? 16 : 10);
    return used == digits.size();
  } catch (const std::exception&) {
    return false;
  }
}

void ParameterSet::add(const std::string& name, const char* type, std::string range,
                       const char* sentence, std::function<std::string()> get,
                       std::function<bool(const std::string&)> set) {
  Parameter parameter{prefix_ + name, type,      std::move(range), "",
                      sentence,       "default", std::move(get),   std::move(set)};
  parameter.fallback = parameter.get();
  all_.push_back(std::move(parameter));
}

const Parameter* ParameterSet::find(const std::string& path) const {
  for (const Parameter& parameter : all_) {
    if (parameter.path == path) return &parameter;
  }
  return nullptr;
}

bool ParameterSet::is_group(const std::string& path) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Parameter& p) {
    return p.path.compare(0, path.size() + 1, path + ".") == 0;
  });
}

void ParameterSet::assign(const std::string& path, const std::string& value,
                          const std::string& where, const std::string& origin,
                          const std::vector<std::string>& also) {
  for (Parameter& parameter : all_) {
    if (parameter.path != path) continue;
    if (!parameter.set(value)) {
      throw UserError(where + ": " + path + " = '" + value + "' is not allowed; allowed: " +
                      parameter.type + (parameter.range.empty() ? "" : " " + parameter.range));
    }
    parameter.origin = origin;
    return;
  }
  if (is_group(path))
    throw UserError(where + ": " + path + " is a group of parameters, not one; give " + path +
                    ".NAME");
  std::vector<std::string> names = also;
  for (const Parameter& parameter : all_) names.push_back(parameter.path);
  const std::string near = nearest_names(path, names);
  throw UserError(where + ": unknown parameter '" + path + "'" +
                  (near.empty() ? "; 'stretto list parameters' shows all" : "; nearest: " + near));
}

}  // namespace stretto
