// markers: variant

// Sums with products of vectors and batches, and renorm: values by hand.

#include "ops/matrix/added_product.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

Tensor matrix() { return tensor({1, 2, 3, 4}, {2, 2}); }

TEST(AddedProducts, OfMatrixAndVector) {
  EXPECT_EQ(values(Addmv::call(tensor({10, 20}), matrix(), tensor({1, 1}))), (Values{13, 27}));
  EXPECT_EQ(values(Addmv::call(tensor({NAN, NAN}), matrix(), tensor({1, 1}), 0, 2)),
            (Values{6, 14}));
  expect_error(ErrorCode::kShapeMismatch,
               "mat of shape [2, 2] cannot be multiplied by vec of shape [3]",
               [] { Addmv::call(tensor({1}), matrix(), tensor({1, 1, 1})); });
}

TEST(AddedProducts, OfTwoVectors) {
  EXPECT_EQ(values(Addr::call(matrix(), tensor({1, 2}), tensor({3, 4}), 1, 10)),
            (Values{31, 42, 63, 84}));
  expect_error(ErrorCode::kShapeMismatch, "vec1 and vec2 must be vectors, got 2 and 1 dimensions",
               [] { Addr::call(matrix(), matrix(), tensor({3, 4})); });
}

TEST(AddedProducts, OfTwoBatchesAreSummed) {
  const Tensor left = tensor({1, 0, 0, 1, 2, 0, 0, 2}, {2, 2, 2});
  const Tensor right = tensor({1, 2, 3, 4, 1, 1, 1, 1}, {2, 2, 2});
  EXPECT_EQ(values(Addbmm::call(tensor({0, 1}), left, right)), (Values{3, 5, 5, 7}));
  expect_error(ErrorCode::kShapeMismatch, "must have 3 dimensions",
               [&] { Addbmm::call(matrix(), matrix(), right); });
}

TEST(Renorm, ShortensOnlyWhatIsTooLong) {
  const Tensor rows = tensor<double>({3, 4, 0.3, 0.4, 0, 0}, {3, 2});
  const Values result = values(Renorm::call(rows, 2, 0, 1));
  const Values expected{0.6, 0.8, 0.3, 0.4, 0, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(result[i], expected[i], 1e-7);
  expect_error(ErrorCode::kInvalidArgument, "p must be positive, got 0",
               [&] { Renorm::call(rows, 0, 0, 1); });
  expect_error(ErrorCode::kShapeMismatch, "expected at least 2 dimensions, got 1",
               [] { Renorm::call(tensor({1}), 2, 0, 1); });
}

}  // namespace
}  // namespace eg
