// Laws that every op with samples obeys, beyond the elementwise ones (op_laws_test.cpp).

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/graph/variable.h"
#include "dispatch/var.h"
#include "ops/op_table.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "support/forward_check.h"
#include "support/gradcheck.h"
#include "support/op_samples.h"
#include "support/sample_cases.h"
#include "support/tensors.h"
#include "support/test_device.h"

namespace eg {
namespace {

using testing::SampleCall;
using testing::SampleCase;
using testing::values;

class FunctionLaws : public ::testing::TestWithParam<SampleCase> {
 protected:
  SampleCall call() const { return {GetParam().op_id, GetParam().arguments, GetParam().sample}; }

  // The op with results that can be compared by finite differences: vectors of complex matrices are
  // only unique up to a phase, so their magnitudes are compared.
  testing::Function smooth_call() const {
    const std::string& label = GetParam().label;
    if (!label.starts_with("svd") && !label.starts_with("eig")) return call();
    return [op = call()](const TensorList& leaves) {
      TensorList results = op(leaves);
      for (Tensor& result : results) {
        if (is_complex(result.dtype())) result = abs(Var(result)).tensor();
      }
      return results;
    };
  }
};

// The leaves as complex numbers off the real axis.
TensorList complex_leaves(const TensorList& leaves) {
  TensorList result;
  double angle = 0.3;
  for (const Tensor& leaf : leaves) {
    const Tensor turned = Polar::call(detach(leaf), full_like(leaf, angle));
    set_requires_grad(turned, true);
    result.push_back(turned);
    angle += 0.4;
  }
  return result;
}

// rule: formula-checks
// First and second order.
TEST_P(FunctionLaws, GradientsMatchFiniteDifferences) {
  const SampleCall op = call();
  const TensorList leaves = op.leaves();
  if (leaves.empty() || GetParam().has_gradient_of_its_own) return SUCCEED();
  for (const Tensor& result : op(leaves)) {
    if (!requires_grad(result)) return SUCCEED();
  }
  EXPECT_TRUE(testing::gradcheck(smooth_call(), leaves)) << GetParam().sample;
}

// rule: forward-mode
TEST_P(FunctionLaws, TangentsMatchGradients) {
  if (GetParam().has_gradient_of_its_own) return SUCCEED();
  const SampleCall op = call();
  EXPECT_TRUE(testing::forward_check(smooth_call(), op.leaves())) << GetParam().sample;
}

// rule: complex-conjugates, complex-real-operand
// For every op that accepts complex numbers in place of its real samples; the others
// must refuse them.
TEST_P(FunctionLaws, ComplexGradientsMatchFiniteDifferences) {
  const SampleCall op = call();
  const TensorList real_leaves = op.leaves();
  for (const Tensor& leaf : real_leaves) {
    if (leaf.dtype() != DType::kFloat64) return SUCCEED();
  }
  const TensorList leaves = complex_leaves(real_leaves);
  TensorList results;
  try {
    results = op(leaves);
  } catch (const Error& error) {
    EXPECT_EQ(error_code_name(error.code()), error_code_name(ErrorCode::kDtypeMismatch))
        << error.what();
    return;
  }
  for (const Tensor& result : results) {
    if (!requires_grad(result)) return SUCCEED();
  }
  if (leaves.empty()) return SUCCEED();
  EXPECT_TRUE(testing::gradcheck(smooth_call(), leaves)) << GetParam().sample;
  EXPECT_TRUE(testing::forward_check(smooth_call(), leaves)) << GetParam().sample;
}

TEST_P(FunctionLaws, StridedInputEqualsItsContiguousCopy) {
  const SampleCall op = call();
  TensorList packed;
  TensorList strided;
  for (const Tensor& leaf : op.leaves()) {
    packed.push_back(detach(leaf));
    Shape wide = leaf.shape();
    wide.push_back(2);
    const Tensor room = testing::full(wide, 0, leaf.dtype());
    Strides strides = room.strides();
    strides.pop_back();
    const Tensor view = room.alias(leaf.shape(), strides, 1);
    copy_data(view, leaf);
    strided.push_back(view);
  }
  // as_strided depends on strides, and those of pairs of parts are different.
  const std::string& label = GetParam().label;
  const bool is_about_geometry =
      label.starts_with("as_strided") || label.starts_with("view_as_complex");
  if (is_about_geometry || packed.empty()) return SUCCEED();
  const TensorList expected = op(packed);
  const TensorList actual = op(strided);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].shape(), expected[i].shape());
    const auto a = values(actual[i]);
    const auto b = values(expected[i]);
    for (std::size_t n = 0; n < a.size(); ++n)
      EXPECT_NEAR(a[n], b[n], 1e-12 * (1 + std::abs(b[n])));
  }
}

