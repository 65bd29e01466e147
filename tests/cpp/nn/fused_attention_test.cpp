// markers: threads, variant

// The attention kernel against the formula: float32 uses the kernel, float64 the formula.

#include "ops/nn/fused_attention.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/forward_ad.h"
#include "dispatch/var.h"
#include "ops/create/copy.h"
#include "ops/nn/attention.h"
#include "runtime/thread_pool.h"
#include "support/special_values.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::values;

using testing::kInfinity;

enum class Mask : std::uint8_t { kNone, kAdditive, kBool, kBoolPerHead, kHidesRows };
enum class Layout : std::uint8_t { kPacked, kHeadsInside, kTransposed };

struct Case {
  const char* name;
  Shape batch;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t features;
  std::int64_t value_features;
  bool is_causal = false;
  Mask mask = Mask::kNone;
  std::optional<double> scale = {};
  Layout layout = Layout::kPacked;
};

std::vector<Case> cases() {
  return {
      {"plain", {2, 3}, 5, 7, 4, 3},
      {"no_batch", {}, 6, 5, 3, 2},
      {"one_query_and_key", {1}, 1, 1, 1, 1},
      {"one_key", {2}, 5, 1, 7, 9},
      {"several_blocks", {2}, 150, 70, 8, 5},
      {"keys_beyond_a_block", {1}, 40, 1100, 4, 4},
      {"causal", {2, 2}, 70, 70, 8, 8, true},
      {"causal_in_deep_blocks", {2}, 300, 300, 12, 10, true},
      {"causal_in_a_last_strip", {3}, 37, 37, 16, 16, true},
      {"many_features", {1}, 9, 10, 300, 270, true},
      {"causal_with_more_queries", {1, 2}, 45, 20, 3, 4, true},
      {"causal_with_more_keys", {1, 2}, 20, 45, 3, 4, true},
      {"scaled", {2}, 9, 8, 4, 4, false, Mask::kNone, 0.3},
      {"scaled_negatively", {2}, 4, 8, 4, 4, false, Mask::kNone, -0.5},
      {"additive_mask", {2, 2}, 34, 9, 4, 4, false, Mask::kAdditive},
      {"bool_mask", {2, 2}, 9, 34, 4, 4, false, Mask::kBool},
      {"bool_mask_per_head", {2, 3}, 6, 5, 4, 4, false, Mask::kBoolPerHead},
      {"mask_that_hides_rows", {2}, 7, 5, 3, 3, false, Mask::kHidesRows},
      {"heads_inside", {2, 4}, 11, 11, 3, 3, true, Mask::kNone, {}, Layout::kHeadsInside},
      {"transposed", {3}, 6, 10, 4, 5, false, Mask::kAdditive, {}, Layout::kTransposed},
  };
}

Shape with_matrix(Shape shape, std::int64_t rows, std::int64_t columns) {
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

Tensor waves(const Shape& shape, double phase, DType dtype) {
  const Tensor t = testing::generated<double>(
      shape, [&](std::int64_t i) { return std::sin(1.7 * static_cast<double>(i) + phase); });
  return ToDType::call(t, dtype);
}

// Numbers that do not depend on the memory layout.
Tensor operand(const Case& c, std::int64_t rows, std::int64_t columns, double phase, DType dtype) {
  const Tensor packed = waves(with_matrix(c.batch, rows, columns), phase, dtype);
  const auto laid_out = [&](std::int64_t a, std::int64_t b) {
    return Transpose::call(contiguous_copy(Transpose::call(packed, a, b)), a, b);
  };
  switch (c.layout) {
    case Layout::kPacked:
      return packed;
    case Layout::kHeadsInside:
      return laid_out(1, 2);
    default:
      return laid_out(-2, -1);
  }
}

std::optional<Tensor> mask_of(const Case& c, DType dtype) {
  if (c.mask == Mask::kNone) return {};
  if (c.mask == Mask::kAdditive) return waves({c.queries, c.keys}, 5, dtype);
  const bool is_per_head = c.mask == Mask::kBoolPerHead;
  const Shape shape =
      is_per_head ? Shape{c.batch[0], c.batch[1], 1, c.keys} : Shape{c.queries, c.keys};
  return testing::generated<bool>(shape, [&](std::int64_t i) {
    const bool is_hidden = c.mask == Mask::kHidesRows && i / c.keys % 3 == 1;
    return !is_hidden && i % 3 != 1;
  });
}

struct Call {
  Call(const Case& c, DType dtype)
      : given(c),
        inputs{operand(c, c.queries, c.features, 1, dtype),
               operand(c, c.keys, c.features, 2, dtype),
               operand(c, c.keys, c.value_features, 3, dtype)},
        mask(mask_of(c, dtype)),
        grad(waves(with_matrix(c.batch, c.queries, c.value_features), 4, dtype)) {
    for (Tensor& input : inputs) {
      input = detach(input);
      set_requires_grad(input, true);
    }
  }

  Tensor run() const {
    return ScaledDotProductAttention::call(inputs[0], inputs[1], inputs[2], mask, 0,
                                           given.is_causal, given.scale);
  }
  GradTargetList targets() const { return {inputs[0], inputs[1], inputs[2]}; }
  TensorList gradients(bool create_graph = false) const {
    GradOptions options;
    options.create_graph = create_graph;
    return eg::grad({run()}, targets(), {grad}, options);
  }

  const Case& given;
  TensorList inputs;
  std::optional<Tensor> mask;
  Tensor grad;
};

constexpr double kTolerance = 2e-5;

void expect_close(const Tensor& actual, const Tensor& expected, double tolerance = kTolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  const std::vector<double> a = values(actual);
  const std::vector<double> b = values(expected);
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << "at " << i;
}

void expect_close(const TensorList& actual, const TensorList& expected,
                  double tolerance = kTolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    SCOPED_TRACE(i);
    expect_close(actual[i], expected[i], tolerance);
  }
}

