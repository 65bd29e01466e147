#pragma once

// The shaders of all elementwise ops as JSON: for every op and form (formulas/forms.h), the text of
// its value for each dtype, and the text of the gradients of all inputs, which one dispatch
// computes together.

#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "formulas/all.h"
#include "formulas/constants.h"
#include "formulas/forms.h"
#include "formulas/loss.h"
#include "wgsl.h"

namespace eg::wgsl {

/// Every op that has formulas.
using AllFormulas =
    Concat<op::ElementwiseOps, op::LossFormulas, op::QuotientFormulas, op::BranchFormulas>;

/// The names of operands in shader texts. The incoming gradient is g, the output y.
inline constexpr std::array<std::string_view, 3> kOperands{"a", "b", "c"};

namespace detail {

inline std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

inline std::string json_string(std::string_view text) { return '"' + std::string(text) + '"'; }

inline std::string json_strings(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) parts.push_back(json_string(text));
  return '[' + join(parts) + ']';
}

/// Example parameters for evaluating a form. Only numbers that are the same for all examples become
/// literals, so the examples lie on both sides of the values at which formulas branch.
template <class Op>
std::vector<op::ParamsOf<Op>> examples_of(std::size_t form) {
  std::vector<op::ParamsOf<Op>> examples;
  if constexpr (op::DeclaresForms<Op>) {
    for (const double value : Op::form_examples[form])
      examples.push_back(op::params_from<Op>(&value));
  } else {
    for (const double start : {-0.375, 0.625, 0.0, 1.0, 2.5}) {
      op::ParamValues values{};
      std::size_t rest = form;
      for (std::size_t i = op::kParams<Op>.size(); i-- > 0;) {
        const std::size_t choices = op::choices_of(op::kParams<Op>[i]);
        values[i] = choices > 1 ? static_cast<double>(rest % choices)
                                : start + 0.125 * static_cast<double>(i);
        rest /= choices;
      }
      examples.push_back(op::params_from<Op>(values.data()));
    }
  }
  return examples;
}

/// Returns the trees of one formula, evaluated with each example.
template <class Op, class Evaluate>
std::vector<op::Tree> trees_of(std::size_t form, const Evaluate& evaluate) {
  std::vector<op::Tree> trees;
  for (const op::ParamsOf<Op>& p : examples_of<Op>(form)) trees.push_back(evaluate(p));
  return trees;
}

template <class Op>
Shader forward_shader(std::size_t form) {
  Shader shader;
  shader.add(trees_of<Op>(form, [](const op::ParamsOf<Op>& p) {
    return [&]<std::size_t... J>(std::index_sequence<J...>) {
      return op::Tree(op::forward<Op>(p, op::Tree::operand(kOperands[J])...));
    }(std::make_index_sequence<op::kArity<Op>>{});
  }));
  return shader;
}

template <class Op, std::size_t I>
void add_gradient(Shader& shader, std::size_t form) {
  if constexpr (op::kHasGradient<Op, I>) {
    shader.add(trees_of<Op>(form, [](const op::ParamsOf<Op>& p) {
      const auto g = op::Tree::operand("g");
      const auto y = op::Tree::operand("y");
      return [&]<std::size_t... J>(std::index_sequence<J...>) {
        return op::Tree(op::gradient<Op, I>(p, g, op::Tree::operand(kOperands[J])..., y));
      }(std::make_index_sequence<op::kArity<Op>>{});
    }));
  }
}

template <class Op>
Shader gradient_shader(std::size_t form) {
  Shader shader;
  add_gradient<Op, 0>(shader, form);
  add_gradient<Op, 1>(shader, form);
  add_gradient<Op, 2>(shader, form);
  return shader;
}

/// Checks that the constants which the host computes at run time are those of the shader text.
inline void check_constants(const Shader& shader, const op::ConstantList& list,
                            std::size_t example) {
  if (shader.constants().empty() || shader.slots().empty()) return;
  const std::vector<double>& expected = shader.constants()[example];
  const auto same = [](double a, double b) { return a == b || (a != a && b != b); };
  if (!std::equal(list.begin(), list.end(), expected.begin(), expected.end(), same))
    throw std::runtime_error("Constants differ from the numbers in the tree");
}

template <class Op>
void check_constants(const Shader& forward, const Shader& gradient, std::size_t form) {
  const auto examples = examples_of<Op>(form);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (op::form_of<Op>(examples[i]) != form)
      throw std::runtime_error("form_examples has an example of a different form");
    check_constants(forward, op::forward_constants<Op>(examples[i]), i);
    check_constants(gradient, op::gradient_constants<Op>(examples[i]), i);
  }
}

inline std::string slots_json(const Shader& shader) {
  std::vector<std::string> slots;
  for (const std::size_t position : shader.slots()) slots.push_back(std::to_string(position));
  return "\"slots\": [" + join(slots) + ']';
}

inline std::string text_json(const Text& text) {
  return "{\"lets\": " + json_strings(text.lets) + ", \"results\": " + json_strings(text.results) +
         '}';
}

/// Returns the operands that the gradient of input I reads, by their names in texts, or null if
/// there is no gradient.
template <class Op, std::size_t I>
std::string reads_json() {
  if constexpr (!op::kHasGradient<Op, I>) {
    return "null";
  } else {
    constexpr std::uint32_t kReads = op::kGradientProbe<Op, I>.reads;
    std::string names;
    for (std::size_t i = 0; i < op::kArity<Op>; ++i)
      if ((kReads >> i & 1) != 0) names += kOperands[i];
    return json_string(names + ((kReads >> op::kArity<Op> & 1) != 0 ? "y" : ""));
  }
}

