// markers: threads

// Tensors of a device other than the CPU, whose memory only kernels access.

#include <array>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/engine/engine_context.h"
#include "base/fields.h"
#include "dispatch/transfer.h"
#include "kernels/call.h"
#include "kernels/matmul.h"
#include "kernels/softmax.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/index/index_composite.h"
#include "ops/nn/softmax.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "runtime/inbox.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/ops.h"
#include "support/tensors.h"
#include "support/test_device.h"
#include "support/warnings.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::kTestDevice;
using testing::leaf;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

TEST(Devices, MemoryOfADeviceIsNotTheHosts) {
  const Tensor x = tensor({1, 2, 3}, {3}, kTestDevice);
  expect_error(ErrorCode::kInternal, "device", [&] { x.data(); });
  EXPECT_EQ(values(x), (Values{1, 2, 3}));
}

TEST(Devices, ValuesMoveInAnyLayoutAndDtype) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3}, Device{});
  const Tensor there = moved(Transpose::call(x, 0, 1), kTestDevice);
  EXPECT_EQ(there.device(), kTestDevice);
  EXPECT_EQ(values(there), (Values{1, 4, 2, 5, 3, 6}));
  // Copies into a part of another tensor, as integers, and back.
  const Tensor whole = full({4, 3}, 9, DType::kInt32, kTestDevice);
  copy_data(Narrow::call(whole, 0, 1, 2), x);
  EXPECT_EQ(values(whole), (Values{9, 9, 9, 1, 2, 3, 4, 5, 6, 9, 9, 9}));
  const Tensor here = full({2}, 0, DType::kFloat64);
  copy_data(here, Select::call(Narrow::call(whole, 0, 1, 2), 1, 2));
  EXPECT_EQ(values(here), (Values{3, 6}));
  EXPECT_EQ(moved(full({0, 3}, 1, DType::kBool), kTestDevice).shape(), (Shape{0, 3}));
}

TEST(Devices, ANumberOfTheCpuMayJoinAndNothingElse) {
  const Tensor x = tensor({1, 2}, {2}, kTestDevice);
  const Tensor number = tensor({10}, {}, Device{});
  EXPECT_EQ(values(testing::mul(x, number)), (Values{10, 20}));
  EXPECT_EQ(testing::mul(number, x).device(), kTestDevice);
  expect_error(ErrorCode::kDeviceMismatch, "test and cpu",
               [&] { testing::mul(x, tensor({1, 2}, {2}, Device{})); });
  // A scalar on a device cannot be combined with CPU tensors.
  expect_error(ErrorCode::kDeviceMismatch, "cpu and test",
               [&] { testing::mul(tensor({1, 2}, {2}, Device{}), tensor({1}, {}, kTestDevice)); });
}

#if EG_THREADS

// The gradient of a CPU scalar is moved back to the CPU.
TEST(Devices, GradientsOfNumbersComeBackToTheCpu) {
  const Tensor x = leaf({1, 2}, {2}, kTestDevice);
  const Tensor number = leaf({10}, {}, Device{});
  backward({testing::sum(testing::mul(x, number))});
  EXPECT_TRUE(grad(number).device().is_cpu());
  EXPECT_EQ(values(grad(number)), Values{3});
  EXPECT_EQ(grad(x).device(), kTestDevice);
  EXPECT_EQ(values(grad(x)), (Values{10, 10}));
}

TEST(Devices, GradientsOfNumbersInPlacesOfATensorComeBackToTheCpu) {
  const Tensor x = tensor({1, 2, 3}, {3}, kTestDevice);
  const Tensor number = leaf({10}, {}, Device{});
  const Tensor places = tensor<std::int64_t>({0, 2}, {2}, kTestDevice);
  const Tensor y = IndexFill::call(x, 0, places, number);
  EXPECT_EQ(values(y), (Values{10, 2, 10}));
  backward({testing::sum(y)});
  EXPECT_TRUE(grad(number).device().is_cpu());
  EXPECT_EQ(values(grad(number)), Values{2});
}

#endif