class FusedAttention : public ::testing::TestWithParam<Case> {
 protected:
  Call fused{GetParam(), DType::kFloat32};
  Call formula{GetParam(), DType::kFloat64};
};

TEST_P(FusedAttention, GivesWhatTheFormulaGives) {
  const Tensor out = fused.run();
  EXPECT_EQ(grad_fn(out)->name(), "ScaledDotProductFlashAttentionForCpuBackward0");
  expect_close(out, formula.run());
}

TEST_P(FusedAttention, HasTheGradientsOfTheFormula) {
  expect_close(fused.gradients(), formula.gradients());
}

TEST_P(FusedAttention, HasTheGradientsOfTheFormulaUnderCreateGraph) {
  const auto second = [](const Call& call) {
    Var total = 0;
    for (const Tensor& g : call.gradients(true))
      total = total + Var(testing::sum((Var(g) * g).tensor()));
    return eg::grad({total.tensor()}, call.targets());
  };
  expect_close(fused.gradients(true), formula.gradients());
  // Hundreds of products cancel in an element, so its error is not relative to its magnitude.
  expect_close(second(fused), second(formula), 2 * kTolerance);
}

TEST_P(FusedAttention, CarriesTangents) {
  const auto tangent_of_result = [](const Call& call) {
    const DualLevelGuard level;
    TensorList duals;
    for (std::size_t i = 0; i < 3; ++i)
      duals.push_back(make_dual(
          detach(call.inputs[i]),
          waves(call.inputs[i].shape(), 6 + static_cast<double>(i), call.inputs[i].dtype())));
    const Tensor out = ScaledDotProductAttention::call(duals[0], duals[1], duals[2], call.mask, 0,
                                                       call.given.is_causal, call.given.scale);
    return tangent(out);
  };
  expect_close(tangent_of_result(fused), tangent_of_result(formula));
}

TEST_P(FusedAttention, DoesNotDependOnTheNumberOfThreads) {
  const Tensor out = fused.run();
  const TensorList gradients = fused.gradients();
  set_num_threads(3);
  EXPECT_EQ(values(fused.run()), values(out));
  const TensorList shared = fused.gradients();
  set_num_threads(1);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(values(shared[i]), values(gradients[i]));
}

INSTANTIATE_TEST_SUITE_P(Cases, FusedAttention, ::testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(FusedAttentionChoice, AMaskThatNeedsAGradientTakesTheFormula) {
  const Tensor x = testing::leaf({1, 2, 3, 4}, {2, 2});
  const Tensor mask = testing::leaf({0, 1, 2, 0}, {2, 2});
  const Tensor out = ScaledDotProductAttention::call(x, x, x, mask);
  EXPECT_NE(grad_fn(out)->name(), "ScaledDotProductFlashAttentionForCpuBackward0");
  EXPECT_TRUE(eg::grad({testing::sum(out)}, {mask})[0].defined());
}

TEST(FusedAttentionChoice, WithoutKeysEveryResultIsZero) {
  const Tensor none = testing::tensor({}, {0, 2});
  EXPECT_EQ(values(ScaledDotProductAttention::call(testing::tensor({1, 2}, {1, 2}), none, none)),
            (std::vector<double>{0, 0}));
}

TEST(FusedAttentionChoice, HugeScoresStayFinite) {
  const Tensor q = testing::leaf({1000, -1000}, {2, 1});
  const Tensor k = testing::leaf({1000, -1000, 1}, {3, 1});
  const Tensor out = ScaledDotProductAttention::call(q, k, k);
  EXPECT_EQ(values(out), (std::vector<double>{1000, -1000}));
  for (const Tensor& g : eg::grad({testing::sum(out)}, {q, k}))
    for (const double value : values(g)) EXPECT_TRUE(std::isfinite(value));
}

TEST(FusedAttentionChoice, ANaNComesThroughEvenWhereAllElseIsHidden) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto hidden = static_cast<float>(-kInfinity);
  const Tensor q = testing::tensor({1, 2}, {2, 1});
  const Tensor k = testing::tensor({nan, 1}, {2, 1});
  const Tensor out =
      ScaledDotProductAttention::call(q, k, q, testing::tensor({0, hidden, hidden, 0}, {2, 2}));
  EXPECT_TRUE(std::isnan(values(out)[0]));
}

TEST(FusedAttentionChoice, AnInfiniteMaskHidesAKeyWhateverItsValueIs) {
  const Tensor q = testing::tensor({1, 2}, {2, 1});
  const auto hidden = static_cast<float>(-kInfinity);
  const Tensor out =
      ScaledDotProductAttention::call(q, q, q, testing::tensor({0, hidden, 0, 0}, {2, 2}));
  EXPECT_EQ(values(out)[0], 1);
}

}  // namespace
}  // namespace eg
