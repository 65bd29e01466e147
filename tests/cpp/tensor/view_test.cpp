// Views, joining and rearranging.

#include "ops/shape/view.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/create/factory.h"
#include "ops/shape/join.h"
#include "support/errors.h"
#include "support/gradcheck.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::generated;
using testing::gradcheck;
using testing::gradcheck_one;
using testing::leaf;
using testing::random_leaf;
using testing::range;
using testing::sum;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

TEST(View, SharesStorageAndVersion) {
  const Tensor x = Zeros::call({2, 6});
  const Tensor v = View::call(x, {3, -1});
  EXPECT_EQ(v.shape(), (Shape{3, 4}));
  EXPECT_TRUE(v.shares_storage_with(x));
  EXPECT_TRUE(is_view(v));
  EXPECT_TRUE(view_base(v).is_same(x));
  call_in_place<op::Add>(v, 1);
  EXPECT_EQ(x.version(), 1U);
  EXPECT_EQ(values(x)[11], 1);
}

TEST(View, OfAViewHasTheSameBase) {
  const Tensor x = Zeros::call({2, 6});
  const Tensor v = Transpose::call(View::call(x, {3, 4}), 0, 1);
  EXPECT_TRUE(view_base(v).is_same(x));
}

TEST(View, IsRefusedWhereItWouldNeedACopy) {
  expect_error(ErrorCode::kShapeMismatch,
               "shape [3, 2] with strides [1, 3] cannot be viewed as [6]",
               [] { View::call(Transpose::call(range({2, 3}), 0, 1), {6}); });
  expect_error(ErrorCode::kShapeMismatch, "cannot view 6 elements as shape [4]",
               [] { View::call(range({2, 3}), {4}); });
}

TEST(Reshape, CopiesWhereNoViewFits) {
  const Tensor x = Transpose::call(range({2, 3}), 0, 1);
  const Tensor y = Reshape::call(x, {6});
  EXPECT_EQ(values(y), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_FALSE(y.shares_storage_with(x));
  EXPECT_TRUE(Reshape::call(x, {3, 1, 2}).shares_storage_with(x));
  EXPECT_EQ(Reshape::call(range({0, 3}), {3, 0}).shape(), (Shape{3, 0}));
  const Tensor base = random_leaf({2, 3}, 1);
  EXPECT_EQ(grad_fn(Reshape::call(Transpose::call(base, 0, 1), {6}))->name(),
            "UnsafeViewBackward0");
  EXPECT_TRUE(gradcheck_one(
      [](auto& in) { return Reshape::call(Transpose::call(in[0], 0, 1), {6}); }, {base}));
}

TEST(Views, HaveTheirNodesNames) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(grad_fn(View::call(x, {6}))->name(), "ViewBackward0");
  EXPECT_EQ(grad_fn(Reshape::call(x, {6}))->name(), "ViewBackward0");
  EXPECT_EQ(grad_fn(Transpose::call(x, 0, 1))->name(), "TransposeBackward0");
  EXPECT_EQ(grad_fn(MatrixTranspose::call(x))->name(), "TBackward0");
  EXPECT_EQ(grad_fn(Permute::call(x, {1, 0}))->name(), "PermuteBackward0");
  EXPECT_EQ(grad_fn(Unsqueeze::call(x, 0))->name(), "UnsqueezeBackward0");
  EXPECT_EQ(grad_fn(Expand::call(x, {4, 2, 3}))->name(), "ExpandBackward0");
  EXPECT_EQ(grad_fn(Narrow::call(x, 0, 0, 1))->name(), "SliceBackward0");
  EXPECT_EQ(grad_fn(Select::call(x, 0, 0))->name(), "SelectBackward0");
  EXPECT_EQ(grad_fn(Split::call(x, {1})[0])->name(), "SplitBackward0");
  EXPECT_EQ(grad_fn(Unbind::call(x)[0])->name(), "UnbindBackward0");
  EXPECT_EQ(grad_fn(Cat::call({x, x}))->name(), "CatBackward0");
}

