// Reductions of scattered elements, and searches in sorted sequences.

#include "ops/index/scatter_reduce.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/index/search.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/forward_check.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;
using Reduction = ScatterReduction;

struct Outcome {
  Values value;
  Values of_self;
  Values of_src;
};

void expect_scattered(const Values& actual, const Values& expected) {
  testing::expect_near(actual, expected, 1e-14);
}

// Also the gradients for 1, 2, 3, ... One index collects two zeros, another equal numbers.
void expect_outcome(Reduction reduce, bool include_self, const Outcome& expected) {
  const Tensor x = tensor<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor src = tensor<double>({2, 2, 0, 7, 4, 0}, {2, 3});
  const Tensor index = tensor<std::int64_t>({1, 1, 0, 0, 0, 2}, {2, 3});
  set_requires_grad(x, true);
  set_requires_grad(src, true);
  const Tensor y = ScatterReduce::call(x, 1, index, src, reduce, include_self);
  const TensorList grads = grad({y}, {x, src}, {tensor<double>({1, 2, 3, 4, 5, 6}, {2, 3})});
  expect_scattered(values(y), expected.value);
  expect_scattered(values(grads[0]), expected.of_self);
  expect_scattered(values(grads[1]), expected.of_src);
}

// With no, one, two and three zeros for an index.
TEST(ScatterReduce, ProductsHaveDerivativesOfEveryOrderAtZeros) {
  const Tensor x = testing::leaf<double>({1.5, 0, -2, 3}, {1, 4});
  const Tensor src = testing::leaf<double>({0, 2, 0, 3, 0, 0, -1, 0, 4}, {1, 9});
  const Tensor index = tensor<std::int64_t>({0, 0, 0, 1, 2, 2, 3, 2, 3}, {1, 9});
  for (const bool include_self : {true, false}) {
    const auto products = [&](const TensorList& in) {
      return ScatterReduce::call(in[0], 1, index, in[1], Reduction::kProd, include_self);
    };
    EXPECT_TRUE(testing::gradcheck_one(products, {x, src}));
    EXPECT_TRUE(testing::forward_check(
        [&](const TensorList& in) { return TensorList{products(in)}; }, {x, src}));
  }
  const auto scalar = [](const TensorList& in) {
    return ScatterReduce::call(in[0], 0, tensor<std::int64_t>({0}, Shape{}), in[1],
                               Reduction::kProd);
  };
  EXPECT_TRUE(testing::gradcheck_one(
      scalar, {testing::leaf<double>({2}, Shape{}), testing::leaf<double>({0}, Shape{})}));
}

TEST(ScatterReduce, HasPyTorchsValuesAndGradients) {
  expect_outcome(Reduction::kSum, true,
                 {{1, 6, 3, 15, 5, 6}, {1, 2, 3, 4, 5, 6}, {2, 2, 1, 4, 4, 6}});
  expect_outcome(Reduction::kSum, false,
                 {{0, 4, 3, 11, 5, 0}, {0, 0, 3, 0, 5, 0}, {2, 2, 1, 4, 4, 6}});
  expect_outcome(Reduction::kProd, true,
                 {{0, 8, 3, 112, 5, 0}, {0, 8, 3, 112, 5, 0}, {8, 8, 1, 64, 112, 36}});
  expect_outcome(Reduction::kProd, false,
                 {{0, 4, 3, 28, 5, 0}, {0, 0, 3, 0, 5, 0}, {4, 4, 1, 16, 28, 6}});
  expect_outcome(Reduction::kMean, true,
                 {{0.5, 2, 3, 5, 5, 3},
                  {0.5, 2.0 / 3, 3, 4.0 / 3, 5, 3},
                  {2.0 / 3, 2.0 / 3, 0.5, 4.0 / 3, 4.0 / 3, 3}});
  expect_outcome(Reduction::kMean, false,
                 {{0, 2, 3, 5.5, 5, 0}, {0, 0, 3, 0, 5, 0}, {1, 1, 1, 2, 2, 6}});
  expect_outcome(Reduction::kAmax, true,
                 {{1, 2, 3, 7, 5, 6}, {1, 2.0 / 3, 3, 0, 5, 6}, {2.0 / 3, 2.0 / 3, 0, 4, 0, 0}});
  expect_outcome(Reduction::kAmax, false,
                 {{0, 2, 3, 7, 5, 0}, {0, 0, 3, 0, 5, 0}, {2.0 / 3, 2.0 / 3, 1, 4, 0, 6}});
  expect_outcome(Reduction::kAmin, true,
                 {{0, 2, 3, 4, 5, 0}, {0, 2.0 / 3, 3, 2, 5, 0}, {2.0 / 3, 2.0 / 3, 1, 0, 2, 6}});
  expect_outcome(Reduction::kAmin, false,
                 {{0, 2, 3, 4, 5, 0}, {0, 0, 3, 0, 5, 0}, {2.0 / 3, 2.0 / 3, 1, 0, 2, 6}});
}

