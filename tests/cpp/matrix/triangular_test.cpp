// Triangular systems and LU factorisations, compared with results of PyTorch.

#include "ops/linalg/triangular.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

Tensor leaf(const Values& list, const Shape& shape) {
  const Tensor t = tensor<double>(list, shape);
  set_requires_grad(t, true);
  return t;
}

void expect_solution(const Tensor& actual, const Values& expected) {
  testing::expect_near(actual, expected, 1e-11);
}

TEST(SolveTriangular, DoesNotReadTheOtherTriangle) {
  const Tensor a = leaf({2, 9, 9, 1, 4, 9, 3, -1, 5}, {3, 3});
  const Tensor b = leaf({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor g = tensor<double>({1, 2, 3, 4, 5, 6}, {3, 2});

  const Tensor lower = SolveTriangular::call(a, b, false);
  expect_solution(lower, {0.5, 1, 0.625, 0.75, 0.825, 0.75});
  const TensorList of_lower = grad({lower}, {a, b}, {g});
  expect_solution(of_lower[0], {2.2, 0, 0, -1.8, -1.6, 0, -1.7, -1.525, -1.725});
  expect_solution(of_lower[1], {-1.5, -1.45, 1, 1.3, 1, 1.2});

  const Tensor upper = SolveTriangular::call(a, b, true, true, true);
  expect_solution(upper, {334, 398, -42, -50, 5, 6});
  const TensorList of_upper = grad({upper}, {a, b}, {g});
  expect_solution(of_upper[0], {0, 142, -17, 0, 0, 114, 0, 0, 0});
  expect_solution(of_upper[1], {1, 2, -6, -14, 50, 114});
}

TEST(SolveTriangular, SaysWhatDoesNotFit) {
  const Tensor a = tensor<double>({2, 0, 1, 4}, {2, 2});
  expect_error(ErrorCode::kShapeMismatch, "the sizes of A and B do not match in AX = B",
               [&] { SolveTriangular::call(a, tensor<double>({1, 2, 3}, {3, 1}), false); });
  // Dividing by a zero on the diagonal is not an error.
  const Tensor singular =
      SolveTriangular::call(tensor<double>({0}, {1, 1}), tensor<double>({1}, {1, 1}), true);
  EXPECT_GT(values(singular)[0], 1e308);
}

// The gradients of U for 1, 2, 3, ... and of L for 1, 2, 3, ...
TensorList gradient_of(const Tensor& a) {
  const TensorList factors = Lu::call(a);
  const auto numbers = [](const Tensor& like) {
    return testing::generated<double>(like.shape(), [](std::int64_t i) { return i + 1.0; });
  };
  return grad({factors[1], factors[2]}, {a}, {numbers(factors[1]), numbers(factors[2])});
}

TEST(Lu, ExchangesRows) {
  const Tensor wide = leaf({0.5, 1.5, 2, 1, 2, -1}, {2, 3});
  const TensorList factors = Lu::call(wide);
  EXPECT_EQ(values(factors[0]), (Values{0, 1, 1, 0}));
  expect_solution(factors[1], {1, 0, 0.5, 1});
  expect_solution(factors[2], {1, 2, -1, 0, 0.5, 2.5});
  expect_solution(gradient_of(wide)[0], {-1, 5, 6, 1.5, -0.5, 0});
}

TEST(Lu, IsThatOfTallMatricesToo) {
  const Tensor tall = leaf({0.5, 1, 1.5, 2, 2, -1}, {3, 2});
  const TensorList factors = Lu::call(tall);
  EXPECT_EQ(values(factors[0]), (Values{0, 0, 1, 0, 1, 0, 1, 0, 0}));
  expect_solution(factors[1], {1, 0, 0.75, 1, 0.25, 0.45454545454545454});
  expect_solution(factors[2], {2, -1, 0, 2.75});
}

TEST(LuFactor, CountsPivotsFromOne) {
  const Tensor a = leaf({1, 2, 0, 4, 5, 6, 7, 8, 10}, {3, 3});
  const TensorList parts = LuFactor::call(a);
  EXPECT_EQ(parts[1].dtype(), DType::kInt32);
  EXPECT_EQ(values(parts[1]), (Values{3, 3, 3}));
  const Tensor g = tensor<double>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3});
  expect_solution(
      grad({parts[0]}, {a}, {g})[0],
      {6.6190476190476186, -7.1666666666666679, 1.5, -39.6666666666666501, 24.3333333333333250, 9,
       22.7210884353741420, -10.8809523809523760, -2.3571428571428554});
  expect_error(ErrorCode::kInvalidArgument, "U[2,2] is zero",
               [] { LuFactor::call(tensor<double>({1, 2, 2, 4}, {2, 2})); });
}

}  // namespace
}  // namespace eg
