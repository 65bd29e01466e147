// markers: threads, variant

#include "ops/matrix/matmul.h"

#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/matrix/matrix_product.h"
#include "runtime/thread_pool.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::gradcheck_one;
using testing::leaf;
using testing::random_leaf;
using testing::tensor;
using testing::values;

// The product of two matrices by its definition.
std::vector<double> naive_product(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = values(a);
  const std::vector<double> y = values(b);
  const std::int64_t m = a.size(0);
  const std::int64_t k = a.size(1);
  const std::int64_t n = b.size(1);
  std::vector<double> product;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t q = 0; q < k; ++q) sum += x[i * k + q] * y[q * n + j];
      product.push_back(sum);
    }
  }
  return product;
}

// Matrix `i` of a batch.
Tensor matrix(const Tensor& t, std::int64_t i) {
  const Tensor packed = contiguous_copy(t);
  const std::int64_t rows = t.size(-2);
  const std::int64_t columns = t.size(-1);
  return packed.alias({rows, columns}, {columns, 1}, i * rows * columns);
}

Tensor fill(const Shape& shape, DType dtype, unsigned seed) {
  const Tensor t = testing::empty(shape, dtype);
  copy_data(t, random_leaf(shape, seed));
  return t;
}

TEST(MatmulOps, MultipliesTwoMatrices) {
  const Tensor product =
      Mm::call(tensor({1, 2, 3, 4, 5, 6}, {2, 3}), tensor({1, 0, 2, 1, 0, 3}, {3, 2}));
  EXPECT_EQ(product.shape(), (Shape{2, 2}));
  EXPECT_EQ(values(product), (std::vector<double>{5, 11, 14, 23}));
}

TEST(MatmulOps, ReadsTransposedSlicedAndRepeatedMatricesInPlace) {
  const Tensor block = fill({40, 60}, DType::kFloat32, 3);
  const Tensor slice = block.alias({20, 30}, {60, 1}, 65);
  const Tensor columns = block.alias({30, 20}, {1, 60}, 7);
  const Tensor every_other = block.alias({30, 20}, {60, 2}, 1);
  const Tensor repeated_row = block.alias({30, 20}, {0, 1}, 9);
  const Tensor repeated_number = block.alias({30, 20}, {0, 0}, 9);
  for (const Tensor& other : {columns, every_other, repeated_row, repeated_number}) {
    expect_near(Mm::call(slice, other), naive_product(slice, other), 1e-4);
    expect_near(Mm::call(transposed(other), transposed(slice)),
                naive_product(transposed(other), transposed(slice)), 1e-4);
  }
}

TEST(MatmulOps, IntegerProductsWrapAround) {
  const Tensor a = tensor<std::int32_t>({1, 2, 2147483647, 4}, {2, 2});
  const Tensor b = tensor<std::int32_t>({5, 6, 7, 8}, {2, 2});
  const Tensor product = Mm::call(a, b);
  EXPECT_EQ(product.dtype(), DType::kInt32);
  EXPECT_EQ(values(product), (std::vector<double>{19, 22, -2147483625, 26}));
  const Tensor bytes =
      Mm::call(tensor<std::uint8_t>({200, 100}, {1, 2}), tensor<std::uint8_t>({2, 3}, {2, 1}));
  EXPECT_EQ(values(bytes), (std::vector<double>{700 - 512}));
  const Tensor batched = Matmul::call(tensor<std::int64_t>({1, 2, 3, 4}, {2, 1, 2}),
                                      tensor<std::int64_t>({1, 10, 100, 1000}, {2, 2}));
  EXPECT_EQ(values(batched), (std::vector<double>{201, 2010, 403, 4030}));
}

