// Sparse gradients on their way: input buffers, nodes that cannot take them, and leaves.

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/engine/input_buffer.h"
#include "autograd/graph/accumulate_grad.h"
#include "autograd/tensor_math.h"
#include "ops/index/index.h"
#include "ops/sparse/sparse.h"
#include "ops/sparse/sparse_parts.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/live_counts.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::leaf;
using testing::mul;
using testing::sum;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

// A vector of 4 elements with these at `at`.
Tensor sparse(const std::vector<std::int64_t>& at, const std::vector<float>& elements) {
  const Tensor indices = tensor<std::int64_t>(at, {1, static_cast<std::int64_t>(at.size())});
  return SparseTensor::call(tensor(elements), indices, std::nullopt, Dims{4}, false);
}

Values dense_values(const Tensor& t) { return values(ToDense::call(t)); }

Tensor looked_up(const Tensor& weight, const std::vector<std::int64_t>& at) {
  return Embedding::call(tensor<std::int64_t>(at), weight, {}, /*sparse=*/true);
}

TEST(SparseInputBuffer, AddsSparseToDenseInPlace) {
  const NoGradGuard as_in_backward;
  InputBuffer buffer(1);
  buffer.add(0, tensor({1, 2, 3, 4}));
  const void* const memory = buffer[0].storage().get();
  buffer.add(0, sparse({1, 1}, {10, 20}));
  EXPECT_EQ(values(buffer[0]), (Values{1, 32, 3, 4}));
  EXPECT_EQ(buffer[0].storage().get(), memory);
}

TEST(SparseInputBuffer, AddsToTheDenseOneThatCameLater) {
  const NoGradGuard as_in_backward;
  InputBuffer buffer(1);
  buffer.add(0, sparse({3}, {5}));
  Tensor dense = tensor({1, 2, 3, 4});
  const void* const memory = dense.storage().get();
  buffer.add(0, std::move(dense));
  EXPECT_EQ(values(buffer[0]), (Values{1, 2, 3, 9}));
  EXPECT_EQ(buffer[0].storage().get(), memory);
}

TEST(SparseInputBuffer, DoesNotChangeWhatOthersHold) {
  const Tensor dense = tensor({1, 2, 3, 4});
  const Tensor few = sparse({0}, {7});
  InputBuffer buffer(1);
  buffer.add(0, dense);
  buffer.add(0, few);
  buffer.add(0, sparse({0, 2}, {1, 1}));
  EXPECT_EQ(values(buffer[0]), (Values{9, 2, 4, 4}));
  EXPECT_EQ(values(dense), (Values{1, 2, 3, 4}));
  EXPECT_EQ(dense_values(few), (Values{7, 0, 0, 0}));
}

TEST(SparseInputBuffer, SumsOfSparseGradientsStaySparse) {
  const Tensor first = sparse({0}, {7});
  InputBuffer buffer(1);
  buffer.add(0, first);
  buffer.add(0, sparse({0, 2}, {1, 1}));
  EXPECT_TRUE(buffer[0].is_sparse());
  EXPECT_EQ(buffer[0].sparse().pattern->nnz(), 3);
  EXPECT_EQ(dense_values(buffer[0]), (Values{8, 0, 1, 0}));
  EXPECT_EQ(dense_values(first), (Values{7, 0, 0, 0}));
}

TEST(SparseInputBuffer, DoesNotGrowBeyondTheElementsThatThereAre) {
  InputBuffer buffer(1);
  for (int i = 0; i < 10; ++i) buffer.add(0, sparse({1, 3}, {1, 2}));
  EXPECT_LE(buffer[0].sparse().pattern->nnz(), 4);
  EXPECT_EQ(dense_values(buffer[0]), (Values{0, 10, 0, 20}));
}

TEST(SparseGradient, OfALeafIsAdoptedIfNobodyElseHoldsIt) {
  const Tensor weight = leaf({1, 2, 3, 4}, {4, 1});
  const auto accumulator = grad_accumulator(weight);
  auto& accumulate = static_cast<AccumulateGrad&>(*accumulator);
  const Tensor elements = tensor({5, 6}, {2, 1});
  const Tensor at = tensor<std::int64_t>({0, 2}, {1, 2});
  {
    GradList grads{SparseTensor::call(elements, at, std::nullopt, Dims{4, 1}, false)};
    (void)accumulate.apply(std::move(grads));
  }
  // `elements` shares its memory with the gradient, so it had to be copied.
  EXPECT_FALSE(grad(weight).sparse().values.shares_storage_with(elements));
  EXPECT_EQ(dense_values(grad(weight)), (Values{5, 0, 6, 0}));

  set_grad(weight, {});
  const NoGradGuard as_in_backward;
  Tensor alone = math::clone(
      grad(weight).defined() ? grad(weight)
                             : SparseTensor::call(elements, at, std::nullopt, Dims{4, 1}, false));
  const void* const memory = alone.sparse().values.storage().get();
  GradList grads{std::move(alone)};
  (void)accumulate.apply(std::move(grads));
  EXPECT_EQ(grad(weight).sparse().values.storage().get(), memory);
}

