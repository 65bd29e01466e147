// markers: threads, variant

#include "ops/reduce/reduction.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/copy.h"
#include "ops/shape/view.h"
#include "runtime/thread_pool.h"
#include "support/errors.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::gradcheck_one;
using testing::leaf;
using testing::random_leaf;
using testing::tensor;
using testing::value;
using testing::values;
using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// 0, 1, 2, ... as float32.
Tensor counting(const Shape& shape) {
  return testing::generated<float>(shape, [](std::int64_t i) { return i; });
}

Tensor gradient_of(const Tensor& output, const Tensor& input) {
  return grad({testing::sum(output)}, {input})[0];
}

TEST(Sum, AddsAlongAnySetOfDims) {
  const Tensor x = counting({2, 3, 2});
  EXPECT_EQ(value(Sum::call(x)), 66);
  EXPECT_EQ(values(Sum::call(x, Dims{0})), (Values{6, 8, 10, 12, 14, 16}));
  EXPECT_EQ(values(Sum::call(x, Dims{1})), (Values{6, 9, 24, 27}));
  EXPECT_EQ(values(Sum::call(x, Dims{-1})), (Values{1, 5, 9, 13, 17, 21}));
  EXPECT_EQ(values(Sum::call(x, Dims{2, 0})), (Values{14, 22, 30}));
  EXPECT_EQ(Sum::call(x, Dims{0, 2}, true).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(Sum::call(x, Dims{}).shape(), Shape{});
}

TEST(Sum, ReadsAnyStrides) {
  const Tensor x = counting({2, 3, 4});
  for (const Dims& order : {Dims{2, 1, 0}, Dims{1, 2, 0}, Dims{0, 2, 1}}) {
    const Tensor view = Permute::call(x, order);
    const Tensor copy = contiguous_copy(view);
    for (const Dims& dims : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{1, 2}, Dims{0, 2}}) {
      EXPECT_EQ(values(Sum::call(view, dims)), values(Sum::call(copy, dims)));
    }
  }
  EXPECT_EQ(values(Sum::call(Expand::call(tensor({1, 2}), {3, 2}), Dims{0})), (Values{3, 6}));
}

TEST(Sum, OfIntegersAndBoolsIsInt64) {
  const Tensor sum = Sum::call(tensor<std::int32_t>({2147483647, 1}));
  EXPECT_EQ(sum.dtype(), DType::kInt64);
  EXPECT_EQ(value(sum), 2147483648.0);
  EXPECT_EQ(value(Sum::call(tensor<bool>({true, false, true}))), 2);
  EXPECT_EQ(Sum::call(tensor<std::uint8_t>({200, 100}), {}, false, DType::kUInt8).dtype(),
            DType::kUInt8);
  EXPECT_EQ(Sum::call(tensor<std::int32_t>({1, 2}), {}, false, DType::kFloat64).dtype(),
            DType::kFloat64);
}

TEST(Sum, OfEmptyAndZeroDimTensors) {
  EXPECT_EQ(value(Sum::call(testing::empty({0}, DType::kFloat32))), 0);
  EXPECT_EQ(values(Sum::call(testing::empty({2, 0}, DType::kFloat32), Dims{1})), (Values{0, 0}));
  EXPECT_EQ(Sum::call(testing::empty({2, 0}, DType::kFloat32), Dims{0}).shape(), Shape{0});
  EXPECT_EQ(value(Sum::call(tensor({5}, {}), Dims{-1}, true)), 5);
}

TEST(Sum, OfManyFloatsIsAsExactAsOfFew) {
  const std::int64_t count = 1 << 20;
  const Tensor x = testing::full({count, 3}, 0.1, DType::kFloat32);
  const double expected = static_cast<double>(0.1F) * static_cast<double>(count);
  EXPECT_NEAR(value(Sum::call(x)) / (3 * expected), 1, 1e-6);
  for (const double column : values(Sum::call(x, Dims{0}))) EXPECT_NEAR(column / expected, 1, 1e-6);
}

