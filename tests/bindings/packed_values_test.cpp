// Values that pack functions store in JavaScript, for tensors that are saved on the thread of a
// device.

#include "js/border_test.h"
#include "support/test_device.h"

namespace eg::testing::js {
namespace {

class PackedValues : public BorderTest {
 protected:
  void pack_in_backward(bool later) {
    const PackedElsewhere hooks;
    {
      const Tensor x = leaf({1, 2, 3});
      const Tensor root = sum(mul(exp(x), x));
      hooks.push();
      Tensor grad;
      if (later) {
        const OutcomePtr outcome = grad_async(root, {&x}, kRetain | kCreateGraph);
        settle({outcome});
        ASSERT_EQ(outcome->error, nullptr);
        grad = std::move(outcome->results.at(0));
      } else {
        write({root.handle(), -1, 0, x.handle(), -1});
        checked(native::runGraph(1, 1, kRetain | kCreateGraph | 128));
        grad = Tensor(results(1)[0]);
      }
      native::popSavedTensorHooks();
      EXPECT_GT(hooks.packed(), 0);
      backward(sum(grad));
      EXPECT_EQ(values(grad_of(x)).size(), 3);
    }
    // The host copy of device values is held until other values are requested.
    tensor({0});
    wait_for_others();
    EXPECT_EQ(Realm::own().held_count(), 0);
  }
};

TEST_F(PackedValues, AreLetGoOf) { pack_in_backward(false); }

TEST_F(PackedValues, OfACallThatRunsLaterAreLetGoOf) { pack_in_backward(true); }

TEST_F(PackedValues, OfADeviceAreLetGoOf) {
  const DefaultDeviceGuard device(kTestDevice);
  pack_in_backward(false);
}

TEST_F(PackedValues, OfADeviceInACallThatRunsLaterAreLetGoOf) {
  const DefaultDeviceGuard device(kTestDevice);
  pack_in_backward(true);
}

}  // namespace
}  // namespace eg::testing::js