TEST(Transpose, ExchangesDimensions) {
  EXPECT_EQ(values(Transpose::call(range({2, 3}), 0, -1)), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(Transpose::call(range({}), 0, -1).shape(), Shape{});
  expect_error(ErrorCode::kIndexOutOfRange,
               "dimension 2 is out of range, expected a value from -2 to 1",
               [] { Transpose::call(range({2, 3}), 0, 2); });
  EXPECT_EQ(values(MatrixTranspose::call(range({3}))), (Values{0, 1, 2}));
  expect_error(ErrorCode::kShapeMismatch, "expected at most 2 dimensions, got 3",
               [] { MatrixTranspose::call(range({1, 2, 3})); });
}

TEST(Permute, ChecksItsDimensions) {
  EXPECT_EQ(Permute::call(range({2, 3, 4}), {2, 0, 1}).shape(), (Shape{4, 2, 3}));
  expect_error(ErrorCode::kShapeMismatch, "dims must name all 2 dimensions, got 1",
               [] { Permute::call(range({2, 3}), {0}); });
  expect_error(ErrorCode::kInvalidArgument, "dims must not contain duplicates, got [1, -1]",
               [] { Permute::call(range({2, 3}), {1, -1}); });
}

TEST(Movedim, KeepsTheOrderOfTheOthers) {
  EXPECT_EQ(Movedim::call(range({2, 3, 4}), {0}, {2}).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(Movedim::call(range({2, 3, 4}), {-1, 0}, {0, 1}).shape(), (Shape{4, 2, 3}));
}

TEST(Squeeze, DropsOnlyDimensionsOfSizeOne) {
  EXPECT_EQ(Squeeze::call(range({1, 2, 1})).shape(), Shape{2});
  EXPECT_EQ(Squeeze::call(range({1, 2, 1}), Dims{1}).shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(Squeeze::call(range({1, 2, 1}), Dims{0, -1}).shape(), Shape{2});
  EXPECT_EQ(Unsqueeze::call(range({2, 3}), -1).shape(), (Shape{2, 3, 1}));
  expect_error(ErrorCode::kIndexOutOfRange,
               "dimension 3 is out of range, expected a value from -3 to 2",
               [] { Unsqueeze::call(range({2, 3}), 3); });
}

TEST(Expand, RepeatsWithoutACopy) {
  const Tensor x = range({3, 1});
  const Tensor y = Expand::call(x, {2, -1, 4});
  EXPECT_EQ(y.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(y.strides(), (Strides{0, 1, 0}));
  const Tensor row = range({5});
  EXPECT_EQ(Expand::call(row, {1, 1, 5}).strides(), (Strides{5, 5, 1}));
  EXPECT_EQ(Expand::call(row, {2, 1, 5}).strides(), (Strides{0, 5, 1}));
  EXPECT_EQ(Expand::call(range({5, 1}), {1, 5, 3}).strides(), (Strides{5, 1, 0}));
  EXPECT_EQ(Expand::call(range({0, 5}), {1, 0, 5}).strides(), (Strides{0, 5, 1}));
  EXPECT_EQ(Expand::call(range({}), {1, 1}).strides(), (Strides{0, 0}));
  expect_error(ErrorCode::kShapeMismatch, "to [4, 1]: dimension 0 would change from 3 to 4",
               [&] { Expand::call(x, {4, 1}); });
  expect_error(ErrorCode::kShapeMismatch,
               "cannot expand shape [3, 1] to [3], which has fewer dimensions",
               [&] { Expand::call(x, {3}); });
  expect_error(ErrorCode::kInvalidArgument, "the new dimension 0 must not be negative, got -1",
               [&] { Expand::call(x, {-1, 3, 1}); });
}

TEST(Flatten, JoinsDimensions) {
  EXPECT_EQ(Flatten::call(range({2, 3, 4}), 1).shape(), (Shape{2, 12}));
  EXPECT_EQ(Flatten::call(range({})).shape(), Shape{1});
  EXPECT_EQ(Unflatten::call(range({2, 6}), -1, {-1, 2}).shape(), (Shape{2, 3, 2}));
  expect_error(ErrorCode::kInvalidArgument, "startDim must not come after endDim, got 1 and 0",
               [] { Flatten::call(range({2, 3}), 1, 0); });
}

TEST(Slice, ClampsItsLimits) {
  const Tensor x = range({10});
  EXPECT_EQ(values(Slice::call(x, 0, 2, 9, 3)), (Values{2, 5, 8}));
  EXPECT_EQ(values(Slice::call(x, 0, -3, {}, 1)), (Values{7, 8, 9}));
  EXPECT_EQ(values(Slice::call(x, 0, -100, 100, 4)), (Values{0, 4, 8}));
  EXPECT_EQ(Slice::call(x, 0, 5, 2).shape(), Shape{0});
  expect_error(ErrorCode::kInvalidArgument, "step must be positive, got 0",
               [&] { Slice::call(x, 0, 0, 5, 0); });
}

TEST(Narrow, ChecksItsRange) {
  EXPECT_EQ(values(Narrow::call(range({3, 2}), 0, -2, 2)), (Values{2, 3, 4, 5}));
  expect_error(ErrorCode::kIndexOutOfRange,
               "start 3 plus length 3 exceeds the size of dimension 0, 5",
               [] { Narrow::call(range({5}), 0, 3, 3); });
}

TEST(Select, ChecksItsIndex) {
  EXPECT_EQ(values(Select::call(range({2, 3}), 1, -1)), (Values{2, 5}));
  expect_error(ErrorCode::kIndexOutOfRange,
               "index 3 is out of range for dimension 1 of shape [2, 3]",
               [] { Select::call(range({2, 3}), 1, 3); });
  expect_error(ErrorCode::kIndexOutOfRange, "[select] expected at least 1 dimension",
               [] { Select::call(range({}), 0, 0); });
}

TEST(Split, MakesOneNodeForAllViews) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6, 7});
  const TensorList parts = Split::call(x, {3});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[2].shape(), Shape{1});
  EXPECT_EQ(grad_fn(parts[0]).get(), grad_fn(parts[2]).get());
  EXPECT_EQ(output_nr(parts[2]), 2U);
  backward({sum(call<op::Mul>(parts[1], 3))});
  EXPECT_EQ(values(grad(x)), (Values{0, 0, 0, 3, 3, 3, 0}));
}