TEST(Sum, DoesNotDependOnTheNumberOfThreads) {
  const Tensor x = ToDType::call(random_leaf({300, 400}, 7), DType::kFloat32);
  const auto sums = [&] {
    Values all = values(Sum::call(x));
    for (const Dims& dims : {Dims{0}, Dims{1}}) {
      for (const double sum : values(Sum::call(x, dims))) all.push_back(sum);
    }
    return all;
  };
  const Values alone = sums();
  set_num_threads(3);
  const Values together = sums();
  set_num_threads(1);
  EXPECT_EQ(alone, together);
}

TEST(Sum, NamesBadDims) {
  const Tensor x = counting({2, 3});
  expect_error(ErrorCode::kIndexOutOfRange, "[sum] dimension 2 is out of range",
               [&] { Sum::call(x, Dims{2}); });
  expect_error(ErrorCode::kInvalidArgument, "dimension 1 is listed more than once",
               [&] { Sum::call(x, Dims{1, -1}); });
}

TEST(Sum, GradientIsSpreadBack) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor g = grad({Sum::call(x, Dims{0})}, {x}, {tensor({1, 10, 100})})[0];
  EXPECT_EQ(values(g), (Values{1, 10, 100, 1, 10, 100}));
  for (const bool keepdim : {false, true}) {
    const auto check = [&](const std::optional<Dims>& dims) {
      EXPECT_TRUE(
          gradcheck_one([&](const TensorList& in) { return Sum::call(in[0], dims, keepdim); },
                        {random_leaf({2, 3, 2}, 1)}));
    };
    check(std::nullopt);
    check(Dims{1});
    check(Dims{0, -1});
  }
}

TEST(SumToShape, UndoesBroadcasting) {
  const Tensor x = counting({2, 3, 2});
  EXPECT_TRUE(sum_to_shape(x, {2, 3, 2}).is_same(x));
  EXPECT_EQ(values(sum_to_shape(x, {3, 1})), (Values{14, 22, 30}));
  EXPECT_EQ(sum_to_shape(x, {3, 1}).shape(), (Shape{3, 1}));
  EXPECT_EQ(values(sum_to_shape(x, {2})), (Values{30, 36}));
  EXPECT_EQ(sum_to_shape(x, {}).shape(), Shape{});
  EXPECT_EQ(values(sum_to_shape(x, {2, 1, 2})), (Values{6, 9, 24, 27}));
}

TEST(Mean, DividesByTheCount) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(value(Mean::call(x)), 2.5);
  EXPECT_EQ(values(Mean::call(x, Dims{1})), (Values{1, 4}));
  EXPECT_TRUE(std::isnan(value(Mean::call(testing::empty({0}, DType::kFloat32)))));
  EXPECT_EQ(value(Mean::call(tensor<std::int32_t>({1, 2}), {}, false, DType::kFloat32)), 1.5);
  expect_error(ErrorCode::kDtypeMismatch, "expected floating-point or complex numbers, got int32",
               [&] { Mean::call(tensor<std::int32_t>({1, 2})); });
  EXPECT_TRUE(gradcheck_one([](const TensorList& in) { return Mean::call(in[0], Dims{0, 2}); },
                            {random_leaf({2, 3, 2}, 1)}));
}

