// markers: variant

// Laws that every elementwise op obeys, checked for all of them from their declarations.

#include <cmath>
#include <complex>
#include <random>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/forward_ad.h"
#include "autograd/grad_mode.h"
#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "support/forward_check.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::forward_check;
using testing::gradcheck_one;
using testing::values;

struct OpCase {
  std::string name;
  const ElementwiseInfo* info;
  op::ParamValues params;
  std::vector<op::Domain> domains;
  bool differentiable;
};

std::vector<OpCase> all_cases() {
  std::vector<OpCase> cases;
  op::ElementwiseOps::for_each([&]<class Op>() {
    OpCase c{std::string(Op::doc.name),
             &elementwise_info<Op>(),
             op::param_values<Op>({}),
             {},
             op::kIsDifferentiable<Op>};
    for (std::size_t i = 0; i < op::kArity<Op>; ++i) c.domains.push_back(op::domain_of<Op>(i));
    cases.push_back(std::move(c));
  });
  return cases;
}

class OpLaws : public ::testing::TestWithParam<OpCase> {
 protected:
  const ElementwiseInfo& info() const { return *GetParam().info; }

  // A tensor of values inside the domain of input `i`, or a mask if the op takes one.
  Tensor sample(std::size_t i, const Shape& shape, DType dtype = DType::kFloat64,
                bool differentiable = true) {
    const op::Domain domain = GetParam().domains[i];
    std::uniform_real_distribution<double> values(domain.low, domain.high);
    const Tensor t =
        testing::generated<double>(shape, [&](std::int64_t) { return values(random_); });
    if (is_mask(i)) return call<op::Gt>(t, 0);
    const bool of_integers = info().dtype_rule == op::DTypeRule::kInteger;
    const Tensor result = ToDType::call(t, of_integers ? DType::kInt64 : dtype);
    if (differentiable && is_differentiable(dtype) && info().gradients[i].exists)
      set_requires_grad(result, true);
    return result;
  }
  bool is_mask(std::size_t i) const {
    return (info().first_is_mask && i == 0) || (GetParam().name == "masked_fill" && i == 1);
  }
  TensorList samples(const Shape& shape, DType dtype = DType::kFloat64,
                     bool differentiable = true) {
    TensorList inputs;
    for (std::size_t i = 0; i < info().arity; ++i)
      inputs.push_back(sample(i, shape, dtype, differentiable));
    return inputs;
  }
  Tensor apply(const TensorList& inputs) const {
    return apply_elementwise(info(), inputs, GetParam().params);
  }

  // The value, the gradients of both orders and the tangent, with respect to all that require grad.
  std::vector<std::vector<double>> derivatives(const TensorList& inputs) const {
    std::vector<std::vector<double>> result;
    const auto add = [&](const Tensor& t) {
      result.push_back(t.defined() ? values(t) : std::vector<double>{});
    };
    const Tensor y = apply(inputs);
    add(y);
    if (!requires_grad(y)) return result;
    TensorList wrt;
    for (const Tensor& input : inputs) {
      if (requires_grad(input)) wrt.push_back(input);
    }
    for (const Tensor& g : grad({y}, wrt, {full_like(y, 1.5)}, {{.retain_graph = true}})) add(g);
    Tensor total;
    for (const Tensor& g : grad({y}, wrt, {full_like(y, 1.5)}, {{.create_graph = true}})) {
      add(g);
      const Tensor square = testing::sum(call<op::Square>(call<op::Abs>(g)));
      total = total.defined() ? call<op::Add>(total, square) : square;
    }
    if (requires_grad(total)) {
      for (const Tensor& g : grad({total}, wrt, {}, {{}, /*allow_unused=*/true})) add(g);
    }
    const DualLevelGuard level;
    TensorList duals;
    for (const Tensor& input : inputs)
      duals.push_back(requires_grad(input) ? make_dual(input, full_like(input, 1.5)) : input);
    add(tangent(apply(duals)));
    return result;
  }

  std::mt19937 random_{7};
};

// rule: formula-checks
// First and second order.
TEST_P(OpLaws, GradientsMatchFiniteDifferences) {
  if (!GetParam().differentiable) return SUCCEED();
  EXPECT_TRUE(gradcheck_one([&](const TensorList& x) { return apply(x); }, samples({2, 3})));
}

