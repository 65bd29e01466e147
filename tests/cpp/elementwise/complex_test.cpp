// markers: variant

// Complex numbers in ops and in autograd, compared with results of PyTorch.

#include "ops/complex/complex.h"

#include <complex>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "dispatch/elementwise.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/matrix/matmul.h"
#include "ops/reduce/scan.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "support/errors.h"
#include "support/tensors.h"
#include "support/warnings.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::sum;
using testing::tensor;
using testing::values;
using C = std::complex<double>;
using Numbers = std::vector<double>;

Tensor complex_leaf(const std::vector<C>& numbers, const Shape& shape) {
  const Tensor t = tensor<C>(numbers, shape);
  set_requires_grad(t, true);
  return t;
}
Tensor scalar_leaf(C number) { return complex_leaf({number}, Shape{}); }

// The gradient of a real loss of one complex number.
C gradient_at(C z, Tensor (*loss)(const Tensor&)) {
  const Tensor x = scalar_leaf(z);
  backward({loss(x)});
  const Numbers parts = values(grad(x));
  return {parts[0], parts[1]};
}

void expect_near(C actual, C expected) {
  EXPECT_NEAR(actual.real(), expected.real(), 1e-7);
  EXPECT_NEAR(actual.imag(), expected.imag(), 1e-7);
}

// rule: complex-to-real, complex-known-values
TEST(Complex, MagnitudePointsAlongTheNumberAndNowhereAtZero) {
  const auto loss = [](const Tensor& z) { return abs(Var(z)).tensor(); };
  expect_near(gradient_at({3, 4}, loss), {0.6, 0.8});
  expect_near(gradient_at({0, 0}, loss), {0, 0});
}

// rule: complex-known-values, complex-conjugates
TEST(Complex, PartsOfASquareAreConjugated) {
  const C z{3, 4};
  expect_near(gradient_at(z, [](const Tensor& x) { return Real::call((Var(x) * x).tensor()); }),
              {6, -8});
  expect_near(gradient_at(z, [](const Tensor& x) { return Imag::call((Var(x) * x).tensor()); }),
              {8, 6});
}

// rule: complex-known-values
TEST(Complex, ExpAndLogHavePyTorchsGradients) {
  const C z{1, 1};
  expect_near(gradient_at(z, [](const Tensor& x) { return Real::call(exp(Var(x)).tensor()); }),
              {1.4686939399158851, -2.2873552871788423});
  expect_near(gradient_at(z, [](const Tensor& x) { return abs(log(Var(x))).tensor(); }),
              {-0.2555864937, 0.6592992917});
}

// rule: implicit-gradient-real-only, root-gradient-complexness
TEST(Complex, AComplexResultNeedsAGradientOfItsOwnDtype) {
  const Tensor z = scalar_leaf({1, 2});
  const Tensor doubled = (Var(z) * 2).tensor();
  backward({doubled}, {tensor<C>({C{1, 0}}, Shape{})});
  EXPECT_EQ(values(grad(z)), (Numbers{2, 0}));
  expect_error(ErrorCode::kNonScalarBackward, "an output of dtype complex128 needs a gradient",
               [&] { backward({(Var(z) * 2).tensor()}); });
  expect_error(ErrorCode::kDtypeMismatch, "gradient 0 has dtype ",
               [&] { backward({(Var(z) * 2).tensor()}, {tensor<double>({1}, Shape{})}); });
}

// rule: complex-known-values, complex-to-real
TEST(Complex, AngleSignAndPartsHavePyTorchsGradients) {
  expect_near(gradient_at({1, 1}, [](const Tensor& x) { return Angle::call(x); }), {-0.5, 0.5});
  expect_near(gradient_at({0, 0}, [](const Tensor& x) { return Angle::call(x); }), {0, 0});
  expect_near(gradient_at({3, 4}, [](const Tensor& x) { return Real::call(sgn(Var(x)).tensor()); }),
              {0.128, -0.096});
  expect_near(gradient_at({3, 4}, [](const Tensor& x) { return Real::call(Conj::call(x)); }),
              {1, 0});
  expect_near(gradient_at({3, 4}, [](const Tensor& x) { return Imag::call(Conj::call(x)); }),
              {0, -1});
}

// rule: complex-real-operand
TEST(Complex, ARealOperandGetsTheRealPart) {
  const Tensor x = testing::leaf<double>({2, 3});
  const Tensor z = complex_leaf({{1, 2}, {3, 4}}, Shape{2});
  const Tensor product = (Var(x) * z).tensor();
  EXPECT_EQ(product.dtype(), DType::kComplex128);
  backward({sum(Imag::call(product))});
  EXPECT_EQ(grad(x).dtype(), DType::kFloat64);
  EXPECT_EQ(values(grad(x)), (Numbers{2, 4}));
  EXPECT_EQ(values(grad(z)), (Numbers{0, 2, 0, 3}));
}

