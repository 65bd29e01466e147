#pragma once

// Translates formulas to WGSL.
//
// A Shader takes the trees of some formulas over the same operands, each evaluated several times
// with different parameters, and writes one function body for all of them; common subexpressions
// are computed once. Numbers that are the same in every evaluation become literals; the others
// become uniforms, named `k` followed by the position in the list of Constants. A word becomes a
// function of web/src/webgpu/words, whose name ends in its type.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backend/cpu/vector/vec.h"
#include "formulas/tree.h"

namespace eg::wgsl {

/// The type that a shader computes in. A 64-bit integer is a vec2<u32>, the low word first; bool is
/// computed in kUInt8, a u32 of which eight bits are used. For kComplex64, operands and results are
/// pairs; numbers, magnitudes and expressions of only those are f32.
enum class Type : std::uint8_t { kFloat32, kInt32, kInt64, kUInt8, kComplex64 };

inline std::string_view suffix(Type type) {
  switch (type) {
    case Type::kFloat32:
      return "_f32";
    case Type::kInt32:
      return "_i32";
    case Type::kInt64:
      return "_i64";
    case Type::kUInt8:
      return "_u8";
    case Type::kComplex64:
      return "_c64";
  }
  return "";
}

/// Returns a number as a CPU kernel of that type would convert it.
inline std::string literal(double value, Type type) {
  if (type == Type::kInt32) return std::to_string(cpu::lane_from<std::int32_t>(value)) + 'i';
  if (type == Type::kInt64) {
    const auto bits = static_cast<std::uint64_t>(cpu::lane_from<std::int64_t>(value));
    return "vec2(" + std::to_string(bits & 0xffffffffU) + "u, " + std::to_string(bits >> 32U) +
           "u)";
  }
  if (type == Type::kUInt8) return std::to_string(cpu::lane_from<std::uint8_t>(value)) + 'u';
  // WGSL has no literals for these and rejects expressions of literals that produce them.
  if (std::isnan(value)) return "nan_f32()";
  if (std::isinf(value)) return value > 0 ? "infinity_f32()" : "(-infinity_f32())";
  std::array<char, 32> digits;
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), cpu::lane_from<float>(value));
  const std::string text = std::string(digits.data(), end) + 'f';
  return text.front() == '-' ? '(' + text + ')' : text;
}

/// The text of one or several formulas.
struct Text {
  std::vector<std::string> lets;     ///< `t3 = a * b`: subexpressions that are used more than once
  std::vector<std::string> results;  ///< one expression per formula
  bool is_bool = false;              ///< the formulas are predicates
};

class Shader {
 public:
  /// Adds a formula, given by its trees for several parameters.
  void add(const std::vector<op::Tree>& trees) { results_.push_back(merge(trees)); }

  /// Returns the positions in the list of constants that the text reads.
  std::vector<std::size_t> slots() const {
    std::vector<std::size_t> positions;
    for (const Step& step : steps_)
      if (step.name == "k") positions.push_back(step.position);
    return positions;
  }
  /// Returns the numbers of each evaluation, from left to right.
  const std::vector<std::vector<double>>& constants() const { return constants_; }