TEST(Split, ViewsMayNotBeChangedInPlace) {
  const Tensor x = call<op::Mul>(leaf({1, 2, 3, 4}), 1);
  const TensorList parts = Unbind::call(x);
  expect_error(ErrorCode::kViewInPlace,
               "output 1 of UnbindBackward0, a view, cannot be changed in place",
               [&] { call_in_place<op::Add>(parts[1], 1); });
}

TEST(Split, ChecksItsSizes) {
  const Tensor x = range({7});
  EXPECT_EQ(Split::call(x, {3, 4}).size(), 2U);
  EXPECT_EQ(Split::call(range({0}), {0}).size(), 1U);
  EXPECT_EQ(Chunk::call(range({0, 2}), 3).size(), 3U);
  EXPECT_EQ(Chunk::call(range({6, 2}), 4).size(), 3U);
  expect_error(ErrorCode::kShapeMismatch,
               "splitSizes must add up to 7, the size of dimension 0, got [3, 3]",
               [&] { Split::call(x, {3, 3}); });
  expect_error(ErrorCode::kInvalidArgument, "splitSize must be positive for a dimension of size 7",
               [&] { Split::call(x, {0}); });
  expect_error(ErrorCode::kInvalidArgument, "chunks must be positive, got 0",
               [&] { Chunk::call(x, 0); });
}

TEST(Diagonal, ReachesBeyondTheSquare) {
  EXPECT_EQ(values(Diagonal::call(range({3, 4}), 1)), (Values{1, 6, 11}));
  EXPECT_EQ(values(Diagonal::call(range({3, 4}), -2)), (Values{8}));
  EXPECT_EQ(Diagonal::call(range({3, 4}), 9).shape(), Shape{0});
  EXPECT_EQ(values(Diagonal::call(range({2, 2, 2}), 0, 0, 2)), (Values{0, 5, 2, 7}));
}

TEST(Unfold, ShowsWindowsThatOverlap) {
  EXPECT_EQ(values(Unfold::call(range({5}), 0, 3, 1)), (Values{0, 1, 2, 1, 2, 3, 2, 3, 4}));
  const Tensor x = leaf({1, 2, 3, 4, 5});
  backward({sum(Unfold::call(x, 0, 3, 1))});
  EXPECT_EQ(values(grad(x)), (Values{1, 2, 3, 2, 1}));
}