// rule: complex-real-operand
TEST(Complex, CastsTakeTheRealPartBothWays) {
  const testing::WarningRecorder warnings;
  const Tensor z = complex_leaf({{1, 2}, {3, 4}}, Shape{2});
  const Tensor re = ToDType::call(z, DType::kFloat64);
  EXPECT_EQ(values(re), (Numbers{1, 3}));
  backward({sum(re)});
  ASSERT_EQ(warnings.messages().size(), 1U);
  EXPECT_NE(warnings.messages()[0].find("imaginary parts"), std::string::npos);
  EXPECT_EQ(values(grad(z)), (Numbers{1, 0, 1, 0}));
  const Tensor x = testing::leaf<double>({5});
  backward({sum(Imag::call((Var(ToDType::call(x, DType::kComplex128)) * z).tensor()))});
  EXPECT_EQ(values(grad(x)), (Numbers{6}));
  EXPECT_EQ(warnings.messages().size(), 1U) << "a gradient's real part is no cast of the user's";
  EXPECT_EQ(values(ToDType::call(tensor<C>({{0, 1}, {0, 0}}), DType::kBool)), (Numbers{1, 0}));
}

TEST(Complex, PromotionFollowsPyTorch) {
  const Tensor c64 = testing::full({2}, 1, DType::kComplex64);
  const Tensor c128 = testing::full({2}, 1, DType::kComplex128);
  const auto sum_dtype = [](const Tensor& a, const Operand& b) {
    return call<op::Add>(a, b).dtype();
  };
  EXPECT_EQ(sum_dtype(c64, testing::full({2}, 1, DType::kFloat32)), DType::kComplex64);
  EXPECT_EQ(sum_dtype(c64, testing::full({2}, 1, DType::kFloat64)), DType::kComplex128);
  EXPECT_EQ(sum_dtype(c64, testing::full({2}, 1, DType::kInt64)), DType::kComplex64);
  EXPECT_EQ(sum_dtype(c64, 2.5), DType::kComplex64);
  EXPECT_EQ(sum_dtype(c64, c128), DType::kComplex128);
  EXPECT_EQ(sum_dtype(testing::full({2}, 1, DType::kFloat32), C{0, 1}), DType::kComplex64);
  EXPECT_EQ(sum_dtype(testing::full({2}, 1, DType::kFloat64), C{0, 1}), DType::kComplex128);
  EXPECT_EQ(sum_dtype(testing::full({2}, 1, DType::kInt64), C{0, 1}), DType::kComplex64);
}

TEST(Complex, WhatHasNoOrderSaysSo) {
  const Tensor z = testing::full({2}, 1, DType::kComplex64);
  expect_error(ErrorCode::kDtypeMismatch, "[lt] not implemented for complex64",
               [&] { call<op::Lt>(z, 0); });
  expect_error(ErrorCode::kDtypeMismatch, "[floor]", [&] { call<op::Floor>(z); });
  expect_error(ErrorCode::kDtypeMismatch, "[abs] the result is real",
               [&] { call_in_place<op::Abs>(z); });
  expect_error(ErrorCode::kDtypeMismatch, "expected a complex tensor, got float32",
               [&] { Imag::call(testing::full({2}, 1, DType::kFloat32)); });
}

TEST(Complex, ViewsAsPairsNeedPairs) {
  const Tensor t = testing::full({3, 2}, 1, DType::kFloat32);
  expect_error(ErrorCode::kDtypeMismatch, "expected a complex tensor, got float32",
               [&] { ViewAsReal::call(t); });
  expect_error(ErrorCode::kShapeMismatch, "must have size 2, got shape [3]",
               [&] { ViewAsComplex::call(testing::full({3}, 1, DType::kFloat32)); });
  expect_error(ErrorCode::kShapeMismatch, "at least 1 dimension",
               [&] { ViewAsComplex::call(testing::full({}, 1, DType::kFloat32)); });
  expect_error(ErrorCode::kShapeMismatch, "stride 1", [&] {
    ViewAsComplex::call(Transpose::call(testing::full({2, 2}, 1, DType::kFloat32), 0, 1));
  });
  expect_error(ErrorCode::kShapeMismatch, "the storage offset must be even, got 1", [&] {
    ViewAsComplex::call(Narrow::call(testing::full({3}, 1, DType::kFloat32), 0, 1, 2));
  });
}

// Changing the parts in place changes the complex number, also for autograd.
TEST(Complex, InPlaceChangesOfPartsReachTheWhole) {
  const Tensor z = complex_leaf({{1, 2}, {3, 4}}, Shape{2});
  const Tensor base = Clone::call(z);
  const Tensor imaginary = Imag::call(base);
  call_in_place<op::Mul>(imaginary, 10);
  EXPECT_EQ(values(base), (Numbers{1, 20, 3, 40}));
  backward({sum(Imag::call((Var(base) * base).tensor()))});  // 2 re (10 im)
  EXPECT_EQ(values(grad(z)), (Numbers{40, 20, 80, 60}));
}