TEST(MatmulOps, AProductOverNothingIsZero) {
  const Tensor product =
      Mm::call(testing::empty({2, 0}, DType::kFloat32), testing::empty({0, 3}, DType::kFloat32));
  EXPECT_EQ(product.shape(), (Shape{2, 3}));
  EXPECT_EQ(values(product), std::vector<double>(6, 0.0));
  EXPECT_EQ(
      Mm::call(testing::empty({0, 2}, DType::kFloat32), fill({2, 3}, DType::kFloat32, 1)).shape(),
      (Shape{0, 3}));
  EXPECT_EQ(Bmm::call(testing::empty({0, 2, 4}, DType::kFloat32),
                      testing::empty({0, 4, 3}, DType::kFloat32))
                .shape(),
            (Shape{0, 2, 3}));
  EXPECT_EQ(
      values(Dot::call(testing::empty({0}, DType::kFloat64), testing::empty({0}, DType::kFloat64))),
      (std::vector<double>{0}));
  EXPECT_EQ(values(Mm::call(testing::empty({1, 0}, DType::kInt64),
                            testing::empty({0, 2}, DType::kInt64))),
            (std::vector<double>{0, 0}));
}

TEST(MatmulOps, HandsOnNanAndInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<double> product =
      values(Mm::call(tensor({nan, 0, inf, 0}, {2, 2}), tensor({0, 1, 1, 1}, {2, 2})));
  EXPECT_TRUE(std::isnan(product[0]) && std::isnan(product[1]));
  EXPECT_TRUE(std::isnan(product[2]));
  EXPECT_EQ(product[3], inf);
}

TEST(MatmulOps, MatmulPromotesVectors) {
  const Tensor matrix23 = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor dot = Matmul::call(tensor({1, 2, 3}), tensor({4, 5, 6}));
  EXPECT_EQ(dot.shape(), Shape{});
  EXPECT_EQ(values(dot), (std::vector<double>{32}));
  EXPECT_EQ(values(Matmul::call(matrix23, tensor({1, 0, -1}))), (std::vector<double>{-2, -2}));
  const Tensor row = Matmul::call(tensor({1, -1}), matrix23);
  EXPECT_EQ(row.shape(), (Shape{3}));
  EXPECT_EQ(values(row), (std::vector<double>{-3, -3, -3}));
  EXPECT_EQ(Matmul::call(fill({5, 2, 3}, DType::kFloat32, 1), tensor({1, 2, 3})).shape(),
            (Shape{5, 2}));
  EXPECT_EQ(Matmul::call(tensor({1, 2}), fill({5, 2, 3}, DType::kFloat32, 1)).shape(),
            (Shape{5, 3}));
}

TEST(MatmulOps, MatmulBroadcastsBatches) {
  const Tensor a = fill({2, 1, 3, 4}, DType::kFloat64, 1);
  const Tensor b = fill({5, 4, 2}, DType::kFloat64, 2);
  const Tensor product = Matmul::call(a, b);
  ASSERT_EQ(product.shape(), (Shape{2, 5, 3, 2}));
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      expect_near(matrix(product, 5 * i + j), naive_product(matrix(a, i), matrix(b, j)), 1e-12);
    }
  }
}

TEST(MatmulOps, BatchesOfAnyLayoutNeedNoCopy) {
  // The layout of attention: [batch, token, head, channel] viewed as [batch, head, token, channel].
  const Tensor block = fill({3, 6, 4, 8}, DType::kFloat32, 5);
  const Tensor heads = block.alias({3, 4, 6, 8}, {192, 8, 32, 1}, 0);
  const Tensor scores = Matmul::call(heads, transposed(heads));
  ASSERT_EQ(scores.shape(), (Shape{3, 4, 6, 6}));
  for (std::int64_t i = 0; i < 12; ++i) {
    expect_near(matrix(scores, i), naive_product(matrix(heads, i), transposed(matrix(heads, i))),
                1e-4);
  }
}

TEST(MatmulOps, ResultsDoNotDependOnTheNumberOfThreads) {
  const Tensor a = fill({8, 4, 60, 50}, DType::kFloat32, 1);
  const Tensor b = fill({8, 4, 50, 70}, DType::kFloat32, 2);
  const Tensor swapped = a.alias({4, 8, 60, 50}, {3000, 12000, 50, 1}, 0);
  const Tensor other = b.alias({4, 8, 50, 70}, {3500, 14000, 70, 1}, 0);
  const std::vector<double> alone = values(Matmul::call(swapped, other));
  set_num_threads(4);
  const std::vector<double> shared = values(Matmul::call(swapped, other));
  set_num_threads(1);
  EXPECT_EQ(alone, shared);
}