// rule: complex-conjugates, complex-real-operand, forward-mode
TEST_P(OpLaws, ComplexGradientsMatchFiniteDifferences) {
  if (!GetParam().differentiable || info().complex_rule == op::ComplexRule::kNone) {
    return SUCCEED();
  }
  TensorList inputs;
  for (std::size_t i = 0; i < info().arity; ++i) {
    const Tensor re = sample(i, {2, 3});
    if (is_mask(i)) {
      inputs.push_back(re);
      continue;
    }
    const Tensor turned =
        Polar::call(detach(re), full_like(re, 0.3 + 0.4 * static_cast<double>(i)));
    set_requires_grad(turned, info().gradients[i].exists);
    inputs.push_back(turned);
  }
  const auto apply_all = [&](const TensorList& x) { return TensorList{apply(x)}; };
  EXPECT_TRUE(testing::gradcheck(apply_all, inputs));
  EXPECT_TRUE(forward_check(apply_all, inputs));
  // A real operand combined with complex ones.
  for (std::size_t i = 0; i < info().arity; ++i) {
    // An op whose result has the dtype of its input does not accept a complex value for a real one.
    if (is_mask(i) || (i == 0 && GetParam().name == "masked_fill")) continue;
    TensorList mixed = inputs;
    mixed[i] = sample(i, {2, 3});
    EXPECT_TRUE(testing::gradcheck(apply_all, mixed)) << "operand " << i << " is real";
    EXPECT_TRUE(forward_check(apply_all, mixed)) << "operand " << i << " is real";
  }
}

// Inside and outside the unit circle, in all quadrants and close to both sides of every branch cut:
// cuts lie on the axes. As every operand beside one complex number, and as a real one beside it.
TEST_P(OpLaws, ComplexGradientsMatchFiniteDifferencesInAllQuadrants) {
  if (!GetParam().differentiable || info().complex_rule == op::ComplexRule::kNone) {
    return SUCCEED();
  }
  std::vector<std::complex<double>> points;
  std::vector<double> reals;
  for (const double r : {0.4, 1.7}) {
    for (const double along : {r, -r}) {
      reals.push_back(along);
      for (const double across : {0.6, -0.6, 1e-3, -1e-3}) {
        points.emplace_back(along, across);
        points.emplace_back(across, along);
      }
    }
  }
  const auto apply_all = [&](const TensorList& x) { return TensorList{apply(x)}; };
  for (std::size_t at = 0; at < info().arity; ++at) {
    if (is_mask(at)) continue;
    TensorList inputs = samples({1});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!is_mask(i)) inputs[i] = testing::tensor<std::complex<double>>({{0.7, 0.3}}, Shape{1});
    }
    const auto expect_gradients_of = [&](const Tensor& operand) {
      inputs[at] = operand;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!is_mask(i)) set_requires_grad(inputs[i], info().gradients[i].exists);
      }
      EXPECT_TRUE(testing::gradcheck(apply_all, inputs)) << "operand " << at;
    };
    expect_gradients_of(testing::tensor(points));
    // An op whose result has the dtype of its input does not accept a complex value for a real one.
    if (info().arity > 1 && (at != 0 || GetParam().name != "masked_fill"))
      expect_gradients_of(testing::tensor(reals));
  }
}

// The sign of a zero tells on which side of a cut a number is: its derivative is that of its
// neighbors on this side.
TEST_P(OpLaws, ComplexGradientsOnACutAreThoseOfItsSide) {
  if (!GetParam().differentiable || info().complex_rule == op::ComplexRule::kNone ||
      info().arity != 1) {
    return SUCCEED();
  }
  const auto gradients = [&](double distance) {
    std::vector<std::complex<double>> points;
    for (const double along : {0.4, -0.4, 1.7, -1.7}) {
      for (const double across : {distance, -distance}) {
        points.emplace_back(along, across);
        points.emplace_back(across, along);
      }
    }
    const Tensor x = testing::tensor(points);
    set_requires_grad(x, true);
    const Tensor y = apply({x});
    return values(grad({y}, {x}, {full_like(y, 1)})[0]);
  };
  const std::vector<double> on_cut = gradients(0);
  const std::vector<double> beside = gradients(1e-9);
  for (std::size_t i = 0; i < on_cut.size(); ++i) {
    EXPECT_NEAR(on_cut[i], beside[i], 1e-6 * (1 + std::abs(beside[i]))) << "part " << i;
  }
}

