// Determinants, inverses, factorisations, and products made of reshapes.

#include "ops/linalg/linalg.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/matrix/matmul.h"
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
using testing::sum;
using testing::tensor;
using testing::value;
using testing::values;
using Values = std::vector<double>;

// Symmetric and positive-definite, whatever x is.
Tensor positive_definite(const Tensor& x) {
  const Var product = Matmul::call(x, Transpose::call(x, -2, -1));
  return (product + tensor<double>({1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3})).tensor();
}

Tensor sum_of_products(const Tensor& a, const Tensor& b) { return sum((Var(a) * b).tensor()); }

TEST(Det, KnowsRowExchanges) {
  EXPECT_NEAR(value(Det::call(tensor({1, 2, 3, 4}, {2, 2}))), -2, 1e-6);
  EXPECT_NEAR(value(Det::call(tensor<double>({0, 1, 0, 0, 0, 1, 1, 0, 0}, {3, 3}))), 1, 1e-12);
  EXPECT_EQ(Det::call(tensor({1, 2, 3, 4}, {2, 2})).dtype(), DType::kFloat32);
}

TEST(Det, OfAnEmptyMatrixIsOne) {
  EXPECT_EQ(value(Det::call(tensor({}, {0, 0}))), 1);
  EXPECT_EQ(Det::call(tensor({}, {0, 3, 3})).shape(), Shape{0});
}

TEST(Det, HasTheCofactorsAsGradientWhereThereIsNoInverse) {
  const Tensor x = leaf<double>({1, 2, 2, 4}, {2, 2});
  backward({Det::call(x)});
  EXPECT_EQ(values(grad(x)), (Values{4, -2, -2, 1}));
  const Tensor rank_one = tensor<double>({1, 2, 3, 2, 4, 6, 1, 1, 1}, {3, 3});
  set_requires_grad(rank_one, true);
  const auto det = [](const TensorList& in) { return Det::call(in[0]); };
  EXPECT_TRUE(gradcheck_one(det, {rank_one}));
}

TEST(Det, OfABatchHasGradientsThoughOneMatrixIsSingular) {
  const Tensor x = leaf<double>({1, 2, 2, 4, 1, 2, 3, 4}, {2, 2, 2});
  backward({sum(Det::call(x))});
  expect_near(grad(x), {4, -2, -2, 1, 4, -3, -2, 1});
  const auto det = [](const TensorList& in) { return Det::call(in[0]); };
  EXPECT_TRUE(gradcheck_one(det, {x}));
}

// All minors of a matrix of rank one are zero.
TEST(Det, HasNoGradientWhereTheRankIsLowerByTwo) {
  const Tensor x = leaf<double>({1, 2, 3, 2, 4, 6, 3, 6, 9}, {3, 3});
  backward({Det::call(x)});
  expect_near(grad(x), Values(9));
}

// A derivative of <c, cofactors of x>: both are quadratic, so it is a difference of them.
TEST(Det, HasSecondDerivativesWhereTheMatrixIsNearlySingular) {
  const auto cofactors = [](const Values& a) {
    Values result;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const auto at = [&](int row, int column) {
          return a[static_cast<std::size_t>((i + row) % 3 * 3 + (j + column) % 3)];
        };
        result.push_back(at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1));
      }
    }
    return result;
  };
  const Values c{1, -2, 0.5, 3, 1, -1, 2, 0.25, 4};
  const std::vector<Values> matrices{{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9},
                                     {1, 2, 3, 2, 4, 6, 1, 1, 1},
                                     {0.1, 0.2, 0.3, 0.2, 0.4, 0.6, 0.3, 0.6, 0.9},
                                     {1, 0, 0, 0, 1e-9, 0, 0, 0, 1e-11},
                                     {0, 0, 0, 0, 0, 0, 0, 0, 0},
                                     {2, 1, 0, 1, 3, 1, 0, 1, 1}};
  for (const Values& a : matrices) {
    Values sum;
    for (std::size_t i = 0; i < 9; ++i) sum.push_back(a[i] + c[i]);
    Values expected = cofactors(sum);
    const Values own = cofactors(a);
    const Values of_c = cofactors(c);
    for (std::size_t i = 0; i < 9; ++i) expected[i] -= own[i] + of_c[i];
    const Tensor x = leaf<double>(a, {3, 3});
    const TensorList first = grad({Det::call(x)}, {x}, {}, {{.create_graph = true}});
    expect_near(first[0], own, 1e-14);
    backward({sum_of_products(first[0], tensor<double>(c, {3, 3}))});
    expect_near(grad(x), expected, 1e-12);
  }
}

