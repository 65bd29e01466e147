// Handles of slots that have been reused very often.

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class HandleGenerations : public BorderTest {};

// A finalizer may run long after dispose(), when the slot has been reused so often that its
// generation counter has wrapped around.
TEST_F(HandleGenerations, OfLongAgoNeverNameALiveTensor) {
  const Tensor x = leaf({1, 2, 3});
  const double first = checked(native::retain(x.handle()));
  native::release(first);
  constexpr int kManyTimes = (1 << 21) + 8;
  for (int i = 0; i < kManyTimes; ++i) {
    const double handle = checked(native::retain(x.handle()));
    ASSERT_NE(handle, first) << "after " << i;
    native::release(handle);
  }
}

}  // namespace
}  // namespace eg::testing::js
