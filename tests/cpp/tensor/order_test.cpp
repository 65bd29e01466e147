// Sorting, the largest elements, medians.

#include "ops/index/order.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
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

TEST(Sort, GivesValuesAndWhereTheyWere) {
  const Tensor x = tensor({3, 1, 2, -1, 0, -2}, {2, 3});
  const TensorList rows = Sort::call(x);
  EXPECT_EQ(values(rows[0]), (Values{1, 2, 3, -2, -1, 0}));
  EXPECT_EQ(values(rows[1]), (Values{1, 2, 0, 2, 0, 1}));
  EXPECT_EQ(rows[1].dtype(), DType::kInt64);
  const TensorList columns = Sort::call(x, 0, true);
  EXPECT_EQ(values(columns[0]), (Values{3, 1, 2, -1, 0, -2}));
  EXPECT_EQ(values(Sort::call(Transpose::call(x, 0, 1), 0)[0]), (Values{1, -2, 2, -1, 3, 0}));
}

TEST(Sort, KeepsTheOrderOfEqualElements) {
  const Tensor x = tensor({1, 0, 1, -0.0F, 1});
  EXPECT_EQ(values(Sort::call(x)[1]), (Values{1, 3, 0, 2, 4}));
  EXPECT_EQ(values(Sort::call(x, 0, true)[1]), (Values{0, 2, 4, 1, 3}));
}

TEST(Sort, TakesNanForTheLargest) {
  const Tensor x = tensor({NAN, INFINITY, -INFINITY, -NAN});
  EXPECT_EQ(values(Sort::call(x)[1]), (Values{2, 1, 0, 3}));
  EXPECT_EQ(values(Sort::call(x, 0, true)[1]), (Values{0, 3, 1, 2}));
}

TEST(Sort, WorksForEveryDtypeAndShape) {
  const std::int64_t big = std::int64_t{1} << 60;
  EXPECT_EQ(values(Sort::call(tensor<std::int64_t>({big + 1, -big, big}))[1]), (Values{1, 2, 0}));
  EXPECT_EQ(values(Sort::call(tensor<std::uint8_t>({255, 0}))[0]), (Values{0, 255}));
  EXPECT_EQ(values(Sort::call(tensor<bool>({true, false}))[0]), (Values{0, 1}));
  EXPECT_EQ(Sort::call(tensor({}, {0, 3}), 0)[0].shape(), (Shape{0, 3}));
  EXPECT_EQ(Sort::call(tensor({1}, {}))[1].shape(), Shape{});
}

TEST(Argsort, IsTheIndicesOfSort) {
  const Tensor order = Argsort::call(leaf({3, 1, 2}));
  EXPECT_EQ(values(order), (Values{1, 2, 0}));
  EXPECT_FALSE(requires_grad(order));
}

TEST(Topk, GivesTheLargestOrTheSmallest) {
  const Tensor x = tensor({3, 1, 4, 1, 5, 9}, {2, 3});
  EXPECT_EQ(values(Topk::call(x, 2)[0]), (Values{4, 3, 9, 5}));
  EXPECT_EQ(values(Topk::call(x, 2)[1]), (Values{2, 0, 2, 1}));
  EXPECT_EQ(values(Topk::call(x, 1, 0, false)[0]), (Values{1, 1, 4}));
  EXPECT_EQ(Topk::call(x, 0)[0].shape(), (Shape{2, 0}));
  expect_error(ErrorCode::kIndexOutOfRange, "k must be in [0, 3], got 4",
               [&] { Topk::call(x, 4); });
}

TEST(Topk, GradientGoesToTheChosen) {
  const Tensor x = leaf({2, 2, 1, 2});
  backward({sum(Topk::call(x, 2)[0])});
  EXPECT_EQ(values(grad(x)), (Values{1, 1, 0, 0}));
}

TEST(Median, IsTheLowerOfTwo) {
  EXPECT_EQ(value(Median::call(tensor({4, 1, 3, 2})).tensors[0]), 2);
  const TensorList rows = Median::call(tensor<std::int32_t>({5, 1, 3, 2, 2, 8}, {2, 3}), 1).tensors;
  EXPECT_EQ(values(rows[0]), (Values{3, 2}));
  EXPECT_EQ(rows[0].dtype(), DType::kInt32);
  EXPECT_EQ(values(rows[1]), (Values{2, 1}));
  EXPECT_EQ(Median::call(tensor({1, 2}, {1, 2}), 0, true).tensors[0].shape(), (Shape{1, 2}));
}

TEST(Median, IsNanWhereThereIsOne) {
  const Tensor x = tensor({1, NAN, 0, 2, 3, 4}, {2, 3});
  EXPECT_TRUE(std::isnan(value(Median::call(x).tensors[0])));
  EXPECT_TRUE(std::isnan(value(Median::call(tensor({}, {0})).tensors[0])));
  const TensorList rows = Median::call(x, 1).tensors;
  EXPECT_TRUE(std::isnan(values(rows[0])[0]));
  EXPECT_EQ(values(rows[1]), (Values{1, 1}));
  expect_error(ErrorCode::kIndexOutOfRange, "", [] { Median::call(tensor({}, {0}), 0); });
}