// x.op_(...) for an x that was computed, and for an x that is a view of another tensor.
TEST_P(FunctionLaws, InPlaceFormIsTheOpForAutogradToo) {
  const SampleCall op = call();
  const TensorList leaves = op.leaves();
  if (op_table()[GetParam().op_id].in_place.call == nullptr || leaves.empty()) return SUCCEED();
  const bool changes_shape = op(leaves)[0].shape() != leaves[0].shape();
  if (changes_shape && !GetParam().is_view_in_place) return SUCCEED();
  const auto change = [&](const TensorList& in, const Tensor& target) {
    TensorList arguments = in;
    arguments[0] = target;
    const std::uint32_t version = target.version();
    EXPECT_TRUE(op(arguments, true)[0].is_same(target));
    EXPECT_GT(target.version(), version);
  };
  const auto of_result = [&](const TensorList& in) {
    const Tensor x = (Var(in[0]) * 2).tensor();
    change(in, x);
    return TensorList{x};
  };
  const auto of_part = [&](const TensorList& in) {
    const Tensor base = Stack::call({in[0], in[0]});
    const Tensor part = Select::call(base, 0, 1);
    change(in, part);
    return TensorList{base, part};
  };
  const auto plain = [&](const TensorList& in) {
    TensorList arguments = in;
    arguments[0] = (Var(in[0]) * 2).tensor();
    return op(arguments);
  };
  EXPECT_EQ(values(of_result(leaves)[0]), values(plain(leaves)[0]));
  EXPECT_TRUE(testing::gradcheck(of_result, leaves)) << GetParam().sample;
  EXPECT_TRUE(testing::gradcheck(of_part, leaves)) << GetParam().sample;
  EXPECT_TRUE(testing::forward_check(of_result, leaves)) << GetParam().sample;
  EXPECT_THROW(op(leaves, true), Error);
}

// The call succeeds with gradients of the right shapes, or throws an error that names the op.
void expect_works_or_is_refused(const SampleCall& op, std::string_view name) {
  const TensorList leaves = op.leaves();
  try {
    TensorList recorded;
    TensorList ones;
    for (const Tensor& result : op(leaves)) {
      if (!requires_grad(result)) continue;
      recorded.push_back(result);
      ones.push_back(full_like(result, 1));
    }
    if (recorded.empty()) return;
    GradOptions options;
    options.materialize_grads = true;
    const TensorList grads = grad(recorded, leaves, ones, options);
    for (std::size_t i = 0; i < leaves.size(); ++i) EXPECT_EQ(grads[i].shape(), leaves[i].shape());
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    EXPECT_NE(std::string_view(error.what()).find('['), std::string_view::npos)
        << name << ": " << error.what();
  }
}

// Which results and gradients have a graph.
std::string graphs_of(const SampleCall& op) {
  const TensorList leaves = op.leaves();
  std::string graphs;
  try {
    TensorList recorded;
    TensorList ones;
    for (const Tensor& result : op(leaves)) {
      graphs += requires_grad(result) ? 'g' : '-';
      if (!requires_grad(result)) continue;
      recorded.push_back(result);
      ones.push_back(full_like(result, 1));
    }
    if (recorded.empty()) return graphs;
    const GradOptions options{{.create_graph = true}, /*allow_unused=*/true};
    for (const Tensor& gradient : grad(recorded, leaves, ones, options)) {
      graphs += !gradient.defined() ? '0' : requires_grad(gradient) ? 'g' : '-';
    }
  } catch (const Error& error) {
    graphs += error_code_name(error.code());
  }
  return graphs;
}

// Also of scalars, where loops and reductions have a single element.
TEST_P(FunctionLaws, GraphsAreTheSameOnEveryDevice) {
  const auto on = [&](Device device) {
    const testing::DefaultDeviceGuard guard(device);
    return graphs_of(call()) + ' ' + graphs_of(call().with_scalars());
  };
  EXPECT_EQ(on(testing::kTestDevice), on(Device{})) << GetParam().sample;
}

TEST_P(FunctionLaws, EmptyAndScalarInputsWorkOrAreRefusedByName) {
  const SampleCall op = call();
  for (const std::int64_t size : op.sizes()) {
    SCOPED_TRACE(GetParam().sample + " without size " + std::to_string(size));
    expect_works_or_is_refused(op.without(size), GetParam().label);
  }
  SCOPED_TRACE(GetParam().sample + " of scalars");
  expect_works_or_is_refused(op.with_scalars(), GetParam().label);
}

INSTANTIATE_TEST_SUITE_P(Functions, FunctionLaws, ::testing::ValuesIn(testing::sample_cases()),
                         [](const auto& test) { return test.param.label; });

}  // namespace
}  // namespace eg