TEST(Complex, InPlaceChangesOfANumberReachItsParts) {
  const Tensor pairs = testing::leaf<double>({1, 2, 3, 4}, {2, 2});
  const Tensor base = Clone::call(pairs);
  const Tensor second = Select::call(ViewAsComplex::call(base), 0, 1);
  call_in_place<op::Mul>(second, C{0, 1});
  EXPECT_EQ(values(base), (Numbers{1, 2, -4, 3}));
  backward({sum((Var(base) * tensor<double>({1, 1, 1, 2}, {2, 2})).tensor())});
  EXPECT_EQ(values(grad(pairs)), (Numbers{1, 1, 2, -1}));
}

TEST(Complex, ProductsOfMatricesAreThoseOfTheirElements) {
  const Tensor a = tensor<C>({{1, 2}, {0, 1}, {3, 0}, {1, -1}}, {2, 2});
  const Tensor b = tensor<C>({{2, 0}, {1, 1}, {0, -1}, {1, 0}}, {2, 2});
  EXPECT_EQ(values(Matmul::call(a, b)), (Numbers{3, 4, -1, 4, 5, -1, 4, 2}));
  EXPECT_EQ(values(Mv::call(a, Select::call(b, 1, 0))), (Numbers{3, 4, 5, -1}));
}

TEST(Complex, SumsAndProductsAreThoseOfNumbers) {
  const Tensor z = tensor<C>({{1, 2}, {0, 1}, {3, 0}, {1, -1}, {2, 2}, {1, 0}}, {2, 3});
  EXPECT_EQ(values(Sum::call(z)), (Numbers{8, 4}));
  EXPECT_EQ(values(Sum::call(z, Dims{0})), (Numbers{2, 1, 2, 3, 4, 0}));
  EXPECT_EQ(values(Mean::call(z, Dims{1}, true)), (Numbers{4.0 / 3, 1, 4.0 / 3, 1.0 / 3}));
  EXPECT_EQ(values(Prod::call(z, 1)), (Numbers{-6, 3, 4, 0}));
  EXPECT_EQ(Prod::call(z, 1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(values(Prod::call(tensor<C>({}, Shape{0}))), (Numbers{1, 0}));
  EXPECT_EQ(values(Cumsum::call(Select::call(z, 0, 0), 0)), (Numbers{1, 2, 1, 3, 4, 3}));
  EXPECT_EQ(values(Cumprod::call(Select::call(z, 0, 0), 0)), (Numbers{1, 2, -2, 1, -6, 3}));
  EXPECT_EQ(values(Any::call(tensor<C>({{0, 0}, {0, 1}}))), (Numbers{1}));
  EXPECT_EQ(values(All::call(tensor<C>({{0, 0}, {0, 1}}))), (Numbers{0}));
}

TEST(Complex, PowersOfZeroAndByZero) {
  const auto power = [](C a, C b) {
    return values(call<op::Pow>(tensor<C>({a}, Shape{}), tensor<C>({b}, Shape{})));
  };
  EXPECT_EQ(power({0, 0}, {2, 0}), (Numbers{0, 0}));
  EXPECT_EQ(power({0, 0}, {0.5, 0}), (Numbers{0, 0}));
  EXPECT_EQ(power({0, 0}, {0, 0}), (Numbers{1, 0}));
  EXPECT_EQ(power({1, 2}, {-1, 0}), (Numbers{0.2, -0.4}));
  const Numbers root = power({-4, 0}, {0.5, 0});
  EXPECT_NEAR(root[0], 0, 1e-15);
  EXPECT_NEAR(root[1], 2, 1e-15);
}

TEST(Complex, DivisionDoesNotOverflow) {
  const double big = 1e300;
  const Tensor quotient = call<op::Div>(tensor<C>({{big, big}}), tensor<C>({{big, big}}));
  EXPECT_EQ(values(quotient), (Numbers{1, 0}));
}

TEST(Complex, JoinsAndCopiesPromoteRealOnes) {
  const Tensor x = testing::leaf<double>({7});
  const Tensor z = complex_leaf({{1, 2}}, Shape{1});
  const Tensor joined = Cat::call({x, z});
  EXPECT_EQ(joined.dtype(), DType::kComplex128);
  backward({sum(Real::call(joined))});
  EXPECT_EQ(values(grad(x)), (Numbers{1}));
  const Tensor target = testing::full({2}, 0, DType::kComplex64);
  CopyInPlace::call(target, tensor<double>({3, 4}));
  EXPECT_EQ(values(target), (Numbers{3, 0, 4, 0}));
}

}  // namespace
}  // namespace eg