// Determinants of such matrices are linear.
TEST(Det, OfOneNumberHasNoSecondDerivative) {
  const Tensor x = leaf<double>({1e-18, 3}, {2, 1, 1});
  const TensorList first = grad({sum(Det::call(x))}, {x}, {}, {{.create_graph = true}});
  EXPECT_EQ(values(first[0]), (Values{1, 1}));
  const auto det = [](const TensorList& in) { return Det::call(in[0]); };
  EXPECT_TRUE(gradcheck_one(det, {x}));
}

TEST(Slogdet, GivesSignAndLogarithm) {
  const TensorList result = Slogdet::call(tensor({1, 2, 3, 4, 2, 0, 0, 2}, {2, 2, 2}));
  EXPECT_EQ(values(result[0]), (Values{-1, 1}));
  expect_near(result[1], {std::log(2), std::log(4)});
}

TEST(Slogdet, OfASingularMatrixIsZeroAndMinusInfinity) {
  const TensorList result = Slogdet::call(tensor({1, 2, 2, 4}, {2, 2}));
  EXPECT_EQ(value(result[0]), 0);
  EXPECT_EQ(value(result[1]), -std::numeric_limits<double>::infinity());
}

TEST(Slogdet, DoesNotOverflowWhereTheDeterminantDoes) {
  const Tensor big = tensor({1e30F, 0, 0, -1e30F}, {2, 2});
  EXPECT_EQ(value(Slogdet::call(big)[0]), -1);
  EXPECT_NEAR(value(Slogdet::call(big)[1]), 60 * std::log(10), 1e-4);
}

TEST(Inverse, OfEveryMatrixOfABatch) {
  expect_near(Inverse::call(tensor({1, 2, 3, 4, 2, 0, 0, 4}, {2, 2, 2})),
              {-2, 1, 1.5, -0.5, 0.5, 0, 0, 0.25});
  expect_near(Inverse::call(Transpose::call(tensor({1, 2, 3, 4}, {2, 2}), 0, 1)),
              {-2, 1.5, 1, -0.5});
  EXPECT_EQ(Inverse::call(tensor({}, {0, 0})).shape(), (Shape{0, 0}));
}

TEST(Inverse, NamesTheSingularMatrix) {
  expect_error(ErrorCode::kInvalidArgument, "[inverse] the matrix is singular: diagonal element 2",
               [] { Inverse::call(tensor({1, 2, 2, 4}, {2, 2})); });
  expect_error(ErrorCode::kInvalidArgument,
               "[inverse] matrix 1 of the batch: the matrix is singular: diagonal element 1",
               [] { Inverse::call(tensor({1, 0, 0, 1, 0, 0, 0, 0}, {2, 2, 2})); });
  expect_error(ErrorCode::kShapeMismatch, "[inverse] A must have at least 2 dimensions, got 1.",
               [] { Inverse::call(tensor({1, 2})); });
}

TEST(Cholesky, IsAFactorOfTheMatrix) {
  const Tensor a = tensor<double>({4, 2, 2, 10}, {2, 2});
  EXPECT_EQ(values(Cholesky::call(a)), (Values{2, 0, 1, 3}));
  EXPECT_EQ(values(Cholesky::call(a, true)), (Values{2, 1, 0, 3}));
}

TEST(Cholesky, ReadsTheTriangleItIsAskedFor) {
  const Tensor a = tensor<double>({4, 99, 2, 10}, {2, 2});
  EXPECT_EQ(values(Cholesky::call(a)), (Values{2, 0, 1, 3}));
  EXPECT_EQ(values(Cholesky::call(Transpose::call(a, 0, 1), true)), (Values{2, 1, 0, 3}));
}

TEST(Cholesky, GradientsMatchFiniteDifferences) {
  const auto lower = [](const TensorList& in) { return Cholesky::call(positive_definite(in[0])); };
  const auto upper = [](const TensorList& in) {
    return Cholesky::call(positive_definite(in[0]), true);
  };
  EXPECT_TRUE(gradcheck_one(lower, {random_leaf({3, 3}, 1)}));
  EXPECT_TRUE(gradcheck_one(upper, {random_leaf({2, 3, 3}, 2)}));
}

TEST(Cholesky, OfNothing) {
  EXPECT_EQ(Cholesky::call(tensor({}, {0, 0})).shape(), (Shape{0, 0}));
  const Tensor a = leaf<double>({}, {2, 0, 0});
  backward({sum(Cholesky::call(a, true))});
  EXPECT_EQ(grad(a).shape(), (Shape{2, 0, 0}));
}

TEST(Cholesky, GradientIsSymmetric) {
  const Tensor a = leaf<double>({4, 2, 2, 10}, {2, 2});
  backward({sum(Cholesky::call(a))});
  const Values g = values(grad(a));
  EXPECT_NEAR(g[1], g[2], 1e-15);
}