template <class Op>
std::string gradient_json(const Shader& shader) {
  std::vector<std::string> reads{reads_json<Op, 0>()};
  if constexpr (op::kArity<Op> > 1) reads.push_back(reads_json<Op, 1>());
  if constexpr (op::kArity<Op> > 2) reads.push_back(reads_json<Op, 2>());
  return "\"reads\": [" + join(reads) + "], " + slots_json(shader) +
         ", \"float32\": " + text_json(shader.text(Type::kFloat32));
}

template <class Op>
std::string form_json(std::size_t form) {
  const Shader forward = forward_shader<Op>(form);
  const Shader gradient = gradient_shader<Op>(form);
  check_constants<Op>(forward, gradient, form);
  constexpr bool kTakesFloats = op::kDTypeRule<Op> != op::DTypeRule::kInteger;
  std::string json = "{\"forward\": {" + slots_json(forward);
  if (kTakesFloats) json += ", \"float32\": " + text_json(forward.text(Type::kFloat32));
  // Forms other than the first are for floats only: integers reject parameters that select another
  // form.
  if (op::kDTypeRule<Op> != op::DTypeRule::kFloat && form == 0) {
    json += ", \"int32\": " + text_json(forward.text(Type::kInt32)) +
            ", \"int64\": " + text_json(forward.text(Type::kInt64)) +
            ", \"uint8\": " + text_json(forward.text(Type::kUInt8));
  }
  // Gradients of complex numbers are composed of ops and have no shader text.
  if (op::kComplexRule<Op> != op::ComplexRule::kNone)
    json += ", \"complex64\": " + text_json(forward.text(Type::kComplex64));
  json += '}';
  if (op::kIsDifferentiable<Op>) json += ", \"gradient\": {" + gradient_json<Op>(gradient) + '}';
  return json + '}';
}

template <class Op>
std::string op_json() {
  std::vector<std::string> forms;
  bool is_bool = false;
  for (std::size_t form = 0; form < op::kFormCount<Op>; ++form) {
    try {
      forms.push_back(form_json<Op>(form));
      is_bool = forward_shader<Op>(form).text(Type::kFloat32).is_bool;
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(std::string(Op::doc.name) + ": " + error.what());
    }
  }
  return json_string(Op::doc.name) + ": {\"operands\": " + std::to_string(op::kArity<Op>) +
         ", \"isBool\": " + (is_bool ? "true" : "false") + ", \"forms\": [" + join(forms) + "]}";
}

template <class Iterator>
std::string numbers_json(Iterator first, Iterator last) {
  std::vector<std::string> numbers;
  for (; first != last; ++first) {
    // Numbers that JSON cannot represent are written as strings, which JavaScript's Number()
    // accepts.
    if (std::isfinite(*first)) {
      numbers.push_back((std::ostringstream() << std::setprecision(17) << *first).str());
    } else {
      numbers.push_back(std::isnan(*first) ? "\"NaN\""
                        : *first > 0       ? "\"Infinity\""
                                           : "\"-Infinity\"");
    }
  }
  return '[' + join(numbers) + ']';
}

inline std::string constants_json(const op::ConstantList& list) {
  return numbers_json(list.begin(), list.end());
}

/// Returns the numbers of every text of an op for some parameters, by position.
template <class Op>
std::string constants_json() {
  std::vector<op::ParamValues> samples{op::param_values<Op>({})};
  if constexpr (op::DeclaresForms<Op>) {
    for (const auto& form : Op::form_examples)
      for (const double value : form) samples.push_back({value});
  } else {
    // Includes integer values, which ops on integers accept.
    for (const auto& [start, step] : {std::pair{0.25, 0.5}, {2.0, 3.0}}) {
      op::ParamValues values{};
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = start + step * static_cast<double>(i);
      samples.push_back(values);
    }
  }
  std::vector<std::string> parts;
  for (const op::ParamValues& sample : samples) {
    const auto p = op::params_from<Op>(sample.data());
    parts.push_back(
        "{\"params\": " + numbers_json(sample.begin(), sample.begin() + op::kParamCount<Op>) +
        ", \"form\": " + std::to_string(op::form_of<Op>(p)) +
        ", \"forward\": " + constants_json(op::forward_constants<Op>(p)) +
        ", \"gradient\": " + constants_json(op::gradient_constants<Op>(p)) + '}');
  }
  return json_string(Op::doc.name) + ": [" + join(parts) + ']';
}

template <class Write>
std::string ops_json(const Write& write) {
  std::ostringstream json;
  std::string separator = "{\n";
  AllFormulas::for_each([&]<class Op>() {
    const std::string text = write.template operator()<Op>();
    if (text.empty()) return;
    json << separator << "  " << text;
    separator = ",\n";
  });
  json << "\n}\n";
  return json.str();
}

}  // namespace detail

/// Returns the whole file. Throws if a formula depends on its parameters in a way that a shader
/// text cannot express.
inline std::string formula_shaders() {
  return detail::ops_json([]<class Op>() { return detail::op_json<Op>(); });
}

/// Returns the uniforms of these shaders for some parameters, for tests that run them.
inline std::string formula_constants() {
  return detail::ops_json([]<class Op>() {
    return op::kTakesNumbers<Op> ? detail::constants_json<Op>() : std::string();
  });
}

}  // namespace eg::wgsl