TEST(Cat, PromotesAndSkipsLegacyEmpties) {
  const Tensor whole = tensor<std::int64_t>({1, 2}, {1, 2});
  const Tensor result =
      Cat::call({tensor<float>({}, {0}), whole, tensor<float>({0.5F, 3}, {1, 2})});
  EXPECT_EQ(result.dtype(), DType::kFloat32);
  EXPECT_EQ(values(result), (Values{1, 2, 0.5, 3}));
  EXPECT_EQ(values(Cat::call({range({2, 2}), range({2, 1})}, -1)), (Values{0, 1, 0, 2, 3, 1}));
  const Tensor x = leaf<float>({}, {0});
  backward({sum(Cat::call({x, leaf<float>({1, 2}, {1, 2})}))});
  EXPECT_EQ(grad(x).shape(), Shape{0});
}

TEST(Cat, GradientsKeepTheDtypeOfTheirInputs) {
  const Tensor a = leaf<float>({1});
  const Tensor b = leaf<double>({2});
  backward({sum(Cat::call({a, b}))});
  EXPECT_EQ(grad(a).dtype(), DType::kFloat32);
  EXPECT_EQ(grad(b).dtype(), DType::kFloat64);
}

TEST(Cat, ChecksShapes) {
  expect_error(ErrorCode::kInvalidArgument, "expected at least one tensor", [] { Cat::call({}); });
  expect_error(ErrorCode::kShapeMismatch,
               "only in dimension 1, but tensor 1 has size 3 in dimension 0, expected 2",
               [] { Cat::call({range({2, 2}), range({3, 2})}, 1); });
  expect_error(ErrorCode::kShapeMismatch, "tensor 1 has no dimension to join along",
               [] { Cat::call({range({2}), range({})}); });
  expect_error(ErrorCode::kShapeMismatch,
               "the same shape, got [2] for tensor 0 and [3] for tensor 1",
               [] { Stack::call({range({2}), range({3})}); });
}

TEST(Stack, MakesANewDimension) {
  EXPECT_EQ(values(Stack::call({range({2}), call<op::Add>(range({2}), 5)}, -1)),
            (Values{0, 5, 1, 6}));
  EXPECT_EQ(Stack::call({range({}), range({})}).shape(), Shape{2});
}

