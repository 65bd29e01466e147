// Ops composed of other ops: reductions that skip NaN, grids, comparisons with a tolerance.

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/elementwise/branch.h"
#include "ops/index/index.h"
#include "ops/nn/distance.h"
#include "ops/reduce/reduction_composite.h"
#include "ops/shape/join.h"
#include "support/errors.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::leaf;
using testing::sum;
using testing::tensor;
using testing::value;
using testing::values;
using Values = std::vector<double>;

TEST(NanReductions, LeaveNansOut) {
  const Tensor x = leaf({1, NAN, 3, NAN, NAN, NAN}, {2, 3});
  EXPECT_EQ(values(Nansum::call(x, Dims{1})), (Values{4, 0}));
  EXPECT_EQ(value(Nanmean::call(x)), 2);
  EXPECT_TRUE(std::isnan(values(Nanmean::call(x, Dims{-1}))[1]));
  backward({Nansum::call(x)});
  EXPECT_EQ(values(grad(x)), (Values{1, 0, 1, 0, 0, 0}));
  EXPECT_EQ(Nansum::call(tensor<std::int32_t>({1, 2})).dtype(), DType::kInt64);
  expect_error(ErrorCode::kDtypeMismatch, "[nanmean]",
               [] { Nanmean::call(tensor<std::int32_t>({1})); });
}

TEST(CountNonzero, CountsNans) {
  const Tensor x = tensor({0, NAN, 3, -0.0F}, {2, 2});
  EXPECT_EQ(value(CountNonzero::call(x)), 2);
  EXPECT_EQ(values(CountNonzero::call(x, Dims{0})), (Values{1, 1}));
}

TEST(Aminmax, IsAminAndAmax) {
  const TensorList both = Aminmax::call(tensor({3, 1, 2, 5}, {2, 2}), 1, true);
  EXPECT_EQ(values(both[0]), (Values{1, 2}));
  EXPECT_EQ(values(both[1]), (Values{3, 5}));
  EXPECT_EQ(both[0].shape(), (Shape{2, 1}));
}

TEST(VarMean, GivesBoth) {
  const Tensor x = tensor({1, 3, 5, 9}, {2, 2});
  EXPECT_EQ(values(VarMean::call(x, Dims{1})[0]), (Values{2, 8}));
  EXPECT_EQ(values(StdMean::call(x, Dims{1}, 0)[0]), (Values{1, 2}));
  EXPECT_EQ(values(StdMean::call(x, Dims{1})[1]), (Values{2, 7}));
}

TEST(Max, OfTwoTensorsIsMaximum) {
  const Tensor x = tensor({1, 5});
  EXPECT_EQ(values(Max::call(x, Operand(tensor({3, 4}))).tensors[0]), (Values{3, 5}));
  EXPECT_EQ(values(Min::call(x, Operand(tensor<std::int64_t>({2}, {}))).tensors[0]),
            (Values{1, 2}));
  expect_error(ErrorCode::kInvalidArgument, "[max]", [&] { Max::call(x, 0.5); });
}

TEST(Stacks, TreatVectorsAsRowsOrEndToEnd) {
  const Tensor a = tensor({1, 2});
  const Tensor b = tensor({3}, {});
  EXPECT_EQ(values(Hstack::call({a, b})), (Values{1, 2, 3}));
  EXPECT_EQ(Vstack::call({a, a}).shape(), (Shape{2, 2}));
  EXPECT_EQ(Hstack::call({Vstack::call({a, a}), Vstack::call({a, a})}).shape(), (Shape{2, 4}));
}

TEST(Meshgrid, RunsAlongRowsOrColumns) {
  const Tensor x = tensor({1, 2, 3});
  const Tensor y = tensor({4, 5});
  const TensorList ij = Meshgrid::call({x, y});
  EXPECT_EQ(ij[0].shape(), (Shape{3, 2}));
  EXPECT_EQ(values(ij[0]), (Values{1, 1, 2, 2, 3, 3}));
  const TensorList xy = Meshgrid::call({x, y}, GridIndexing::kXY);
  EXPECT_EQ(xy[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(values(xy[0]), (Values{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(values(xy[1]), (Values{4, 4, 4, 5, 5, 5}));
}

TEST(MaskedScatter, FillsInOrder) {
  const Tensor x = tensor({0, 0, 0, 0}, {2, 2});
  const Tensor mask = tensor<bool>({true, false, true, true}, {2, 2});
  EXPECT_EQ(values(MaskedScatter::call(x, mask, tensor({1, 2, 3, 4}))), (Values{1, 0, 2, 3}));
  expect_error(ErrorCode::kShapeMismatch, "mask selects 3 elements, but source has 2",
               [&] { MaskedScatter::call(x, mask, tensor({1, 2})); });
}

TEST(Prelu, HasAWeightForAllOrPerChannel) {
  const Tensor x = tensor({-1, -2, 3, -4}, {2, 2});
  EXPECT_EQ(values(Prelu::call(x, tensor({0.5F}))), (Values{-0.5, -1, 3, -2}));
  EXPECT_EQ(values(Prelu::call(x, tensor({1, 10}))), (Values{-1, -20, 3, -40}));
  expect_error(ErrorCode::kShapeMismatch, "one for each channel, 2, got 3",
               [&] { Prelu::call(x, tensor({1, 2, 3})); });
}

TEST(Threshold, ReplacesWhatIsNotAbove) {
  EXPECT_EQ(values(Threshold::call(tensor({1, 2, 3}), 2, -1)), (Values{-1, -1, 3}));
}

TEST(Isclose, AllowsATolerance) {
  const Tensor x = tensor({1, INFINITY, NAN, 1});
  const Tensor y = tensor({1.000001F, INFINITY, NAN, 1.1F});
  EXPECT_EQ(values(Isclose::call(x, y)), (Values{1, 1, 0, 0}));
  EXPECT_EQ(values(Isclose::call(x, y, 0.2, 0, true)), (Values{1, 1, 1, 1}));
}

TEST(Cdist, MeasuresRowsAgainstRows) {
  const Tensor a = tensor({0, 0, 3, 4}, {2, 2});
  EXPECT_EQ(values(Cdist::call(a, tensor({0, 0}, {1, 2}))), (Values{0, 5}));
  EXPECT_EQ(values(Cdist::call(a, tensor({0, 0}, {1, 2}), 1)), (Values{0, 7}));
  expect_error(ErrorCode::kShapeMismatch, "must have the same size",
               [&] { Cdist::call(a, tensor({1, 2, 3}, {1, 3})); });
}

}  // namespace
}  // namespace eg
