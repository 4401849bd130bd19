// SPDX-License-Identifier: Apache-2.0
// Parameters, declared once. A component has a plain struct of fields with defaults (its Spec) and
// beside it
//
//   inline void describe(HbmSpec& spec, ParameterSet& set) {
//     set.number("channels", spec.channels, 1, 64, "Channels of the stack.");
//     set.choice("write_policy", spec.write_policy, {{"mixed", WritePolicy::mixed}, ...}, "How
//     writes ...");
//   }
//
// From these lines come the parser of machine files and --set, `stretto list parameters`, the
// resolved configuration beside every result, and the messages about unknown keys, wrong types and
// values out of range.
//
// Invariants: (1) a path names one field; (2) a field changes only through assign(), which checks
// it; (3) `origin` remembers who set a value last, for the resolved configuration. The set keeps
// pointers into the described structs: they must outlive it and must not move.
#ifndef STRETTO_MODELS_COMMON_SPEC_H_
#define STRETTO_MODELS_COMMON_SPEC_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stretto {

struct Parameter {
  std::string path;      // "hbm.channels".
  std::string type;      // "integer", "flag", "text" or "one of a|b|c".
  std::string range;     // "1..64"; empty where the type says it all.
  std::string fallback;  // The default, as text.
  std::string sentence;
  std::string origin = "default";
  std::function<std::string()> get;
  std::function<bool(const std::string&)> set;  // False: wrong type or out of range.
};

class ParameterSet {
 public:
  // Prefix of the names that follow: "hbm"; groups nest through describe_group().
  template <class Spec>
  void group(const std::string& name, Spec& spec) {
    const std::string outer = prefix_;
    prefix_ += name + ".";
    describe(spec, *this);
    prefix_ = outer;
  }

  // A whole number in [low, high]. Accepts 0x and digit-group underscores.
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  void number(const std::string& name, Integer& field, uint64_t low, uint64_t high,
              const char* sentence) {
    add(
        name, "integer", std::to_string(low) + ".." + std::to_string(high), sentence,
        [&field] { return std::to_string(static_cast<uint64_t>(field)); },
        [&field, low, high](const std::string& text) {
          uint64_t value = 0;
          if (!parse_integer(text, value) || value < low || value > high) return false;
          if (value > static_cast<uint64_t>(std::numeric_limits<Integer>::max())) return false;
          field = static_cast<Integer>(value);
          return true;
        });
  }

  void flag(const std::string& name, bool& field, const char* sentence) {
    add(
        name, "flag", "true or false", sentence,
        [&field] { return std::string(field ? "true" : "false"); },
        [&field](const std::string& text) {
          if (text != "true" && text != "false") return false;
          field = text == "true";
          return true;
        });
  }

  void text(const std::string& name, std::string& field, const char* sentence) {
    add(
        name, "text", "", sentence, [&field] { return field; },
        [&field](const std::string& value) {
          field = value;
          return true;
        });
  }

  // One of named values: an enumeration or anything comparable.
  template <class Value>
  void choice(const std::string& name, Value& field,
              std::vector<std::pair<std::string, Value>> values, const char* sentence) {
    std::string names;
    for (const auto& [key, value] : values) names += (names.empty() ? "" : "|") + key;
    add(
        name, "choice", names, sentence,
        [&field, values] {
          for (const auto& [key, value] : values) {
            if (value == field) return key;
          }
          return std::string("?");
        },
        [&field, values](const std::string& text) {
          for (const auto& [key, value] : values) {
            if (key == text) {
              field = value;
              return true;
            }
          }
          return false;
        });
  }

  // Sets `path`; throws UserError naming `where` ("t3.yaml:12" or "--set"), the key, and the
  // nearest known keys or the allowed range. `also`: keys that may have been meant beside its own.
  void assign(const std::string& path, const std::string& value, const std::string& where,
              const std::string& origin, const std::vector<std::string>& also = {});

  const std::vector<Parameter>& all() const { return all_; }
  const Parameter* find(const std::string& path) const;
  bool is_group(const std::string& path) const;

 private:
  static bool parse_integer(const std::string& text, uint64_t& value);
  void add(const std::string& name, const char* type, std::string range, const char* sentence,
           std::function<std::string()> get, std::function<bool(const std::string&)> set);

  std::string prefix_;
  std::vector<Parameter> all_;
};

// The up to `count` names nearest to `wanted`, for messages: "did you mean a, b?"; empty if none is
// near.
std::string nearest_names(const std::string& wanted, const std::vector<std::string>& names,
                          size_t count = 3);

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_SPEC_H_