TEST(MatmulOps, AddmmScalesAndBroadcastsItsInput) {
  const Tensor a = tensor({1, 2, 3, 4}, {2, 2});
  const Tensor identity = tensor({1, 0, 0, 1}, {2, 2});
  EXPECT_EQ(values(Addmm::call(tensor({10, 20}), a, identity, 1, 1)),
            (std::vector<double>{11, 22, 13, 24}));
  EXPECT_EQ(values(Addmm::call(tensor({10, 20}, {2, 1}), a, identity, 0.5, 2)),
            (std::vector<double>{7, 9, 16, 18}));
  const Tensor nan = tensor({std::numeric_limits<float>::quiet_NaN()}, {});
  EXPECT_EQ(values(Addmm::call(nan, a, identity, 0, 1)), (std::vector<double>{1, 2, 3, 4}));
  const Tensor integers =
      Addmm::call(tensor<std::int64_t>({1, 2}), tensor<std::int64_t>({1, 2, 3, 4}, {2, 2}),
                  tensor<std::int64_t>({1, 0, 0, 1}, {2, 2}), 3, 2);
  EXPECT_EQ(values(integers), (std::vector<double>{5, 10, 9, 14}));
  EXPECT_EQ(values(Addmm::call(tensor({7, 8}), testing::empty({2, 0}, DType::kFloat32),
                               testing::empty({0, 2}, DType::kFloat32), 2, 1)),
            (std::vector<double>{14, 16, 14, 16}));
}

TEST(MatmulOps, BaddbmmIsAddmmPerMatrix) {
  const Tensor input = fill({3, 1, 5}, DType::kFloat64, 1);
  const Tensor a = fill({3, 2, 4}, DType::kFloat64, 2);
  const Tensor b = fill({3, 4, 5}, DType::kFloat64, 3);
  const Tensor sum = Baddbmm::call(input, a, b, 2, 0.5);
  for (std::int64_t i = 0; i < 3; ++i) {
    const Tensor expected = Addmm::call(matrix(input, i), matrix(a, i), matrix(b, i), 2, 0.5);
    expect_near(matrix(sum, i), values(expected), 1e-12);
  }
}

