// The in-place forms of ops that are not elementwise. function_laws_test.cpp tests that they
// compute the same as the out-of-place ops.

#include "dispatch/in_place.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/all.h"
#include "ops/op_table.h"
#include "support/errors.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::gradcheck_one;
using testing::leaf;
using testing::random_leaf;
using testing::sum;
using testing::tensor;
using testing::value;
using testing::values;
using Values = std::vector<double>;

Tensor twice(const Tensor& t) { return (Var(t) * 2).tensor(); }

// rule: leaf-inplace-error
TEST(InPlaceOps, ChangeALeafOnlyWhereNothingIsRecorded) {
  const Tensor x = leaf({1, 2, 3});
  expect_error(ErrorCode::kLeafInPlace,
               "a leaf that requires a gradient cannot be changed in place",
               [&] { apply_in_place<Cumsum>(x, 0, std::optional<DType>()); });
  expect_error(ErrorCode::kLeafInPlace,
               "a leaf that requires a gradient cannot be changed in place",
               [&] { apply_in_place<Unsqueeze>(x, 0); });
  EXPECT_EQ(values(x), (Values{1, 2, 3}));
  EXPECT_EQ(x.shape(), Shape{3});
  const NoGradGuard guard;
  apply_in_place<Cumsum>(x, 0, std::optional<DType>());
  EXPECT_EQ(values(x), (Values{1, 3, 6}));
  EXPECT_EQ(x.version(), 1U);
}

// rule: inplace-continues-history
TEST(InPlaceOps, GiveTheTargetTheNodeOfTheOp) {
  const Tensor x = twice(leaf({1, 2, 3}));
  const IntrusivePtr<Node> before = grad_fn(x);
  apply_in_place<Cumsum>(x, 0, std::optional<DType>());
  EXPECT_EQ(grad_fn(x)->name(), "CumsumBackward0");
  EXPECT_EQ(grad_fn(x)->next_edges()[0].function, before);
  const Tensor row = Unsqueeze::call(x, 0);
  apply_in_place<Transpose>(row, 0, 1);
  EXPECT_EQ(row.shape(), (Shape{3, 1}));
  EXPECT_TRUE(is_view(row));
}

// rule: saved-checked
TEST(InPlaceOps, MakeEarlierSavedValuesStale) {
  const Tensor x = twice(leaf({1, 2, 3}));
  const Tensor square = (Var(x) * x).tensor();
  apply_in_place<Cumsum>(x, 0, std::optional<DType>());
  expect_error(ErrorCode::kModifiedInPlace, "that backward needs was changed in place",
               [&] { backward({sum(square)}); });
}

// rule: inplace-keeps-form
TEST(InPlaceOps, KeepTheDTypeOfTheTarget) {
  const Tensor x = tensor<std::int32_t>({1, 2, 3});
  apply_in_place<Cumsum>(x, 0, std::optional<DType>());
  EXPECT_EQ(x.dtype(), DType::kInt32);
  EXPECT_EQ(values(x), (Values{1, 3, 6}));
}

// rule: inplace-keeps-form
TEST(InPlaceOps, RefuseAResultOfAnotherShape) {
  const Tensor row = tensor({1, 2});
  const Tensor a = tensor({1, 0, 0, 1}, {2, 2});
  expect_error(ErrorCode::kShapeMismatch,
               "shape [2, 2] cannot be written in place to a tensor of shape [2]",
               [&] { apply_in_place<Addmm>(row, a, a, Scalar(1), Scalar(1)); });
  EXPECT_EQ(values(row), (Values{1, 2}));
}

