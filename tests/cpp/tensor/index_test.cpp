// markers: threads

// Selecting elements by index, and the reverse.

#include "ops/index/index.h"

#include <functional>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/forward_ad.h"
#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "ops/create/factory.h"
#include "ops/index/tensor_index.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "runtime/thread_pool.h"
#include "support/errors.h"
#include "support/forward_check.h"
#include "support/gradcheck.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::gradcheck_one;
using testing::leaf;
using testing::random_leaf;
using testing::range;
using testing::sum;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

Tensor indices(const std::vector<std::int64_t>& list) { return tensor<std::int64_t>(list); }
Tensor indices(const std::vector<std::int64_t>& list, const Shape& shape) {
  return tensor<std::int64_t>(list, shape);
}

TEST(IndexSelect, TakesSlices) {
  EXPECT_EQ(values(IndexSelect::call(range({3, 2}), 0, indices({2, 0, 2}))),
            (Values{4, 5, 0, 1, 4, 5}));
  EXPECT_EQ(values(IndexSelect::call(range({2, 3}), -1, indices({1}))), (Values{1, 4}));
  EXPECT_EQ(values(IndexSelect::call(Transpose::call(range({2, 3}), 0, 1), 0, indices({1}))),
            (Values{1, 4}));
  EXPECT_EQ(IndexSelect::call(range({3, 2}), 0, indices({})).shape(), (Shape{0, 2}));
  EXPECT_EQ(values(IndexSelect::call(range({3}), 0, tensor<std::int32_t>({1}))), Values{1});
  EXPECT_EQ(IndexSelect::call(range({}), 0, indices({0})).shape(), Shape{});
}

TEST(IndexSelect, WorksForEveryDtype) {
  EXPECT_EQ(values(IndexSelect::call(tensor<bool>({true, false}), 0, indices({1, 0}))),
            (Values{0, 1}));
  EXPECT_EQ(values(IndexSelect::call(tensor<double>({1, 2}), 0, indices({1, 1}))), (Values{2, 2}));
  EXPECT_EQ(values(IndexSelect::call(tensor<std::uint8_t>({1, 2}), 0, indices({1, 1}))),
            (Values{2, 2}));
}

TEST(IndexSelect, ReportsTheIndexThatIsOutOfRange) {
  const Tensor x = range({3, 2});
  expect_error(ErrorCode::kIndexOutOfRange,
               "[indexSelect] index 3 is out of range for dimension "
               "0 of size 3.",
               [&] { IndexSelect::call(x, 0, indices({0, 3})); });
  expect_error(ErrorCode::kIndexOutOfRange, "index -1 is out of range",
               [&] { IndexSelect::call(x, 0, indices({-1})); });
  expect_error(ErrorCode::kDtypeMismatch, "index must be int64 or int32, got float32",
               [&] { IndexSelect::call(x, 0, tensor({1})); });
  expect_error(ErrorCode::kShapeMismatch,
               "index must be a vector or a 0-dim tensor, got 2 dimensions",
               [&] { IndexSelect::call(x, 0, indices({1, 1}, {1, 2})); });
}

TEST(IndexSelect, AddsGradientsThatMeet) {
  const Tensor x = leaf({1, 2, 3, 4}, {2, 2});
  backward({sum(IndexSelect::call(x, 0, indices({1, 1, 0})))});
  EXPECT_EQ(values(grad(x)), (Values{1, 1, 2, 2}));
}