TEST(Prod, Multiplies) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(value(Prod::call(x)), 720);
  EXPECT_EQ(values(Prod::call(x, 0)), (Values{4, 10, 18}));
  EXPECT_EQ(Prod::call(x, 1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(value(Prod::call(testing::empty({0}, DType::kFloat32))), 1);
  EXPECT_EQ(Prod::call(tensor<std::int32_t>({2, 3})).dtype(), DType::kInt64);
}

TEST(Prod, GradientWithZerosIsTheProductOfTheOthers) {
  const Tensor one_zero = leaf({2, 0, 5});
  EXPECT_EQ(values(gradient_of(Prod::call(one_zero), one_zero)), (Values{0, 10, 0}));
  const Tensor two_zeros = leaf({0, 3, 0});
  EXPECT_EQ(values(gradient_of(Prod::call(two_zeros), two_zeros)), (Values{0, 0, 0}));
  const Tensor rows = leaf({1, 2, 3, 0, 5, 6, 0, 0, 7}, {3, 3});
  EXPECT_EQ(values(gradient_of(Prod::call(rows, 1), rows)), (Values{6, 3, 2, 30, 0, 0, 0, 0, 0}));
}

TEST(Prod, DerivativesOfAnyInputAreRight) {
  std::vector<double> some = values(random_leaf({2, 5}, 3));
  for (const std::size_t i : {0, 5, 8}) some[i] = 0;
  const Tensor zeros = leaf<double>(some, {2, 5});
  for (const Tensor& x : {random_leaf({2, 5}, 3), zeros}) {
    EXPECT_TRUE(gradcheck_one([](const TensorList& in) { return Prod::call(in[0]); }, {x}));
    EXPECT_TRUE(gradcheck_one([](const TensorList& in) { return Prod::call(in[0], 1); }, {x}));
    EXPECT_TRUE(
        gradcheck_one([](const TensorList& in) { return Prod::call(in[0], 0, true); }, {x}));
  }
}

TEST(AnyAll, TellWhetherElementsAreNotZero) {
  const Tensor x = tensor<bool>({false, true, true, true}, {2, 2});
  EXPECT_EQ(values(Any::call(x, Dims{0})), (Values{1, 1}));
  EXPECT_EQ(values(All::call(x, Dims{0})), (Values{0, 1}));
  EXPECT_EQ(values(All::call(x)), (Values{0}));
  EXPECT_EQ(Any::call(tensor({0.5})).dtype(), DType::kBool);
  EXPECT_EQ(value(Any::call(tensor({0.5, 0}))), 1);
  EXPECT_EQ(value(All::call(tensor<double>({kNan, 1}))), 1);
  EXPECT_EQ(All::call(tensor<std::uint8_t>({3})).dtype(), DType::kUInt8);
  EXPECT_EQ(value(Any::call(testing::empty({0}, DType::kBool))), 0);
  EXPECT_EQ(value(All::call(testing::empty({0}, DType::kBool))), 1);
}

TEST(AmaxAmin, FindExtremesAndHandNanOn) {
  const Tensor x = tensor({3, -1, 2, 7, 0, 7}, {2, 3});
  EXPECT_EQ(value(Amax::call(x)), 7);
  EXPECT_EQ(values(Amax::call(x, Dims{0})), (Values{7, 0, 7}));
  EXPECT_EQ(values(Amin::call(x, Dims{1})), (Values{-1, 0}));
  EXPECT_TRUE(std::isnan(value(Amax::call(tensor<double>({1, kNan, kInf})))));
  EXPECT_TRUE(std::isnan(value(Amin::call(tensor<double>({kNan, 1, 2, 3, 4, 5, 6, 7, 8})))));
  EXPECT_EQ(value(Amax::call(tensor<double>({-kInf, -kInf}))), -kInf);
  const Tensor ints = Amax::call(tensor<std::int32_t>({-5, -3}));
  EXPECT_EQ(ints.dtype(), DType::kInt32);
  EXPECT_EQ(value(ints), -3);
}

TEST(AmaxAmin, TiesShareTheGradient) {
  const Tensor x = leaf({1, 3, 3, 3});
  EXPECT_EQ(values(gradient_of(Amax::call(x, Dims{0}), x)),
            (Values{0, 1.0F / 3, 1.0F / 3, 1.0F / 3}));
  EXPECT_EQ(values(gradient_of(Max::call(x).tensors[0], x)),
            (Values{0, 1.0F / 3, 1.0F / 3, 1.0F / 3}));
  const Tensor nans = leaf<double>({kNan, 1, kNan});
  EXPECT_EQ(values(gradient_of(Max::call(nans).tensors[0], nans)), (Values{0.5, 0, 0.5}));
  EXPECT_TRUE(
      gradcheck_one([](const TensorList& in) { return Amin::call(in[0], Dims{0, 2}, true); },
                    {random_leaf({2, 3, 2}, 1)}));
}

TEST(AmaxAmin, NeedAnElementToStartFrom) {
  const Tensor empty = testing::empty({2, 0}, DType::kFloat32);
  expect_error(ErrorCode::kInvalidArgument,
               "[amax] there is no element to choose in an empty tensor",
               [&] { Amax::call(empty); });
  expect_error(ErrorCode::kIndexOutOfRange, "[amin] dim 1 has size 0",
               [&] { Amin::call(empty, Dims{1}); });
  EXPECT_EQ(Amax::call(empty, Dims{0}).shape(), Shape{0});
}

TEST(MaxMin, AlongADimGiveValuesAndTheFirstIndices) {
  const Tensor x = leaf({3, 7, 7, 5, 0, 5}, {2, 3});
  const OneOrMore rows = Max::call(x, 1);
  EXPECT_EQ(values(rows.tensors[0]), (Values{7, 5}));
  EXPECT_EQ(values(rows.tensors[1]), (Values{1, 0}));
  EXPECT_EQ(rows.tensors[1].dtype(), DType::kInt64);
  EXPECT_EQ(values(gradient_of(rows.tensors[0], x)), (Values{0, 1, 0, 1, 0, 0}));
  const OneOrMore columns = Min::call(x, 0, true);
  EXPECT_EQ(values(columns.tensors[0]), (Values{3, 0, 5}));
  EXPECT_EQ(values(columns.tensors[1]), (Values{0, 1, 1}));
  EXPECT_EQ(columns.tensors[0].shape(), (Shape{1, 3}));
  EXPECT_TRUE(gradcheck_one([](const TensorList& in) { return Max::call(in[0], 1).tensors[0]; },
                            {random_leaf({2, 3, 2}, 1)}));
}

TEST(MaxMin, TheFirstNanWins) {
  const Tensor x = tensor<double>({1, kNan, 5, kNan});
  EXPECT_EQ(value(Max::call(x, 0).tensors[1]), 1);
  EXPECT_EQ(value(Argmin::call(x)), 1);
  const Tensor columns = tensor<double>({1, kNan, kNan, 2, 0, kNan}, {3, 2});
  EXPECT_EQ(values(Max::call(columns, 0).tensors[1]), (Values{1, 0}));
}

TEST(ArgmaxArgmin, CountInRowMajorOrder) {
  const Tensor x = tensor({3, 9, 2, 9, 0, 1}, {2, 3});
  EXPECT_EQ(value(Argmax::call(x)), 1);
  EXPECT_EQ(value(Argmax::call(Transpose::call(x, 0, 1))), 1);
  EXPECT_EQ(value(Argmin::call(Transpose::call(x, 0, 1))), 3);
  EXPECT_EQ(values(Argmax::call(x, 0)), (Values{1, 0, 0}));
  EXPECT_EQ(Argmax::call(x, {}, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(value(Argmax::call(tensor({5}, {}), 0)), 0);
  const Tensor large = counting({3, 2000});
  EXPECT_EQ(values(Argmax::call(large, 1)), (Values{1999, 1999, 1999}));
  EXPECT_EQ(values(Argmax::call(ToDType::call(large, DType::kInt32), 1)),
            (Values{1999, 1999, 1999}));
  expect_error(ErrorCode::kInvalidArgument,
               "[argmax] there is no element to choose in an empty tensor",
               [&] { Argmax::call(testing::empty({0}, DType::kFloat32)); });
}

}  // namespace
}  // namespace eg
