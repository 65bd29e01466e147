// Sums of products described by an equation.

#include "ops/matrix/einsum.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::gradcheck_one;
using testing::random_leaf;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

Tensor a23() { return tensor({1, 2, 3, 4, 5, 6}, {2, 3}); }
Tensor b32() { return tensor({1, 0, 0, 1, 1, 1}, {3, 2}); }

TEST(Einsum, MultipliesMatrices) {
  EXPECT_EQ(values(einsum("ij,jk->ik", {a23(), b32()})), (Values{4, 5, 10, 11}));
  EXPECT_EQ(values(einsum(" i j , j k -> k i ", {a23(), b32()})), (Values{4, 10, 5, 11}));
  EXPECT_EQ(values(einsum("ij,jk", {a23(), b32()})), (Values{4, 5, 10, 11}));
}

TEST(Einsum, OfOneOperandTransposesSumsAndTakesDiagonals) {
  const Tensor square = tensor({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(values(einsum("ji", {square})), (Values{1, 3, 2, 4}));
  EXPECT_EQ(values(einsum("ij->j", {a23()})), (Values{5, 7, 9}));
  EXPECT_EQ(values(einsum("ij->", {a23()})), Values{21});
  EXPECT_EQ(values(einsum("ii->i", {square})), (Values{1, 4}));
  EXPECT_EQ(values(einsum("ii", {square})), Values{5});
}

TEST(Einsum, OuterAndInnerProducts) {
  EXPECT_EQ(values(einsum("i,j->ij", {tensor({1, 2}), tensor({3, 4})})), (Values{3, 4, 6, 8}));
  EXPECT_EQ(values(einsum("i,i", {tensor({1, 2}), tensor({3, 4})})), Values{11});
  EXPECT_EQ(values(einsum("ij,k->i", {a23(), tensor({1, 2})})), (Values{18, 45}));
  EXPECT_EQ(values(einsum(",i", {tensor({2}, {}), tensor({3, 4})})), (Values{6, 8}));
}

TEST(Einsum, BroadcastsTheDimensionsOfAnEllipsis) {
  EXPECT_EQ(values(einsum("...i,i", {a23(), tensor({1, 0, 1})})), (Values{4, 10}));
  const Tensor batch = tensor({1, 2, 3, 4, 5, 6}, {1, 2, 3});
  EXPECT_EQ(einsum("...ij,...jk->...ik", {batch, b32()}).shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(values(einsum("...->", {a23()})), Values{21});
}

TEST(Einsum, OfEmptyTensorsIsZero) {
  EXPECT_EQ(values(einsum("ij,jk->ik", {tensor({}, {2, 0}), tensor({}, {0, 1})})), (Values{0, 0}));
  EXPECT_EQ(einsum("ij,jk->ik", {tensor({}, {0, 2}), tensor({1, 2}, {2, 1})}).shape(),
            (Shape{0, 1}));
}

TEST(Einsum, GradientsMatchFiniteDifferencesForThreeOperands) {
  const auto op = [](const TensorList& in) { return einsum("bi,ijk,bk->bj", in); };
  EXPECT_TRUE(gradcheck_one(
      op, {random_leaf({2, 3}, 1), random_leaf({3, 2, 2}, 2), random_leaf({2, 2}, 3)}));
}

TEST(Einsum, ReportsEquationsThatDoNotFit) {
  const auto expect = [](std::string_view equation, const std::string& text) {
    expect_error(ErrorCode::kInvalidArgument, text, [&] { einsum(equation, {a23()}); });
  };
  expect("i", "operand 0 has 2 dimensions, but its term has 1 subscripts");
  expect("ij,jk", "2 terms, but there are 1 operands");
  expect("i1", "subscripts must be letters, got the term \"i1\"");
  expect("i.j", "dots in the term \"i.j\"");
  expect("ij->k", "subscript k of the result is in no operand");
  expect("ij->ii", "the result repeats subscript i");
  expect("ii", "subscript i is repeated in a term, but its dimensions have sizes 2 and 3");
  expect_error(ErrorCode::kShapeMismatch, "subscript j has size 2 in operand 1, but size 3 before",
               [] { einsum("ij,jk", {a23(), tensor({1, 2}, {2, 1})}); });
}

}  // namespace
}  // namespace eg
