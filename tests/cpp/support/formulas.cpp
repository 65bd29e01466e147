#include "support/formulas.h"

#include <map>
#include <stdexcept>

#include "support/traced.h"

namespace eg::testing {
namespace {

template <class Op>
constexpr std::make_index_sequence<op::kArity<Op>> kInputs{};

template <class Op, class T>
double forward(const Numbers& x, const Numbers& params) {
  return forward_of<T, Op>(op::params_from<Op>(params.data()), x.data(), kInputs<Op>);
}

template <class Op, std::size_t I, class T>
double gradient(double g, const Numbers& x, const Numbers& params) {
  return gradient_of<T, Op, I>(op::params_from<Op>(params.data()), g, x.data(), kInputs<Op>);
}

// Records the output as if the op had no parameters, but with the op's own derivatives.
template <class Op, std::size_t I>
Numbers second(double g, const Numbers& x, const Numbers& params) {
  if constexpr (!op::kHasGradient<Op, I>) {
    return Numbers(op::kArity<Op> + 1, 0.0);
  } else {
    const auto p = op::params_from<Op>(params.data());
    Traced::clear();
    const Traced traced_g = Traced::variable(g);
    std::vector<Traced> inputs;
    inputs.reserve(op::kArity<Op>);
    for (std::size_t j = 0; j < op::kArity<Op>; ++j) inputs.push_back(Traced::variable(x[j]));
    const Traced y = Traced::variable(forward<Op, double>(x, params));
    const Traced result = [&]<std::size_t... J>(std::index_sequence<J...>) {
      return Traced(op::gradient<Op, I>(p, traced_g, inputs[J]..., y));
    }(kInputs<Op>);
    Numbers slopes = result.derivatives();
    const double slope_of_output = slopes[op::kArity<Op> + 1];
    slopes.resize(op::kArity<Op> + 1);
    if ((op::kGradientProbe<Op, I>.reads >> op::kArity<Op> & 1U) != 0) {
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        ((slopes[J + 1] += gradient<Op, J, double>(slope_of_output, x, params)), ...);
      }(kInputs<Op>);
    }
    return slopes;
  }
}

template <class Op>
Formula describe() {
  Formula f{std::string(Op::doc.name),
            std::string(Op::doc.text),
            op::kArity<Op>,
            op::kDTypeRule<Op>,
            {},
            {},
            {},
            {},
            forward<Op, double>,
            forward<Op, float>,
            {},
            {},
            {}};
  for (std::size_t i = 0; i < op::kArity<Op>; ++i) f.domains.push_back(op::domain_of<Op>(i));
  const op::ParamValues defaults = op::param_values<Op>({});
  f.default_params.assign(defaults.begin(), defaults.end());
  f.has_gradient = {op::kHasGradient<Op, 0>, op::kHasGradient<Op, 1>, op::kHasGradient<Op, 2>};
  f.gradient_probe = {op::kGradientProbe<Op, 0>, op::kGradientProbe<Op, 1>,
                      op::kGradientProbe<Op, 2>};
  f.gradient = {gradient<Op, 0, double>, gradient<Op, 1, double>, gradient<Op, 2, double>};
  f.gradient32 = {gradient<Op, 0, float>, gradient<Op, 1, float>, gradient<Op, 2, float>};
  f.second = {second<Op, 0>, second<Op, 1>, second<Op, 2>};
  return f;
}

}  // namespace

const std::vector<Formula>& formulas() {
  static const std::vector<Formula> all = [] {
    std::vector<Formula> list;
    op::ElementwiseOps::for_each([&]<class Op>() { list.push_back(describe<Op>()); });
    return list;
  }();
  return all;
}

const Formula& formula(std::string_view name) {
  for (const Formula& f : formulas()) {
    if (f.name == name) return f;
  }
  throw std::out_of_range("no op named " + std::string(name));
}

std::vector<Numbers> param_choices(const Formula& formula) {
  static const std::map<std::string, Numbers> others{
      {"addcmul", {0.5}},
      {"addcdiv", {-1.5}},
      {"clamp", {-1, 1.5}},
      {"nan_to_num", {1, 2, 3}},
      {"logit", {0.2}},
      {"leaky_relu", {0.2}},
      {"elu", {0.7}},
      {"celu", {0.7}},
      {"gelu", {1}},
      {"softplus", {2, 3}},
      {"softshrink", {0.75}},
      {"hardshrink", {0.75}},
      {"hardtanh", {-0.5, 1.75}},
  };
  std::vector<Numbers> choices{formula.default_params};
  const auto other = others.find(formula.name);
  if (other != others.end()) {
    choices.push_back(other->second);
    choices.back().resize(op::kMaxParams);
  }
  return choices;
}

}  // namespace eg::testing