  Text text(Type type) const {
    std::vector<std::size_t> uses(steps_.size());
    for (const std::size_t result : results_) ++uses[result];
    for (const Step& step : steps_)
      for (const std::size_t input : step.inputs) ++uses[input];
    Text text;
    std::vector<std::string> written(steps_.size());
    // Steps are ordered: inputs come before the steps that use them.
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      written[i] = write(step, written, type);
      if (uses[i] < 2 || step.inputs.empty()) continue;
      const std::string name = 't' + std::to_string(text.lets.size());
      text.lets.push_back(name + " = " + unwrapped(written[i]));
      written[i] = name;
    }
    for (const std::size_t result : results_) {
      const std::string value =
          type == Type::kComplex64 ? as_pair(result, written) : written[result];
      text.results.push_back(unwrapped(value));
      text.is_bool = is_predicate(steps_[result].name);
    }
    return text;
  }

 private:
  struct Step {
    std::string name;  // operator, word or operand; "" for a literal, "k" for a uniform
    std::vector<std::size_t> inputs;
    std::uint64_t value_bits = 0;  // of a literal
    std::size_t position = 0;      // of a uniform
    double value() const { return std::bit_cast<double>(value_bits); }
  };

  // Equal steps are merged into one.
  std::size_t step(const std::string& key, Step made) {
    const auto [entry, is_new] = known_.emplace(key, steps_.size());
    if (is_new) steps_.push_back(std::move(made));
    return entry->second;
  }

  std::size_t merge(const std::vector<op::Tree>& trees) {
    const op::Tree::Node& first = *trees.front();
    for (const op::Tree& tree : trees) {
      if (tree->name != first.name || tree->inputs.size() != first.inputs.size())
        throw std::runtime_error(
            "the formula differs between parameters: declare forms, see formulas/forms.h");
    }
    if (first.name.empty()) return merge_numbers(trees);
    Step made{std::string(first.name), {}};
    std::string key = made.name;
    for (std::size_t i = 0; i < first.inputs.size(); ++i) {
      std::vector<op::Tree> inputs;
      for (const op::Tree& tree : trees) inputs.push_back(tree->inputs[i]);
      made.inputs.push_back(merge(inputs));
      key += ' ' + std::to_string(made.inputs.back());
    }
    if (made.name == "*" && is_number(made.inputs[1], 1)) return made.inputs[0];
    return step(key, std::move(made));
  }

  std::size_t merge_numbers(const std::vector<op::Tree>& trees) {
    constants_.resize(trees.size());
    const std::size_t position = constants_.front().size();
    std::string key;
    bool varies = false;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      const double value = trees[i]->value;
      constants_[i].push_back(value);
      varies = varies || bits(value) != bits(trees.front()->value);
      key += '#' + std::to_string(bits(value));
    }
    if (varies) return step(key, {"k", {}, 0, position});
    return step(key, {"", {}, bits(trees.front()->value)});
  }

  static std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

  static bool is_predicate(std::string_view name) {
    constexpr std::string_view kPredicates = " == != < <= > >= & | ! ";
    return kPredicates.find(' ' + std::string(name) + ' ') != std::string_view::npos;
  }

  // Whether an operator's inputs are numbers, not the results of predicates.
  static bool takes_numbers(std::string_view name) {
    return name != "&" && name != "|" && name != "!";
  }

  // The word for an operator, for types that have no operators in WGSL.
  static std::string_view word_of(const Step& step) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kWords{
        {{"+", "add"},
         {"-", "sub"},
         {"*", "mul"},
         {"/", "div"},
         {"==", "equal"},
         {"!=", "differ"},
         {"<", "less"},
         {"<=", "less_equal"},
         {">", "greater"},
         {">=", "greater_equal"}}};
    if (step.name == "-" && step.inputs.size() == 1) return "neg";
    for (const auto& [name, word] : kWords)
      if (step.name == name) return word;
    throw std::runtime_error("the operator has no word");
  }

  std::string write(const Step& step, const std::vector<std::string>& written, Type type) const {
    const auto input = [&](std::size_t i) { return written[step.inputs[i]]; };
    if (step.name.empty()) return literal(step.value(), type);
    if (step.name == "k") return 'k' + std::to_string(step.position);
    if (step.inputs.empty()) return step.name;
    if (type == Type::kComplex64) {
      if (!std::ranges::all_of(step.inputs, [&](std::size_t i) { return is_real(steps_[i]); }))
        return write_complex(step, written);
      type = Type::kFloat32;
    }
    if (type == Type::kFloat32) {
      const std::string shortcut = write_float(step, written);
      if (!shortcut.empty()) return shortcut;
    }
    if (step.name == "where") return call("select", {input(2), input(1), input(0)});
    if (std::isalpha(static_cast<unsigned char>(step.name[0])) != 0) {
      std::vector<std::string> inputs;
      for (const std::size_t index : step.inputs) inputs.push_back(written[index]);
      return call(step.name + std::string(suffix(type)), inputs);
    }
    if (type == Type::kInt64 && takes_numbers(step.name)) {
      std::vector<std::string> inputs;
      for (const std::size_t index : step.inputs) inputs.push_back(written[index]);
      return call(std::string(word_of(step)) + "_i64", inputs);
    }
    // Results that exceed eight bits wrap around; comparisons and masks cannot exceed them.
    const bool wraps = type == Type::kUInt8 && !is_predicate(step.name);
    if (step.inputs.size() == 1) {
      const std::string text = wraps ? "0u - " + input(0) : step.name + input(0);
      return wraps ? "((" + text + ") & 255u)" : '(' + text + ')';
    }
    const std::string text = '(' + input(0) + ' ' + step.name + ' ' + input(1) + ')';
    return wraps ? '(' + text + " & 255u)" : text;
  }

  // WGSL lets compilers assume that there are no NaNs and no infinities, and they do: x != x
  // becomes false, x * 0 becomes zero, and NaN != 0 becomes false. Expressions that rely on such
  // values are replaced by words that inspect the bits.
  std::string write_float(const Step& step, const std::vector<std::string>& written) const {
    if (step.inputs.size() != 2) return "";
    const std::string a = unwrapped(written[step.inputs[0]]);
    if (step.inputs[0] == step.inputs[1]) {
      if (step.name == "!=") return "is_nan_f32(" + a + ')';
      if (step.name == "==") return "(!is_nan_f32(" + a + "))";
      if (step.name == "-") return "zero_if_finite_f32(" + a + ')';
    }
    const std::string b = unwrapped(written[step.inputs[1]]);
    if (is_own_difference(step.inputs[0]) && is_number(step.inputs[1], 0)) {
      const std::string text = call("is_finite_f32", {first_input(step.inputs[0], written)});
      if (step.name == "==") return text;
      if (step.name == "!=") return "(!" + text + ')';
    }
    if (step.name == "!=") return "differ_f32(" + a + ", " + b + ')';
    if (step.name == "*" && is_number(step.inputs[1], 0)) return "times_zero_f32(" + a + ')';
    return "";
  }

  // Returns whether a step is x - x.
  bool is_own_difference(std::size_t index) const {
    const Step& step = steps_[index];
    return step.name == "-" && step.inputs.size() == 2 && step.inputs[0] == step.inputs[1];
  }

  const std::string& first_input(std::size_t index, const std::vector<std::string>& written) const {
    return written[steps_[index].inputs[0]];
  }

  // Returns whether a step of a complex formula is an f32 (or a predicate).
  bool is_real(const Step& step) const {
    if (step.inputs.empty()) return step.name.empty() || step.name == "k";
    return step.name == "abs" || is_predicate(step.name) ||
           std::ranges::all_of(step.inputs, [&](std::size_t i) { return is_real(steps_[i]); });
  }

  std::string as_pair(std::size_t index, const std::vector<std::string>& written) const {
    if (!is_real(steps_[index]) || is_predicate(steps_[index].name)) return written[index];
    return "vec2(" + unwrapped(written[index]) + ", 0f)";
  }

  // Writes a step with a complex input. Comparisons inspect the bits, as those of floats do.
  std::string write_complex(const Step& step, const std::vector<std::string>& written) const {
    const std::string& name = step.name;
    std::vector<std::string> pairs;
    for (const std::size_t index : step.inputs) pairs.push_back(as_pair(index, written));
    if (name == "where") return call("select", {pairs[2], pairs[1], pairs[0]});
    if (std::isalpha(static_cast<unsigned char>(name[0])) != 0) return call(name + "_c64", pairs);
    if (step.inputs.size() == 1) return '(' + name + pairs[0] + ')';
    if (name == "==" || name == "!=") {
      const auto negated_unless = [](bool is_wanted, const std::string& text) {
        return is_wanted ? text : "(!" + text + ')';
      };
      if (is_own_difference(step.inputs[0]) && is_number(step.inputs[1], 0))
        return negated_unless(name == "==",
                              call("is_finite_c64", {first_input(step.inputs[0], written)}));
      const bool is_same = step.inputs[0] == step.inputs[1];
      return negated_unless(name == "!=",
                            is_same ? call("is_nan_c64", {pairs[0]}) : call("differ_c64", pairs));
    }
    if (name == "+" || name == "-") return '(' + pairs[0] + ' ' + name + ' ' + pairs[1] + ')';
    const bool scales =
        is_real(steps_[step.inputs[1]]) || (name == "*" && is_real(steps_[step.inputs[0]]));
    if (!scales) return call(name == "*" ? "mul_c64" : "div_c64", pairs);
    return '(' + written[step.inputs[0]] + ' ' + name + ' ' + written[step.inputs[1]] + ')';
  }

  bool is_number(std::size_t index, double value) const {
    return steps_[index].name.empty() && steps_[index].value() == value;
  }

  static std::string call(const std::string& name, const std::vector<std::string>& inputs) {
    std::string text = name;
    for (const std::string& input : inputs)
      text += (text.size() == name.size() ? "(" : ", ") + unwrapped(input);
    return text + ')';
  }

  // Returns `text` without parentheses around the whole expression.
  static std::string unwrapped(const std::string& text) {
    if (text.front() != '(') return text;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0) return i + 1 == text.size() ? text.substr(1, i - 1) : text;
    }
    return text;
  }

  std::vector<Step> steps_;
  std::map<std::string, std::size_t> known_;
  std::vector<std::size_t> results_;
  std::vector<std::vector<double>> constants_;
};

}  // namespace eg::wgsl