TEST(Devices, AKernelThatADeviceLacksIsComputedOnTheCpuAndSaidOnce) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2}, kTestDevice);
  const Values expected = values(Softmax::call(x, 1));
  const testing::WarningRecorder warnings;
  const testing::LacksKernel lacks("softmax");
  EXPECT_EQ(values(Softmax::call(x, 1)), expected);
  // The result is written to a block that is larger than the result.
  EXPECT_EQ(values(Softmax::call(Narrow::call(x, 0, 1, 1), 1)), (Values{expected[2], expected[3]}));
  EXPECT_EQ(warnings.messages().size(), 2U);
  set_warn_always(false);
  Softmax::call(x, 1);
  ASSERT_EQ(warnings.messages().size(), 2U);
  EXPECT_NE(warnings.messages()[0].find("no kernel 'softmax' of float32 (for softmax)"),
            std::string::npos);
}

TEST(Devices, OpsThatNeedValuesAtOnceReadThemBack) {
  const Tensor x = tensor({0, 5, 0, 7}, {4}, kTestDevice);
  const Tensor places = Nonzero::call(x);
  EXPECT_EQ(places.device(), kTestDevice);
  EXPECT_EQ(values(places), (Values{1, 3}));
}

// A device records a call completely: every field, in order.
TEST(KernelCalls, FieldsAreThoseOfTheStruct) {
  using kernel::FieldKind;
  const auto kinds = [](const kernel::KernelType& type) {
    std::vector<FieldKind> result;
    for (const kernel::Field field : type.fields) result.push_back(field.kind);
    return result;
  };
  EXPECT_EQ(kinds(kernel::kKernelType<kernel::Softmax>),
            (std::vector{FieldKind::kByte, FieldKind::kInt64, FieldKind::kInt64, FieldKind::kInt64,
                         FieldKind::kIn, FieldKind::kOut}));
  const auto product = kinds(kernel::kKernelType<kernel::MatrixProduct>);
  EXPECT_EQ(product.front(), FieldKind::kList);
  EXPECT_EQ(product.back(), FieldKind::kOptionalIn);
  EXPECT_EQ(product.size(), 4U + 2 * (1 + 3) + (1 + 3) + 3);
}

struct Mixed {
  bool flag;
  std::array<std::int64_t, 2> pair;
  float number;
  kernel::In in;
};

TEST(KernelCalls, FieldsLieWhereTheCompilerPutsThem) {
  EXPECT_EQ(kFieldOffsets<Mixed>[1], offsetof(Mixed, pair));
  EXPECT_EQ(kFieldOffsets<Mixed>[2], offsetof(Mixed, number));
  EXPECT_EQ(kFieldOffsets<Mixed>[3], offsetof(Mixed, in));
}

#if EG_THREADS
// rule: device-hook-may-nest, hooks-on-their-thread
// A hook runs on the thread that registered it, while the device thread waits for it.
TEST(Devices, AHookOnAnotherThreadMayCallBackwardOnTheDevice) {
  const Tensor x = leaf({1, 2}, {2}, kTestDevice);
  const std::shared_ptr<Inbox> main = Inbox::current();
  testing::hook_tensor(x, [&](const Tensor& gradient) {
    const EngineContext context = EngineContext::here();
    Tensor result;
    main->call([&] {
      const EngineContextGuard caller_context(context);
      const GradModeGuard recorded(true);
      const Tensor z = leaf({5}, {}, kTestDevice);
      backward({testing::mul(z, z)});
      result = testing::mul(gradient, grad(z));
    });
    return result;
  });
  backward({testing::sum(testing::mul(x, 3))});
  EXPECT_EQ(values(grad(x)), (Values{30, 30}));
}
#endif

TEST(Devices, CopyInPlaceTakesGradientsBackToTheDeviceOfItsSource) {
  const Tensor x = leaf({1, 2}, {2}, kTestDevice);
  const Tensor y = full({2}, 0, DType::kFloat32);
  CopyInPlace::call(y, testing::mul(x, 2));
  backward({testing::sum(y)});
  EXPECT_EQ(grad(x).device(), kTestDevice);
  EXPECT_EQ(values(grad(x)), (Values{2, 2}));
}

}  // namespace
}  // namespace eg