// complex64 is computed in complex128.
TEST_P(OpLaws, Complex64AgreesWithComplex128) {
  if (info().complex_rule == op::ComplexRule::kNone) return SUCCEED();
  TensorList exact;
  TensorList single;
  for (std::size_t i = 0; i < info().arity; ++i) {
    const Tensor re = sample(i, {2, 3}, DType::kFloat64, false);
    exact.push_back(is_mask(i) ? re : Polar::call(re, full_like(re, 0.5)));
    single.push_back(is_mask(i) ? re : ToDType::call(exact[i], DType::kComplex64));
  }
  const Tensor expected = apply(exact);
  const Tensor actual = apply(single);
  const DType dtype = info().dtype_rule == op::DTypeRule::kBool ? DType::kBool
                      : info().is_real_of_complex               ? DType::kFloat32
                                                                : DType::kComplex64;
  EXPECT_EQ(actual.dtype(), dtype);
  if (dtype == DType::kBool) return;
  const auto a = values(actual);
  const auto b = values(expected);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-5 * (1 + std::abs(b[i])));
}

// rule: forward-mode
TEST_P(OpLaws, TangentsMatchGradients) {
  if (!GetParam().differentiable) return SUCCEED();
  EXPECT_TRUE(
      forward_check([&](const TensorList& x) { return TensorList{apply(x)}; }, samples({2, 3})));
}

// The in-place op on a copy against the out-of-place op, values and tangents.
TEST_P(OpLaws, InPlaceTangentsMatchGradients) {
  if (!GetParam().differentiable || is_mask(0)) return SUCCEED();
  EXPECT_TRUE(forward_check(
      [&](const TensorList& x) {
        TensorList inputs = x;
        inputs[0] = Clone::call(x[0]);
        return TensorList{apply_elementwise_in_place(info(), inputs, GetParam().params)};
      },
      samples({2, 3})));
}

// The fused float32 kernels against the float64 formula.
TEST_P(OpLaws, Float32AgreesWithFloat64) {
  if (info().dtype_rule == op::DTypeRule::kInteger) return;
  const TensorList exact = samples({37});
  TensorList single;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    Tensor t = is_mask(i) ? exact[i] : detach(ToDType::call(detach(exact[i]), DType::kFloat32));
    if (requires_grad(exact[i])) set_requires_grad(t, true);
    single.push_back(t);
  }
  const Tensor expected = apply(exact);
  const Tensor actual = apply(single);
  const auto expect_close = [](const Tensor& a, const Tensor& b, const char* what) {
    const auto x = values(a);
    const auto y = values(b);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(x[i], y[i], 2e-5 * (1 + std::abs(y[i]))) << what << " at " << i;
    }
  };
  if (is_floating(expected.dtype())) expect_close(actual, expected, "value");
  if (!requires_grad(expected)) return;
  TensorList wrt_exact;
  TensorList wrt_single;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!requires_grad(exact[i])) continue;
    wrt_exact.push_back(exact[i]);
    wrt_single.push_back(single[i]);
  }
  const TensorList grads = grad({expected}, wrt_exact, {full_like(expected, 1.5)});
  const TensorList grads32 = grad({actual}, wrt_single, {full_like(actual, 1.5)});
  for (std::size_t i = 0; i < grads.size(); ++i) expect_close(grads32[i], grads[i], "gradient");
}

// A number does not take part in promotion, but its precision is kept: all results are the same as
// with a tensor of that number.
TEST_P(OpLaws, ANumberIsAsExactAsATensorOfIt) {
  if (info().dtype_rule == op::DTypeRule::kInteger) return SUCCEED();
  for (std::size_t at = 0; info().arity > 1 && at < info().arity; ++at) {
    if (is_mask(at)) continue;
    TensorList inputs = samples({2, 3});
    inputs[at] = sample(at, {}, DType::kFloat64, false);
    TensorList beside = inputs;
    beside[at] = Operand(testing::value(inputs[at])).tensor();
    EXPECT_EQ(derivatives(beside), derivatives(inputs)) << "operand " << at << " is a number";
    if (info().complex_rule == op::ComplexRule::kNone) continue;
    for (std::size_t i = 0; i < info().arity; ++i) {
      if (i == at || is_mask(i)) continue;
      inputs[i] = Polar::call(detach(inputs[i]), full_like(inputs[i], 0.3));
      set_requires_grad(inputs[i], true);
      beside[i] = inputs[i];
    }
    if (at == 0 && info().dtype_rule == op::DTypeRule::kFirst) continue;
    EXPECT_EQ(derivatives(beside), derivatives(inputs))
        << "operand " << at << " is a number beside complex ones";
    inputs[at] = Polar::call(inputs[at], full_like(inputs[at], 0.4));
    const std::vector<double> parts = values(inputs[at]);
    beside[at] = Operand(std::complex<double>(parts[0], parts[1])).tensor();
    EXPECT_EQ(derivatives(beside), derivatives(inputs)) << "operand " << at << " is complex";
  }
}