TEST(ScatterReduce, ReducesIntegers) {
  const Tensor x = tensor<std::int64_t>({5, -9});
  const Tensor index = tensor<std::int64_t>({1, 1});
  const Tensor src = tensor<std::int64_t>({-3, -8});
  const auto reduced = [&](Reduction reduce, bool include_self) {
    return values(ScatterReduce::call(x, 0, index, src, reduce, include_self));
  };
  EXPECT_EQ(reduced(Reduction::kAmax, true), (Values{5, -3}));
  EXPECT_EQ(reduced(Reduction::kAmin, false), (Values{5, -8}));
  EXPECT_EQ(reduced(Reduction::kMean, false), (Values{5, -6}));
  EXPECT_EQ(reduced(Reduction::kProd, true), (Values{5, -216}));
}

TEST(ScatterReduce, LetsNaNWin) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Reduction reduce : {Reduction::kAmax, Reduction::kAmin}) {
    const Tensor y = ScatterReduce::call(tensor<double>({nan, 1}), 0, tensor<std::int64_t>({0, 1}),
                                         tensor<double>({2, nan}), reduce);
    for (const double value : values(y)) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(IndexReduce, ReducesWholeSlices) {
  const Tensor x = tensor<double>({1, 2, 3, 4}, {2, 2});
  const Tensor source = tensor<double>({7, 0, 5, 9}, {2, 2});
  const Tensor index = tensor<std::int64_t>({1, 1});
  EXPECT_EQ(values(IndexReduce::call(x, 0, index, source, Reduction::kAmax)), (Values{1, 2, 7, 9}));
  EXPECT_EQ(values(IndexReduce::call(x, 1, index, source, Reduction::kMean, false)),
            (Values{1, 3.5, 3, 7}));
  expect_error(ErrorCode::kInvalidArgument, "must be 'prod', 'mean', 'amax' or 'amin', got 'sum'",
               [&] { IndexReduce::call(x, 0, index, source, Reduction::kSum); });
}

TEST(Searchsorted, GoesBesideEqualElements) {
  const Tensor sequence = tensor({1, 3, 3, 5});
  const Tensor x = tensor({3, 0, std::numeric_limits<float>::quiet_NaN(), 9});
  EXPECT_EQ(values(Searchsorted::call(sequence, x)), (Values{1, 0, 4, 4}));
  EXPECT_EQ(values(Searchsorted::call(sequence, x, false, true)), (Values{3, 0, 4, 4}));
  EXPECT_EQ(values(Searchsorted::call(sequence, x, false, false, SearchSide::kRight)),
            (Values{3, 0, 4, 4}));
  EXPECT_EQ(Searchsorted::call(sequence, x, true).dtype(), DType::kInt32);
  EXPECT_EQ(values(Searchsorted::call(tensor<std::int64_t>({1, 3}), 2.5)), Values{1});
}

TEST(Searchsorted, HasASequenceForEachRow) {
  const Tensor sequences = tensor({1, 3, 5, 2, 4, 6}, {2, 3});
  EXPECT_EQ(values(Searchsorted::call(sequences, tensor({3, 9, 3, 0}, {2, 2}))),
            (Values{1, 3, 1, 0}));
  const Tensor order = tensor<std::int64_t>({1, 2, 0});
  EXPECT_EQ(values(Searchsorted::call(tensor({3, 1, 2}), tensor({2.5F}), false, false,
                                      SearchSide::kDefault, order)),
            Values{2});
  expect_error(ErrorCode::kShapeMismatch, "the sequence must be a vector or agree with input",
               [&] { Searchsorted::call(sequences, tensor({1})); });
  expect_error(ErrorCode::kInvalidArgument, "side: 'left' contradicts right: true",
               [&] { Searchsorted::call(sequences, sequences, false, true, SearchSide::kLeft); });
}

TEST(Bucketize, CountsTheBoundariesBelow) {
  const Tensor boundaries = tensor({1, 3, 5});
  EXPECT_EQ(values(Bucketize::call(tensor({0, 1, 2, 5, 6}), boundaries)), (Values{0, 0, 1, 2, 3}));
  EXPECT_EQ(values(Bucketize::call(tensor({1, 5}), boundaries, false, true)), (Values{1, 3}));
  EXPECT_EQ(values(Bucketize::call(4, boundaries)), Values{2});
}

}  // namespace
}  // namespace eg