TEST(Embedding, LooksUpRows) {
  const Tensor weight = leaf({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor y = Embedding::call(indices({2, 0, 2, 1}, {2, 2}), weight, -2);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(values(y), (Values{5, 6, 1, 2, 5, 6, 3, 4}));
  EXPECT_EQ(grad_fn(y)->name(), "EmbeddingBackward0");
  backward({sum(y)});
  EXPECT_EQ(values(grad(weight)), (Values{1, 1, 0, 0, 2, 2}));
}

TEST(Embedding, ChecksItsArguments) {
  const Tensor weight = range({3, 2});
  expect_error(ErrorCode::kIndexOutOfRange, "[embedding] index 3",
               [&] { Embedding::call(indices({3}), weight); });
  expect_error(ErrorCode::kInvalidArgument,
               "paddingIdx must be a row of weight, which has 3, got 3",
               [&] { Embedding::call(indices({0}), weight, 3); });
  expect_error(ErrorCode::kShapeMismatch, "weight must be a matrix, got shape [3]",
               [&] { Embedding::call(indices({0}), range({3})); });
}

TEST(Embedding, GradientDoesNotDependOnThreads) {
  const auto gradient = [](int threads) {
    set_num_threads(threads);
    const Tensor weight = leaf(std::vector<float>(50 * 64, 0.0F), {50, 64});
    std::vector<std::int64_t> picks(2000);
    for (std::size_t i = 0; i < picks.size(); ++i) picks[i] = static_cast<std::int64_t>(i * i % 50);
    const Tensor y = Embedding::call(indices(picks), weight);
    const Tensor g = call<op::Div>(1, call<op::Add>(range({2000, 64}), 1));
    const Tensor result = grad({y}, {weight}, {g})[0];
    set_num_threads(1);
    return values(result);
  };
  EXPECT_EQ(gradient(1), gradient(4));
}

TEST(Embedding, PaddingGetsNoGradientOfAnyOrder) {
  const Tensor x = leaf<double>({1, 2, 3}, {3, 1});
  const Tensor y = Embedding::call(indices({0, 1, 2, 2}), call<op::Mul>(x, x), 1);
  const Tensor first = grad({sum(y)}, {x}, {}, {{.create_graph = true}})[0];
  EXPECT_EQ(values(first), (Values{2, 0, 12}));
  EXPECT_EQ(values(grad({sum(first)}, {x})[0]), (Values{2, 0, 4}));
}

TEST(IndexOps, DifferentiateTwice) {
  const Tensor x = random_leaf({3, 4}, 1);
  const auto square = [](const Tensor& t) { return call<op::Mul>(t, t); };
  EXPECT_TRUE(gradcheck_one(
      [&](auto& in) { return Embedding::call(indices({0, 2, 0}), square(in[0])); }, {x}));
  EXPECT_TRUE(gradcheck_one(
      [&](auto& in) { return square(IndexSelect::call(in[0], 1, indices({3, 0, 3}))); }, {x}));
  EXPECT_TRUE(gradcheck_one(
      [&](auto& in) { return square(Gather::call(in[0], 0, indices({2, 1, 2}, {1, 3}))); }, {x}));
}

TEST(IndexAdd, AddsInTheOrderOfTheIndex) {
  const Tensor y = IndexAdd::call(range({3}), 0, indices({0, 2, 0}), tensor({1, 2, 3}), 2);
  EXPECT_EQ(values(y), (Values{8, 1, 6}));
  expect_error(ErrorCode::kShapeMismatch, "each of the 1 indices, got 2",
               [] { IndexAdd::call(range({3}), 0, indices({0}), tensor({1, 2})); });
  expect_error(ErrorCode::kDtypeMismatch,
               "input and source must have the same dtype, got float32 and float64",
               [] { IndexAdd::call(range({3}), 0, indices({0}), tensor<double>({1})); });
  expect_error(ErrorCode::kInvalidArgument, "for int64 tensors, alpha must be an integer, got",
               [] { IndexAdd::call(indices({1}), 0, indices({0}), indices({1}), 0.5); });
}

TEST(IndexCopy, ReplacesSlices) {
  EXPECT_EQ(values(IndexCopy::call(range({3, 1}), 0, indices({2}), tensor({9}, {1, 1}))),
            (Values{0, 1, 9}));
  EXPECT_EQ(values(IndexFill::call(range({2, 2}), 1, indices({0}), 7)), (Values{7, 1, 7, 3}));
  EXPECT_EQ(values(IndexFill::call(tensor<std::int64_t>({1, 2}), 0, indices({0}), 7)),
            (Values{7, 2}));
}

TEST(Gather, TakesOneElementPerIndex) {
  const Tensor x = range({3, 4});
  EXPECT_EQ(values(Gather::call(x, 1, indices({0, 3, 1, 1, 2, 0}, {3, 2}))),
            (Values{0, 3, 5, 5, 10, 8}));
  EXPECT_EQ(values(Gather::call(x, 0, indices({2, 0}, {1, 2}))), (Values{8, 1}));
  EXPECT_EQ(values(Gather::call(Transpose::call(x, 0, 1), 0, indices({3, 2, 1}, {1, 3}))),
            (Values{3, 6, 9}));
  EXPECT_EQ(Gather::call(x, 1, indices({}, {3, 0})).shape(), (Shape{3, 0}));
  EXPECT_EQ(Gather::call(range({}), 0, indices({0}, {})).shape(), Shape{});
}

TEST(Gather, TakesNothingByAnEmptyIndexOfAnyShape) {
  for (const Shape& from : {Shape{}, Shape{3}, Shape{3, 4}}) {
    for (const Shape& shape : {Shape{0}, Shape{2, 0}, Shape{5, 0}, Shape{0, 7, 1}}) {
      const Tensor x = range(from);
      const Tensor g = tensor<float>({}, shape);
      for (const Tensor& one : {x, g}) set_requires_grad(one, true);
      const Tensor y = Gather::call(x, 0, indices({}, shape));
      EXPECT_EQ(y.shape(), shape);
      const Tensor dx = grad({y}, {x}, {g}, {{.create_graph = true}})[0];
      EXPECT_EQ(values(dx), Values(static_cast<std::size_t>(x.numel()), 0));
      EXPECT_EQ(grad({dx}, {g}, {x})[0].shape(), shape);
      EXPECT_EQ(values(Scatter::call(x, 0, indices({}, shape), 5)), values(x));
    }
  }
}

TEST(Gather, ChecksItsIndex) {
  const Tensor x = range({3, 4});
  expect_error(ErrorCode::kIndexOutOfRange, "index 4 is out of range for dimension 1 of size 4",
               [&] { Gather::call(x, 1, indices({4}, {1, 1})); });
  expect_error(ErrorCode::kShapeMismatch,
               "exceeds input of shape [3, 4] in dimension 0; only dimension 1",
               [&] { Gather::call(x, 1, indices({0, 0, 0, 0}, {4, 1})); });
  expect_error(ErrorCode::kShapeMismatch,
               "the same number of dimensions, got shapes [1] and [3, 4]",
               [&] { Gather::call(x, 1, indices({0})); });
}

TEST(Scatter, WritesToIndexedPlaces) {
  EXPECT_EQ(
      values(Scatter::call(range({2, 3}), 1, indices({2, 0}, {2, 1}), tensor({7, 8}, {2, 1}))),
      (Values{0, 1, 7, 8, 4, 5}));
  EXPECT_EQ(values(Scatter::call(range({2, 3}), 1, indices({2, 0}, {2, 1}), -1)),
            (Values{0, 1, -1, -1, 4, 5}));
  EXPECT_EQ(values(ScatterAdd::call(range({3}), 0, indices({1, 1, 1}), tensor({1, 2, 3}))),
            (Values{0, 7, 2}));
}

TEST(Scatter, LeavesEverythingUnchangedOnAnError) {
  const Tensor x = range({3});
  expect_error(ErrorCode::kIndexOutOfRange, "index 3 is out of range for dimension 0 of size 3",
               [&] { ScatterAdd::call(x, 0, indices({0, 3}), tensor({1, 2})); });
  expect_error(ErrorCode::kShapeMismatch, "index of shape [4] must not exceed src of shape [2]",
               [&] { ScatterAdd::call(x, 0, indices({0, 0, 0, 0}), tensor({1, 2})); });
  EXPECT_EQ(values(x), (Values{0, 1, 2}));
}

TEST(Scatter, DifferentiatesASourceLargerThanTheIndex) {
  EXPECT_TRUE(gradcheck_one(
      [](auto& in) {
        return ScatterAdd::call(in[0], 0, indices({1, 0, 1}, {1, 3}), call<op::Mul>(in[1], in[1]));
      },
      {random_leaf({2, 3}, 1), random_leaf({2, 4}, 2)}));
}

TEST(TakeAlongDim, BroadcastsTheOtherDimensions) {
  EXPECT_EQ(values(TakeAlongDim::call(range({2, 3}), indices({1}, {1, 1}), 1)), (Values{1, 4}));
  EXPECT_EQ(values(TakeAlongDim::call(range({1, 3}), indices({1, 2}, {2, 1}), 1)), (Values{1, 2}));
  EXPECT_EQ(values(TakeAlongDim::call(range({2, 3}), indices({5, 0}))), (Values{5, 0}));
}

TEST(Take, CountsFromTheEnd) {
  EXPECT_EQ(values(Take::call(range({2, 3}), indices({-1, 0}, {2, 1}))), (Values{5, 0}));
  expect_error(ErrorCode::kIndexOutOfRange, "index 6 is out of range for a tensor of 6 elements",
               [] { Take::call(range({2, 3}), indices({6})); });
}

TEST(MaskedSelect, BroadcastsTheMask) {
  EXPECT_EQ(values(MaskedSelect::call(range({2, 3}), tensor<bool>({true, false, true}))),
            (Values{0, 2, 3, 5}));
  EXPECT_EQ(values(Nonzero::call(tensor({0, 1, 2, 0}, {2, 2}))), (Values{0, 1, 1, 0}));
  EXPECT_EQ(Nonzero::call(range({})).shape(), (Shape{0, 0}));
  expect_error(ErrorCode::kDtypeMismatch, "mask must be bool, got float32",
               [] { MaskedSelect::call(range({2}), range({2})); });
}

TEST(RepeatInterleave, RepeatsInPlace) {
  EXPECT_EQ(values(RepeatInterleave::call(range({2, 2}), 2)), (Values{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(values(RepeatInterleave::call(range({3}), indices({2, 0, 1}), 0)), (Values{0, 0, 2}));
}

TEST(OneHot, InfersTheNumberOfClasses) {
  EXPECT_EQ(values(OneHot::call(indices({1, 0}))), (Values{0, 1, 1, 0}));
  EXPECT_EQ(OneHot::call(indices({1, 0}), 5).shape(), (Shape{2, 5}));
  expect_error(ErrorCode::kIndexOutOfRange, "must be less than numClasses, 2, got 2",
               [] { OneHot::call(indices({2}), 2); });
  expect_error(ErrorCode::kIndexOutOfRange, "classes must not be negative, got -1",
               [] { OneHot::call(indices({-1}), 2); });
}

// The element written last counts, for tangents as for values.
TEST(RepeatedIndices, TangentsAreWrittenAsValuesAre) {
  const Tensor x = leaf<double>({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor y = leaf<double>({7, 8, 9, 10, 11, 12}, {3, 2});
  const Tensor x_tangent = tensor<double>({-1, -2, -3, -4, -5, -6}, {3, 2});
  const Tensor y_tangent = tensor<double>({-7, -8, -9, -10, -11, -12}, {3, 2});
  const Tensor rows = indices({2, 0, 2});
  const Tensor elements = indices({2, 0, 2, 1, 0, 1}, {3, 2});
  const std::vector<std::function<Tensor(const Tensor&, const Tensor&)>> writes{
      [&](const Tensor& a, const Tensor& b) { return IndexCopy::call(a, 0, rows, b); },
      [&](const Tensor& a, const Tensor& b) { return Scatter::call(a, 0, elements, b); },
      [&](const Tensor& a, const Tensor& b) { return IndexPut::call(a, {rows}, b); },
      [&](const Tensor& a, const Tensor& b) { return IndexPut::call(a, {rows}, b, true); },
      [&](const Tensor& a, const Tensor& b) {
        return IndexPutInPlace::call((Var(a) * 1).tensor(), {rows}, b, false);
      },
      [&](const Tensor& a, const Tensor& b) {
        const Tensor target = (Var(a) * 1).tensor();
        IndexPutInPlace::call(Select::call(target, 1, 0), {rows}, Select::call(b, 1, 1), false);
        return target;
      }};
  for (std::size_t i = 0; i < writes.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& write = writes[i];
    const DualLevelGuard level;
    const Tensor both = write(make_dual(x, x_tangent), make_dual(y, y_tangent));
    EXPECT_EQ(values(tangent(both)), values(write(x_tangent, y_tangent)));
    const Tensor of_source = write(x, make_dual(y, y_tangent));
    const Tensor none = full_like(x_tangent, 0);
    EXPECT_EQ(values(tangent(of_source)), values(write(none, y_tangent)));
    const Tensor of_target = write(make_dual(x, x_tangent), y);
    EXPECT_EQ(values(tangent(of_target)), values(write(x_tangent, none)));
  }
}

TEST(IndexFill, CountsAValueOncePerSliceInItsGradient) {
  const Tensor x = random_leaf({3, 4}, 1);
  const Tensor value = leaf<double>({0.5}, Shape{});
  const auto fill = [](const TensorList& in) {
    return TensorList{IndexFill::call(in[0], 1, indices({2, 0, 2, 0}), in[1])};
  };
  EXPECT_TRUE(testing::gradcheck(fill, {x, value}));
  EXPECT_TRUE(testing::forward_check(fill, {x, value}));
  EXPECT_EQ(values(grad({sum(fill({x, value})[0])}, {value})[0]), Values{6});
}

}  // namespace
}  // namespace eg