TEST_P(OpLaws, ResultDtypeFollowsTheRule) {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt8}) {
    if (info().dtype_rule == op::DTypeRule::kInteger && is_floating(dtype)) continue;
    if (info().integer_rule == op::IntegerRule::kQuotient && is_integral(dtype)) continue;
    TensorList inputs;
    for (std::size_t i = 0; i < info().arity; ++i) {
      inputs.push_back(is_mask(i) ? testing::full({3}, true, DType::kBool)
                                  : testing::full({3}, 1, dtype));
    }
    const DType expected = info().dtype_rule == op::DTypeRule::kBool ? DType::kBool
                           : info().dtype_rule == op::DTypeRule::kFloat && is_integral(dtype)
                               ? DType::kFloat32
                               : dtype;
    EXPECT_EQ(apply(inputs).dtype(), expected) << dtype_name(dtype);
  }
}

TEST_P(OpLaws, BroadcastingEqualsExpansion) {
  if (info().arity < 2) return SUCCEED();
  TensorList small;
  TensorList expanded;
  for (std::size_t i = 0; i < info().arity; ++i) {
    small.push_back(sample(i, i == 0 ? Shape{3, 1} : Shape{5}, DType::kFloat32, false));
    const Tensor copy = testing::empty({3, 5}, small[i].dtype());
    copy_data(copy, small[i]);
    expanded.push_back(copy);
  }
  EXPECT_EQ(values(apply(small)), values(apply(expanded)));
}

TEST_P(OpLaws, StridedInputEqualsItsContiguousCopy) {
  TensorList strided;
  TensorList packed;
  for (std::size_t i = 0; i < info().arity; ++i) {
    const Tensor wide = sample(i, {7, 6}, DType::kFloat32, false);
    strided.push_back(wide.alias({3, 7}, {2, 6}, i % 2));
    packed.push_back(contiguous_copy(strided[i]));
  }
  EXPECT_EQ(values(apply(strided)), values(apply(packed)));
}

TEST_P(OpLaws, EmptyAndScalarInputsWork) {
  EXPECT_EQ(apply(samples({0, 3})).shape(), (Shape{0, 3}));
  const TensorList scalars = samples({}, DType::kFloat32, false);
  TensorList vectors;
  for (const Tensor& t : scalars) vectors.push_back(t.alias({1}, {1}, 0));
  EXPECT_EQ(apply(scalars).shape(), Shape{});
  EXPECT_EQ(values(apply(scalars)), values(apply(vectors)));
}

// The same element gives the same bits at any position: in a full pack or in a tail.
TEST_P(OpLaws, ValuesDoNotDependOnPosition) {
  const TensorList inputs = samples({11}, DType::kFloat32, false);
  const auto whole = values(apply(inputs));
  for (std::int64_t start = 0; start < 11; ++start) {
    TensorList tails;
    for (const Tensor& t : inputs) tails.push_back(t.alias({11 - start}, {1}, start));
    const auto tail = values(apply(tails));
    for (std::size_t i = 0; i < tail.size(); ++i) {
      const double expected = whole[i + static_cast<std::size_t>(start)];
      EXPECT_TRUE(tail[i] == expected || (std::isnan(tail[i]) && std::isnan(expected)));
    }
  }
}

// rule: saves-only-what-is-read
TEST_P(OpLaws, ChangingAnOperandIsRefusedExactlyIfItWasSaved) {
  if (!GetParam().differentiable) return SUCCEED();
  for (std::size_t changed = 0; changed < info().arity; ++changed) {
    if (is_mask(changed)) continue;
    const TensorList inputs = samples({4});
    std::uint32_t reads = 0;
    TensorList wrt;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!requires_grad(inputs[i])) continue;
      reads |= info().gradients[i].reads;
      wrt.push_back(inputs[i]);
    }
    const Tensor y = apply(inputs);
    {
      const NoGradGuard guard;
      call_in_place<op::Add>(inputs[changed], 0);
    }
    const auto differentiate = [&] { (void)grad({y}, wrt, {full_like(y, 1)}); };
    if ((reads >> changed & 1U) != 0)
      EXPECT_THROW(differentiate(), Error) << "operand " << changed;
    else
      EXPECT_NO_THROW(differentiate()) << "operand " << changed;
  }
}

INSTANTIATE_TEST_SUITE_P(Elementwise, OpLaws, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace eg