// rule: ties-of-reductions
TEST(Median, OfAllSharesItsGradientAmongEqualElements) {
  const Tensor x = leaf<double>({1, 0, 1, 0, 1, 0});
  backward({Median::call(x).tensors[0]});
  EXPECT_EQ(values(grad(x)), (Values{0, 1.0 / 3, 0, 1.0 / 3, 0, 1.0 / 3}));
  const Tensor nans = leaf<double>({NAN, NAN, NAN});
  backward({Median::call(nans).tensors[0]});
  EXPECT_EQ(values(grad(nans)), (Values{1.0 / 3, 1.0 / 3, 1.0 / 3}));
}

TEST(Median, AlongADimGivesItsGradientToOne) {
  const Tensor x = leaf<double>({1, 0, 1, 0, 1, 0});
  backward({Median::call(x, 0).tensors[0]});
  EXPECT_EQ(value(sum(grad(x))), 1);
}

TEST(Kthvalue, CountsFromTheSmallest) {
  const Tensor x = leaf({3, 1, 2, 6, 5, 4}, {2, 3});
  const TensorList second = Kthvalue::call(x, 2);
  EXPECT_EQ(values(second[0]), (Values{2, 5}));
  EXPECT_EQ(values(second[1]), (Values{2, 1}));
  EXPECT_EQ(Kthvalue::call(x, 1, 0, true)[0].shape(), (Shape{1, 3}));
  EXPECT_EQ(Kthvalue::call(tensor({7}, {}), 1)[0].shape(), Shape{});
  backward({sum(second[0])});
  EXPECT_EQ(values(grad(x)), (Values{0, 0, 1, 0, 1, 0}));
  expect_error(ErrorCode::kIndexOutOfRange, "k must be in [1, 3] for dimension 1, got 4",
               [&] { Kthvalue::call(x, 4); });
  expect_error(ErrorCode::kIndexOutOfRange, "[kthvalue]", [&] { Kthvalue::call(x, 0, 0); });
}

TEST(Nanmedian, LeavesNansOut) {
  const Tensor x = tensor({3, NAN, 1, NAN, NAN, NAN, 4, 2, 1}, {3, 3});
  const OneOrMore rows = Nanmedian::call(x, 1);
  EXPECT_EQ(values(rows.tensors[0])[0], 1);
  EXPECT_TRUE(std::isnan(values(rows.tensors[0])[1]));
  EXPECT_EQ(values(rows.tensors[0])[2], 2);
  EXPECT_EQ(values(rows.tensors[1]), (Values{2, 0, 1}));
  EXPECT_EQ(value(Nanmedian::call(x).tensors[0]), 2);
  EXPECT_EQ(value(Nanmedian::call(tensor<std::int64_t>({5, 1, 3})).tensors[0]), 3);
}

TEST(Mode, IsTheSmallestOfTheMostFrequentAndItsLastPlace) {
  const TensorList rows = Mode::call(tensor({2, 1, 2, 1, 0, 5, 4, 5, 5, 4}, {2, 5}));
  EXPECT_EQ(values(rows[0]), (Values{1, 5}));
  EXPECT_EQ(values(rows[1]), (Values{3, 3}));
  EXPECT_EQ(Mode::call(tensor({1, 2}, {2, 1}), 0, true)[0].shape(), (Shape{1, 1}));
  EXPECT_EQ(values(Mode::call(tensor<bool>({true, false, true}))[0]), Values{1});
}

TEST(Msort, SortsTheFirstDimension) {
  EXPECT_EQ(values(Msort::call(tensor({3, 1, 2, 4}, {2, 2}))), (Values{2, 1, 3, 4}));
}

TEST(CumulativeExtremes, TakeTheLastOfEquals) {
  const TensorList largest = Cummax::call(tensor({1, 3, 3, 2, 5}), 0);
  EXPECT_EQ(values(largest[0]), (Values{1, 3, 3, 3, 5}));
  EXPECT_EQ(values(largest[1]), (Values{0, 1, 2, 2, 4}));
  const TensorList smallest = Cummin::call(tensor<std::int64_t>({4, 2, 3, 2, 5, 0}, {2, 3}), -1);
  EXPECT_EQ(values(smallest[0]), (Values{4, 2, 2, 2, 2, 0}));
  EXPECT_EQ(values(smallest[1]), (Values{0, 1, 1, 0, 0, 2}));
  EXPECT_EQ(values(Cummax::call(tensor({1, 4, 3, 2}, {2, 2}), 0)[0]), (Values{1, 4, 3, 4}));
  EXPECT_EQ(Cummin::call(tensor({}, {0, 2}), 0)[1].shape(), (Shape{0, 2}));
}

TEST(CumulativeExtremes, KeepNan) {
  for (const TensorList& result : {Cummax::call(tensor({1, NAN, INFINITY}), 0),
                                   Cummin::call(tensor({1, NAN, -INFINITY}), 0)}) {
    EXPECT_EQ(values(result[0])[0], 1);
    EXPECT_TRUE(std::isnan(values(result[0])[1]) && std::isnan(values(result[0])[2]));
    EXPECT_EQ(values(result[1]), (Values{0, 1, 1}));
  }
}

TEST(CumulativeExtremes, GiveTheGradientToWhatTheyChose) {
  const Tensor x = leaf({1, 3, 3, 2});
  backward({sum(Cummax::call(x, 0)[0])});
  EXPECT_EQ(values(grad(x)), (Values{1, 1, 2, 0}));
}

}  // namespace
}  // namespace eg