// rule: partial-overlap-refused
TEST(InPlaceOps, ReadTheirTargetAsAnOperandButNoOtherViewOfIt) {
  const Tensor a = tensor({1, 2, 3, 4}, {2, 2});
  testing::expect_error(
      ErrorCode::kInvalidArgument, "overlaps the memory of the tensor that is written",
      [&] { apply_in_place<Addmm>(a, a, Transpose::call(a, 0, 1), Scalar(0), Scalar(1)); });
  EXPECT_EQ(values(a), (Values{1, 2, 3, 4}));
  apply_in_place<Addmm>(a, a, contiguous_copy(Transpose::call(a, 0, 1)), Scalar(0), Scalar(1));
  EXPECT_EQ(values(a), (Values{5, 11, 11, 25}));
}

TEST(InPlaceViews, ChangeWhatATensorShowsAndNothingElse) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor other = Select::call(x, 0, 1);
  apply_in_place<MatrixTranspose>(x);
  EXPECT_EQ(x.shape(), (Shape{3, 2}));
  EXPECT_EQ(values(x), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_FALSE(x.is_contiguous());
  EXPECT_EQ(x.version(), 1U);
  EXPECT_EQ(values(other), (Values{4, 5, 6}));
  apply_in_place<Unsqueeze>(x, 0);
  apply_in_place<Squeeze>(x, std::optional<Dims>());
  EXPECT_EQ(x.shape(), (Shape{3, 2}));
}

TEST(InPlaceViews, LeaveOtherViewsOfAComputedTensorTheirGradients) {
  const auto f = [](const TensorList& in) {
    const Tensor x = twice(in[0]);
    const Tensor row = Select::call(x, 0, 0);
    apply_in_place<Transpose>(x, 0, 1);
    const Var column = Select::call(x, 1, 1);
    return (Var(row) * row + column * column * column).tensor();
  };
  EXPECT_TRUE(gradcheck_one(f, {random_leaf({2, 3}, 1)}));
}

TEST(Comparisons, WriteZerosAndOnesAndEndTheHistory) {
  const Tensor a = leaf({1, 2, 3});
  const Tensor x = twice(a);
  const TensorList operands{x};
  const ElementwiseInfo& less = elementwise_info<op::Lt>();
  write_result("lt", operands, [&](const Tensor& t) {
    return apply_elementwise(less, std::array{t, scalar_tensor(5)}, {});
  });
  EXPECT_EQ(x.dtype(), DType::kFloat32);
  EXPECT_EQ(values(x), (Values{1, 1, 0}));
  EXPECT_EQ(x.version(), 1U);
  backward({sum(x)});
  EXPECT_EQ(values(grad(a)), (Values{0, 0, 0}));
}

TEST(FillDiagonal, OfTallMatricesBeginsAgainWhereItWraps) {
  const Tensor once = testing::full({7, 3}, 0, DType::kFloat32);
  FillDiagonalInPlace::call(once, 5);
  EXPECT_EQ(value(sum(once)), 15);
  const Tensor wrapped = testing::full({7, 3}, 0, DType::kFloat32);
  FillDiagonalInPlace::call(wrapped, 5, true);
  EXPECT_EQ(values(wrapped),
            (Values{5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5}));
  const Tensor cube = testing::full({2, 2, 2}, 0, DType::kFloat32);
  FillDiagonalInPlace::call(cube, 1);
  EXPECT_EQ(values(cube), (Values{1, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(FillDiagonal, TakesTheGradientOfWhatItFills) {
  const Tensor a = leaf({1, 2, 3, 4}, {2, 2});
  const Tensor x = twice(a);
  FillDiagonalInPlace::call(x, 0);
  backward({sum(x)});
  EXPECT_EQ(values(grad(a)), (Values{0, 2, 2, 0}));
}

TEST(FillDiagonal, ReportsWhatHasNone) {
  expect_error(ErrorCode::kShapeMismatch, "at least 2 dimensions, got shape [2]",
               [] { FillDiagonalInPlace::call(tensor({1, 2}), 1); });
  expect_error(ErrorCode::kShapeMismatch, "all sizes must be equal, got shape [2, 2, 3]",
               [] { FillDiagonalInPlace::call(testing::full({2, 2, 3}, 0, DType::kFloat32), 1); });
}

}  // namespace
}  // namespace eg
