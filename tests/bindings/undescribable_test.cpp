// Thrown values whose description also throws.

#include "js/border_test.h"
#include "support/test_device.h"

namespace eg::testing::js {
namespace {

class Undescribable : public BorderTest {
 protected:
  static Hook register_throwing(const Tensor& tensor) {
    return register_hook(tensor, [](const Tensor&) -> Tensor {
      const auto error = std::make_shared<ErrorValue>("", "of no use");
      error->can_be_described = false;
      throw Thrown{error};
    });
  }
};

TEST_F(Undescribable, SettlesCallsThatRunLater) {
  const Tensor x = leaf({1, 2, 3});
  register_throwing(x);
  const OutcomePtr outcome = backward_async(sum(x));
  settle({outcome});
  EXPECT_NE(outcome->error, nullptr);
}

TEST_F(Undescribable, ReachesOtherThreads) {
  const Tensor x = leaf({1, 2, 3});
  Worker worker;
  worker.run([&] { register_throwing(x); });
  worker.wait();
  error_of([&] { backward(sum(x)); });
}

TEST_F(Undescribable, ReachesCallersOnADevice) {
  const DefaultDeviceGuard device(kTestDevice);
  const Tensor x = leaf({1, 2, 3});
  register_throwing(x);
  error_of([&] { backward(sum(x)); });
}

}  // namespace
}  // namespace eg::testing::js