TEST(Cholesky, NamesTheMinorThatIsNotPositiveDefinite) {
  expect_error(ErrorCode::kInvalidArgument,
               "[cholesky] the matrix is not positive definite: its leading minor of order 2",
               [] { Cholesky::call(tensor({1, 2, 2, 1}, {2, 2})); });
  expect_error(ErrorCode::kInvalidArgument, "matrix 1 of the batch: ", [] {
    Cholesky::call(tensor({1, 0, 0, 1, NAN, 0, 0, 1}, {2, 2, 2}));
  });
}

TEST(Solve, VectorsMatricesAndBatches) {
  const Tensor a = tensor({2, 0, 0, 4}, {2, 2});
  expect_near(Solve::call(a, tensor({2, 4})), {1, 1});
  expect_near(Solve::call(a, tensor({2, 4, 4, 8}, {2, 2})), {1, 2, 1, 2});
  expect_near(Solve::call(a, tensor({2, 4, 4, 8}, {2, 2}), false), {1, 1, 2, 2});
  EXPECT_EQ(Solve::call(a, tensor({1, 2, 3, 4, 5, 6}, {3, 2, 1})).shape(), (Shape{3, 2, 1}));
}

TEST(Solve, OneVectorForAWholeBatch) {
  const Tensor a = tensor({2, 0, 0, 4, 1, 0, 0, 1}, {2, 2, 2});
  expect_near(Solve::call(a, tensor({2, 4})), {1, 1, 2, 4});
  EXPECT_EQ(Solve::call(a, tensor({2, 4})).shape(), (Shape{2, 2}));
  // Read as matrices because of its shape, although the batch would also allow two vectors.
  EXPECT_EQ(Solve::call(a, tensor({2, 4, 1, 1}, {1, 2, 2})).shape(), (Shape{2, 2, 2}));
}

TEST(Solve, NothingForNothing) {
  EXPECT_EQ(Solve::call(tensor({2, 0, 0, 4}, {2, 2}), tensor({}, {2, 0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(Solve::call(tensor({}, {0, 0}), tensor({}, {0, 2})).shape(), (Shape{0, 2}));
}

TEST(Solve, NamesTheSingularMatrix) {
  expect_error(ErrorCode::kInvalidArgument,
               "[solve] matrix 1 of the batch: the matrix is singular.",
               [] { Solve::call(tensor({1, 0, 0, 1, 1, 1, 1, 1}, {2, 2, 2}), tensor({1, 1})); });
  expect_error(ErrorCode::kInvalidArgument, "a vector B requires left: true",
               [] { Solve::call(tensor({1, 0, 0, 1}, {2, 2}), tensor({1, 1}), false); });
}

TEST(Solve, ReportsWhatDoesNotFit) {
  const Tensor a = tensor({2, 0, 0, 4}, {2, 2});
  expect_error(ErrorCode::kInvalidArgument, "[solve] the matrix is singular.",
               [] { Solve::call(tensor({1, 2, 2, 4}, {2, 2}), tensor({1, 2})); });
  expect_error(ErrorCode::kShapeMismatch,
               "the sizes of A and B do not match in AX = B, got 2x2 and 3x1",
               [&] { Solve::call(a, tensor({1, 2, 3}, {3, 1})); });
  expect_error(ErrorCode::kShapeMismatch, "A must be square, got 1x2 matrices",
               [] { Solve::call(tensor({1, 2}, {1, 2}), tensor({1})); });
  expect_error(ErrorCode::kDtypeMismatch, "expected floating-point or complex matrices, got int64",
               [] { Det::call(tensor<std::int64_t>({1}, {1, 1})); });
}

TEST(Kron, PadsTheShorterShape) {
  EXPECT_EQ(values(Kron::call(tensor({1, 2}), tensor({1, 0, 0, 1}, {2, 2}))),
            (Values{1, 0, 2, 0, 0, 1, 0, 2}));
  EXPECT_EQ(Kron::call(tensor<std::int64_t>({1, 2}), tensor<std::int64_t>({3})).dtype(),
            DType::kInt64);
}

TEST(Cross, FollowsTheRightHand) {
  EXPECT_EQ(values(Cross::call(tensor({1, 0, 0}), tensor({0, 1, 0}))), (Values{0, 0, 1}));
  EXPECT_EQ(values(Cross::call(tensor({1, 2, 3}, {3, 1}), tensor({4, 5, 6}, {3, 1}), 0)),
            (Values{-3, 6, -3}));
  expect_error(ErrorCode::kShapeMismatch, "must have size 3, got shapes [2] and [2]",
               [] { Cross::call(tensor({1, 2}), tensor({1, 2})); });
}

}  // namespace
}  // namespace eg