TEST(Repeat, LaysCopiesSideBySide) {
  EXPECT_EQ(values(Repeat::call(range({2}), {2, 2})), (Values{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(Repeat::call(range({2}), {0}).shape(), Shape{0});
  EXPECT_EQ(values(Tile::call(range({2, 1}), {2})), (Values{0, 0, 1, 1}));
  expect_error(ErrorCode::kShapeMismatch,
               "at least one repeat for each dimension, got [2] for shape [2, 2]",
               [] { Repeat::call(range({2, 2}), {2}); });
}

TEST(Flip, ReversesAlongDims) {
  EXPECT_EQ(values(Flip::call(range({2, 3}), {1})), (Values{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values(Flip::call(Transpose::call(range({2, 3}), 0, 1), {0, 1})),
            (Values{5, 2, 4, 1, 3, 0}));
  EXPECT_EQ(Flip::call(range({0, 2}), {0}).shape(), (Shape{0, 2}));
}

TEST(Roll, GoesRoundTheEnd) {
  EXPECT_EQ(values(Roll::call(range({4}), {1}, Dims{0})), (Values{3, 0, 1, 2}));
  EXPECT_EQ(values(Roll::call(range({2, 2}), {-1})), (Values{1, 2, 3, 0}));
  EXPECT_EQ(values(Roll::call(range({4}), {9}, Dims{0})), (Values{3, 0, 1, 2}));
  EXPECT_EQ(values(Rot90::call(range({2, 2}))), (Values{1, 3, 0, 2}));
}

TEST(Triangles, KeepOneSideOfADiagonal) {
  const Tensor x = call<op::Add>(range({3, 3}), 1);
  EXPECT_EQ(values(Tril::call(x)), (Values{1, 0, 0, 4, 5, 0, 7, 8, 9}));
  EXPECT_EQ(values(Triu::call(x, 1)), (Values{0, 2, 3, 0, 0, 6, 0, 0, 0}));
  EXPECT_EQ(values(Tril::call(x, -5)), Values(9, 0));
  EXPECT_EQ(values(Triu::call(x, -5)), values(x));
  EXPECT_EQ(values(Diag::call(tensor({1, 2}), 1)), (Values{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(values(Trace::call(x)), Values{15});
}

TEST(Views, DifferentiateTwiceThroughStridedInputs) {
  const Tensor x = random_leaf({3, 4}, 3);
  EXPECT_TRUE(gradcheck(
      [](auto& in) {
        const Tensor t = Transpose::call(call<op::Mul>(in[0], in[0]), 0, 1);
        TensorList results = Split::call(t, {1, 3});
        results.push_back(Flip::call(Slice::call(t, 0, 0, 4, 2), {1}));
        results.push_back(Diagonal::call(t));
        results.push_back(Select::call(t, 1, 2));
        return results;
      },
      {x}));
}

TEST(ViewDType, ReadsTheSameMemory) {
  const Tensor x = full({2, 3}, 1.0, DType::kFloat32);
  const Tensor bits = ViewDType::call(x, DType::kInt32);
  EXPECT_EQ(values(bits), std::vector<double>(6, 0x3f800000));
  FillInPlace::call(Select::call(bits, 0, 1), 0x40000000);
  EXPECT_EQ(values(x), (std::vector<double>{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(x.version(), bits.version());
}

TEST(ViewDType, CountsElementsOfAnotherSize) {
  const Tensor x = generated<std::int32_t>({3, 4}, [](std::int64_t i) { return i; }, Device{});
  const Tensor rows = Narrow::call(x, 0, 1, 2);
  const Tensor bytes = ViewDType::call(rows, DType::kUInt8);
  EXPECT_EQ(bytes.shape(), (Shape{2, 16}));
  EXPECT_EQ(bytes.strides(), (Strides{16, 1}));
  EXPECT_EQ(bytes.offset(), 16);
  const Tensor pairs = ViewDType::call(rows, DType::kInt64);
  EXPECT_EQ(pairs.shape(), (Shape{2, 2}));
  EXPECT_EQ(pairs.strides(), (Strides{2, 1}));
  EXPECT_EQ(values(Select::call(pairs, 0, 0)),
            (std::vector<double>{4 + 5 * 0x1p32, 6 + 7 * 0x1p32}));
  EXPECT_EQ(values(ViewDType::call(bytes, DType::kInt32)), values(rows));
}

TEST(ViewDType, HasNoGraph) {
  const Tensor x = leaf({1, 2});
  EXPECT_FALSE(requires_grad(ViewDType::call(x, DType::kInt32)));
  EXPECT_FALSE(requires_grad(ViewDType::call(x, DType::kFloat32)));
}

TEST(ViewDType, RefusesWhatHasNoSuchView) {
  const Tensor x = full({4, 3}, 1.0, DType::kFloat32);
  const auto refuses = [](const Tensor& t, DType dtype, ErrorCode code, const char* message) {
    expect_error(code, message, [&] { ViewDType::call(t, dtype); });
  };
  refuses(x, DType::kFloat64, ErrorCode::kShapeMismatch, "must be multiples");
  refuses(Transpose::call(x, 0, 1), DType::kUInt8, ErrorCode::kShapeMismatch, "neighbors");
  refuses(Transpose::call(x, 0, 1), DType::kFloat64, ErrorCode::kShapeMismatch, "neighbors");
  refuses(full({}, 1.0, DType::kFloat32), DType::kUInt8, ErrorCode::kShapeMismatch,
          "last dimension");
  refuses(Narrow::call(full({5}, 1.0, DType::kFloat32), 0, 1, 2), DType::kFloat64,
          ErrorCode::kShapeMismatch, "offset 1");
  refuses(full({4}, true, DType::kBool), DType::kUInt8, ErrorCode::kDtypeMismatch, "bool");
  refuses(full({4}, 2, DType::kUInt8), DType::kBool, ErrorCode::kDtypeMismatch, "bool");
}

}  // namespace
}  // namespace eg