TEST(SparseGradient, IsAddedInPlaceToASparseOne) {
  const Tensor weight = leaf({1, 2, 3, 4}, {4, 1});
  backward({sum(looked_up(weight, {0, 2}))});
  const Tensor first = grad(weight);
  const std::uint32_t version = first.version();
  backward({sum(looked_up(weight, {2}))});
  EXPECT_TRUE(grad(weight).is_same(first));
  EXPECT_GT(first.version(), version);
  EXPECT_EQ(dense_values(first), (Values{1, 0, 2, 0}));
}

TEST(SparseGradient, IsAddedInPlaceToADenseOne) {
  const Tensor weight = leaf({1, 2, 3, 4}, {4, 1});
  backward({sum(mul(weight, 3))});
  const Tensor first = grad(weight);
  backward({sum(looked_up(weight, {2, 2}))});
  EXPECT_TRUE(grad(weight).is_same(first));
  EXPECT_EQ(values(first), (Values{3, 3, 5, 3}));
}

TEST(SparseGradient, BecomesDenseInAnotherTensorWhenADenseOneIsAdded) {
  const Tensor weight = leaf({1, 2, 3, 4}, {4, 1});
  backward({sum(looked_up(weight, {2}))});
  const Tensor first = grad(weight);
  backward({sum(mul(weight, 3))});
  EXPECT_FALSE(grad(weight).is_sparse());
  EXPECT_EQ(values(grad(weight)), (Values{3, 3, 4, 3}));
  EXPECT_EQ(dense_values(first), (Values{0, 0, 1, 0}));
}

TEST(SparseGradient, IsMadeDenseForANodeThatCannotTakeIt) {
  const Tensor weight = leaf({1, 2, 3, 4}, {4, 1});
  backward({sum(looked_up(mul(weight, 2), {1, 1}))});
  EXPECT_FALSE(grad(weight).is_sparse());
  EXPECT_EQ(values(grad(weight)), (Values{0, 4, 0, 0}));
}

TEST(SparseGradient, MeetsDenseOnesOfTheSameCall) {
  const Tensor weight = leaf({1, 2, 3, 4}, {4, 1});
  backward({add(sum(looked_up(weight, {0})), sum(mul(weight, weight)))});
  EXPECT_FALSE(grad(weight).is_sparse());
  EXPECT_EQ(values(grad(weight)), (Values{3, 4, 6, 8}));
}

TEST(SparseGradient, KeepsItsIndicesWhenTheCallerChangesTheirs) {
  const Tensor weight = leaf({1, 2, 3, 4}, {4, 1});
  const Tensor at = tensor<std::int64_t>({0, 2});
  const Tensor out = sum(Embedding::call(at, weight, {}, /*sparse=*/true));
  backward({out});
  copy_data(at, tensor<std::int64_t>({3, 3}));
  EXPECT_EQ(dense_values(grad(weight)), (Values{1, 0, 1, 0}));
}

TEST(SparseGradient, OfThePaddingIsLeftOut) {
  const Tensor weight = leaf({1, 2, 3, 4}, {4, 1});
  backward({sum(Embedding::call(tensor<std::int64_t>({1, 0, 1}), weight, 1, /*sparse=*/true))});
  EXPECT_EQ(grad(weight).sparse().pattern->nnz(), 1);
  EXPECT_EQ(dense_values(grad(weight)), (Values{1, 0, 0, 0}));
}

TEST(SparseGradient, OfOneElementByAnIndexWithoutDimensions) {
  const Tensor weight = leaf({1, 2, 3, 4}, {4});
  backward({Gather::call(weight, 0, tensor<std::int64_t>({2}, {}), /*sparse_grad=*/true)});
  EXPECT_EQ(dense_values(grad(weight)), (Values{0, 0, 1, 0}));
}

TEST(SparseGradient, OfANumberIsTheSumOfThoseOfItsCopies) {
  const Tensor weight = leaf({3}, {});
  const Tensor twice = Gather::call(weight, 0, tensor<std::int64_t>({0, 0}), /*sparse_grad=*/true);
  backward({sum(twice)});
  EXPECT_EQ(dense_values(grad(weight)), (Values{2}));
}

TEST(SparseGradient, IsAddedToOneOfOtherSparseDimensions) {
  const Tensor weight = leaf({1, 2, 3, 4}, {2, 2});
  const Tensor at = tensor<std::int64_t>({1}, {1, 1});
  backward({sum(looked_up(weight, {0}))});
  const Tensor first = grad(weight);
  backward({sum(Gather::call(weight, 1, at, /*sparse_grad=*/true))});
  EXPECT_TRUE(grad(weight).is_same(first));
  EXPECT_TRUE(first.is_sparse());
  EXPECT_EQ(dense_values(first), (Values{1, 2, 0, 0}));
}

TEST(SparseGradient, LeavesNothingBehind) {
  const std::int64_t tensors = testing::live_tensors();
  const std::int64_t nodes = testing::live_nodes();
  {
    const Tensor weight = leaf({1, 2, 3, 4}, {4, 1});
    for (int i = 0; i < 3; ++i) backward({sum(looked_up(weight, {0, 2}))});
    backward({sum(weight)});
  }
  EXPECT_EQ(testing::live_tensors(), tensors);
  EXPECT_EQ(testing::live_nodes(), nodes);
}

}  // namespace
}  // namespace eg