TEST(MatmulOps, LinearFoldsLeadingDims) {
  const Tensor weight = tensor({1, 0, 0, 1, 1, 1}, {3, 2});
  const Tensor bias = tensor({10, 20, 30});
  EXPECT_EQ(values(Linear::call(tensor({1, 2}), weight, bias)), (std::vector<double>{11, 22, 33}));
  const Tensor out = Linear::call(tensor({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}), weight, bias);
  EXPECT_EQ(out.shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(values(out), (std::vector<double>{11, 22, 33, 13, 24, 37, 15, 26, 41, 17, 28, 45}));
  EXPECT_EQ(values(Linear::call(tensor({1, 2}, {1, 2}), weight, std::nullopt)),
            (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(Linear::call(testing::empty({0, 4, 2}, DType::kFloat32), weight, bias).shape(),
            (Shape{0, 4, 3}));
  EXPECT_EQ(values(Linear::call(tensor({1, 2}, {1, 2}), weight, tensor({5}))),
            (std::vector<double>{6, 7, 8}));
  EXPECT_EQ(values(Linear::call(tensor({1, 2}, {1, 2}), tensor({3, 4}), std::nullopt)),
            (std::vector<double>{11}));
}

TEST(MatmulOps, LinearReadsNonContiguousInputs) {
  const Tensor block = fill({4, 3, 5}, DType::kFloat32, 4);
  const Tensor swapped = block.alias({3, 4, 5}, {5, 15, 1}, 0);
  const Tensor weight = fill({5, 7}, DType::kFloat32, 5).alias({7, 5}, {1, 7}, 0);
  const Tensor out = Linear::call(swapped, weight, std::nullopt);
  const Tensor rows = contiguous_copy(swapped).alias({12, 5}, {5, 1}, 0);
  expect_near(out, naive_product(rows, transposed(weight)), 1e-4);
}

TEST(MatmulOps, OuterAndBilinearFollowTheirDefinitions) {
  EXPECT_EQ(values(Outer::call(tensor({1, 2}), tensor({3, 4, 5}))),
            (std::vector<double>{3, 4, 5, 6, 8, 10}));
  // x1 W x2 with W = [[1, 2], [3, 4]] and its transpose.
  const Tensor weight = tensor({1, 2, 3, 4, 1, 3, 2, 4}, {2, 2, 2});
  const Tensor out =
      Bilinear::call(tensor({1, 2}, {1, 2}), tensor({3, 5}, {1, 2}), weight, tensor({100, 200}));
  EXPECT_EQ(values(out), (std::vector<double>{13 + 58 + 100, 18 + 52 + 200}));
}

TEST(MatmulOps, GradientsOfProductsAgreeWithDifferences) {
  const auto matmul = [](const TensorList& in) { return Matmul::call(in[0], in[1]); };
  const std::vector<std::pair<Shape, Shape>> cases{
      {{3, 4}, {4, 2}},       {{4}, {4}},
      {{3, 4}, {4}},          {{4}, {4, 3}},
      {{2, 3, 4}, {2, 4, 3}}, {{2, 3, 4}, {4, 5}},
      {{3, 4}, {2, 4, 2}},    {{2, 3, 4}, {4}},
      {{4}, {2, 4, 3}},       {{2, 1, 2, 3}, {3, 3, 2}},
      {{1, 3}, {2, 3, 2}},    {{2, 0}, {0, 3}},
      {{1, 2, 3}, {2, 3, 1}}};
  for (const auto& [a, b] : cases) {
    EXPECT_TRUE(gradcheck_one(matmul, {random_leaf(a, 1), random_leaf(b, 2)}))
        << ::testing::PrintToString(a) << " @ " << ::testing::PrintToString(b);
  }
}

TEST(MatmulOps, GradientsOfSumsAgreeWithDifferences) {
  for (const Shape& shape : {Shape{2, 4}, Shape{4}, Shape{2, 1}, Shape{}}) {
    EXPECT_TRUE(
        gradcheck_one([](const TensorList& in) { return Addmm::call(in[0], in[1], in[2], 0.5, 2); },
                      {random_leaf(shape, 1), random_leaf({2, 3}, 2), random_leaf({3, 4}, 3)}));
  }
  EXPECT_TRUE(gradcheck_one(
      [](const TensorList& in) { return Baddbmm::call(in[0], in[1], in[2], 1, 1); },
      {random_leaf({3, 1}, 1), random_leaf({2, 3, 2}, 2), random_leaf({2, 2, 4}, 3)}));
}

TEST(MatmulOps, GradientsOfLinearAgreeWithDifferences) {
  const auto linear = [](const TensorList& in) {
    return Linear::call(in[0], in[1], in.size() > 2 ? std::optional(in[2]) : std::nullopt);
  };
  for (const Shape& shape : {Shape{2, 3}, Shape{2, 2, 3}, Shape{3}}) {
    EXPECT_TRUE(gradcheck_one(
        linear, {random_leaf(shape, 1), random_leaf({4, 3}, 2), random_leaf({4}, 3)}));
    EXPECT_TRUE(gradcheck_one(linear, {random_leaf(shape, 1), random_leaf({4, 3}, 2)}));
  }
  EXPECT_TRUE(gradcheck_one(linear, {random_leaf({2, 3}, 1), random_leaf({3}, 2)}));
  const auto bilinear = [](const TensorList& in) {
    return Bilinear::call(in[0], in[1], in[2], in[3]);
  };
  EXPECT_TRUE(gradcheck_one(bilinear, {random_leaf({2, 3}, 1), random_leaf({2, 2}, 2),
                                       random_leaf({4, 3, 2}, 3), random_leaf({4}, 4)}));
  const auto outer = [](const TensorList& in) { return Outer::call(in[0], in[1]); };
  EXPECT_TRUE(gradcheck_one(outer, {random_leaf({3}, 1), random_leaf({4}, 2)}));
}

TEST(MatmulOps, LinearIsRecordedAsPyTorchRecordsIt) {
  const Tensor x = leaf({1, 2}, {1, 2});
  const Tensor weight = leaf({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor bias = leaf({1, 2, 3});
  const IntrusivePtr<Node> node = grad_fn(Linear::call(x, weight, bias));
  EXPECT_EQ(node->name(), "AddmmBackward0");
  EXPECT_EQ(node->next_edge(0).function, grad_accumulator(bias));
  EXPECT_EQ(node->next_edge(1).function, grad_accumulator(x));
  EXPECT_EQ(grad_fn(Linear::call(x, weight, std::nullopt))->name(), "MmBackward0");
  EXPECT_EQ(grad_fn(Matmul::call(x, transposed(weight)))->name(), "MmBackward0");
}

TEST(MatmulOps, KeepsOnlyWhatAGradientWillRead) {
  const Tensor x = tensor({1, 2}, {1, 2});
  const Tensor weight = leaf({3, 4}, {1, 2});
  const Tensor out = Linear::call(x, weight, std::nullopt);
  {
    // The gradient of the weight only reads x.
    const NoGradGuard no_grad;
    weight.bump_version();
  }
  backward({out});
  EXPECT_EQ(values(grad(weight)), (std::vector<double>{1, 2}));
  const Tensor again = Linear::call(x, weight, std::nullopt);
  x.bump_version();
  expect_error(ErrorCode::kModifiedInPlace, "that backward needs was changed in place",
               [&] { backward({again}); });
}

TEST(MatmulOps, MistakesAreNamed) {
  const Tensor a23 = fill({2, 3}, DType::kFloat32, 1);
  const Tensor a45 = fill({4, 5}, DType::kFloat32, 1);
  const Tensor v3 = tensor({1, 2, 3});
  const Tensor scalar = tensor({1}, {});
  const auto expect_shape_error = [](const std::string& text, auto&& body) {
    expect_error(ErrorCode::kShapeMismatch, text, body);
  };
  expect_shape_error("a 2x3 matrix cannot be multiplied by a 4x5 matrix",
                     [&] { Mm::call(a23, a45); });
  expect_shape_error("the second factor must be a matrix, got 1 dimensions",
                     [&] { Mm::call(a23, v3); });
  expect_shape_error("at least 1 dimension, got 0 and 2", [&] { Matmul::call(scalar, a23); });
  expect_shape_error("the first two sizes of the second batch must be [2, 3], got [2, 4].", [&] {
    Bmm::call(fill({2, 2, 3}, DType::kFloat32, 1), fill({2, 4, 3}, DType::kFloat32, 1));
  });
  expect_shape_error("sizes 2 and 3 differ at dimension 0", [&] {
    Matmul::call(fill({2, 2, 3}, DType::kFloat32, 1), fill({3, 3, 2}, DType::kFloat32, 1));
  });
  expect_shape_error("expected two vectors, got 2 and 1 dimensions", [&] { Dot::call(a23, v3); });
  expect_shape_error("cannot be multiplied by a vector of shape [3]", [&] { Mv::call(a45, v3); });
  expect_shape_error("the same size, got 3 and 2", [&] { Dot::call(v3, tensor({1, 2})); });
  expect_shape_error("input of shape [2, 3] must have 5 features",
                     [&] { Linear::call(a23, a45, std::nullopt); });
  expect_shape_error("cannot be expanded",
                     [&] { Addmm::call(v3, a23, fill({3, 4}, DType::kFloat32, 1), 1, 1); });
  expect_shape_error("input must be a vector, got 2 dimensions", [&] { Outer::call(a23, v3); });
  expect_error(ErrorCode::kDtypeMismatch,
               "the operands must have the same dtype, got float32 and float64",
               [&] { Mm::call(a23, fill({3, 2}, DType::kFloat64, 1)); });
  expect_error(ErrorCode::kDtypeMismatch, "not implemented for bool",
               [&] { Mm::call(fill({2, 2}, DType::kBool, 1), fill({2, 2}, DType::kBool, 1)); });
  expect_error(ErrorCode::kInvalidArgument, "for int64 tensors, beta must be an integer, got 0.5",
               [&] {
                 const Tensor integers = tensor<std::int64_t>({1}, {1, 1});
                 Addmm::call(integers, integers, integers, 0.5, 1);
               });
}

}  // namespace
}  // namespace eg
