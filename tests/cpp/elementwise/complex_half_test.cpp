// markers: variant

// complex32: its parts are float16, and it is computed in complex64.

#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "dispatch/elementwise.h"
#include "dispatch/promotion.h"
#include "formulas/all.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/create/factory.h"
#include "ops/shape/slice.h"
#include "support/errors.h"
#include "support/op_call.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::OpCall;
using testing::tensor;
using testing::values;

// Pairs of parts.
Tensor complex_half(const std::vector<float>& parts) {
  const Tensor pairs = tensor(parts, {static_cast<std::int64_t>(parts.size()) / 2, 2});
  return ViewAsComplex::call(ToDType::call(pairs, DType::kFloat16));
}

std::vector<double> parts(const Tensor& t) {
  EXPECT_EQ(t.dtype(), DType::kComplex32);
  return values(ToDType::call(ViewAsReal::call(t), DType::kFloat32));
}

TEST(ComplexHalf, IsAPairOfFloat16) {
  const Tensor z = complex_half({1, 2, -3, 0x1p-24F, 0.5F, 4});
  EXPECT_EQ(z.storage()->bytes(), 12U);
  EXPECT_EQ(parts(z), (std::vector<double>{1, 2, -3, 0x1p-24, 0.5, 4}));
  EXPECT_EQ(Imag::call(z).dtype(), DType::kFloat16);
  const Tensor wide = ToDType::call(z, DType::kComplex64);
  EXPECT_EQ(values(ViewAsReal::call(wide)), (std::vector<double>{1, 2, -3, 0x1p-24, 0.5, 4}));
  EXPECT_EQ(parts(ToDType::call(Slice::call(wide, 0, 0, 3, 2), DType::kComplex32)),
            (std::vector<double>{1, 2, 0.5, 4}));
  EXPECT_EQ(values(ToDType::call(z, DType::kInt32)), (std::vector<double>{1, -3, 0}));
  EXPECT_EQ(parts(ToDType::call(tensor<std::int64_t>({70000, 3}), DType::kComplex32))[2], 3);
  EXPECT_EQ(parts(full({1}, 2.5, DType::kComplex32)), (std::vector<double>{2.5, 0}));
  expect_error(ErrorCode::kInvalidArgument, "70000 does not fit complex32",
               [] { full({1}, 70000, DType::kComplex32); });
  expect_error(ErrorCode::kDtypeMismatch, "got bfloat16",
               [] { ViewAsComplex::call(full({1, 2}, 1, DType::kBFloat16)); });
}

TEST(ComplexHalf, PromotionIsPyTorchs) {
  const auto both_ways = [](DType other, DType expected) {
    EXPECT_EQ(promote_types(DType::kComplex32, other), expected) << dtype_name(other);
    EXPECT_EQ(promote_types(other, DType::kComplex32), expected) << dtype_name(other);
  };
  for (const DType small : {DType::kFloat16, DType::kInt64, DType::kInt8, DType::kBool})
    both_ways(small, DType::kComplex32);
  for (const DType large : {DType::kFloat32, DType::kBFloat16, DType::kComplex64})
    both_ways(large, DType::kComplex64);
  for (const DType large : {DType::kFloat64, DType::kComplex128})
    both_ways(large, DType::kComplex128);
  const Tensor half = full({2}, 1, DType::kFloat16);
  EXPECT_EQ(call<op::Mul>(half, std::complex<double>(0, 1)).dtype(), DType::kComplex32);
}

TEST(ComplexHalf, IsComputedInComplex64) {
  const Tensor z = complex_half({1, 2, -3, 0.5F});
  EXPECT_EQ(parts(call<op::Mul>(z, z)), (std::vector<double>{-3, 4, 8.75, -3}));
  EXPECT_EQ(parts(Conj::call(z)), (std::vector<double>{1, -2, -3, -0.5}));
  EXPECT_EQ(call<op::Abs>(complex_half({3, 4})).dtype(), DType::kFloat16);
  const Tensor sum = OpCall().with(z).with(-1).with(0).with(-1).run("sum")[0];
  EXPECT_EQ(parts(sum), (std::vector<double>{-2, 2.5}));
  OpCall().with(z).with(0).with(-1).run("cumsum", true);
  EXPECT_EQ(parts(z), (std::vector<double>{1, 2, -2, 2.5}));
}

TEST(ComplexHalf, GradientsHaveItsDtype) {
  const Tensor z = complex_half({1, 2, -3, 0.5F});
  set_requires_grad(z, true);
  backward(
      {OpCall().with(Real::call(call<op::Mul>(z, z))).with(-1).with(0).with(-1).run("sum")[0]});
  EXPECT_EQ(parts(grad(z)), (std::vector<double>{2, -4, -6, -1}));
}

}  // namespace
}  // namespace eg
