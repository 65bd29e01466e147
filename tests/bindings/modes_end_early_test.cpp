// Modes that end before a backward call that was started in them has run.

#include <cmath>

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class ModesEndEarly : public BorderTest {
 protected:
  void SetUp() override {
    BorderTest::SetUp();
    x_ = leaf({1, 2, 3});
    root_ = sum(mul(exp(x_), exp(x_)));
    // The call waits here until this thread runs its event loop, after the mode has ended.
    register_hook(root_, [](const Tensor&) { return Tensor(); });
  }
  void TearDown() override {
    root_.dispose();
    x_.dispose();
    BorderTest::TearDown();
  }

  Tensor x_;
  Tensor root_;
};

TEST_F(ModesEndEarly, SavedTensorHooks) {
  for (int i = 0; i < 10; ++i) {
    OutcomePtr outcome;
    {
      const PackedElsewhere hooks;
      hooks.push();
      outcome = grad_async(root_, {&x_}, kRetain | kCreateGraph);
      native::popSavedTensorHooks();
    }
    settle({outcome});
    EXPECT_EQ(outcome->error, nullptr);
    backward(sum(outcome->results.at(0)), kRetain);
    EXPECT_NEAR(values(grad_of(x_))[0], 4 * std::exp(2.0), 1e-4);
    set_grad(x_, 0);
  }
}

TEST_F(ModesEndEarly, DisabledSavedTensorHooks) {
  embound<double>("disableSavedTensorHooks",
                  std::string("not in here, as this long sentence says"));
  const OutcomePtr outcome = grad_async(root_, {&x_}, kRetain | kCreateGraph);
  native::enableSavedTensorHooks();
  settle({outcome});
  EXPECT_EQ(outcome->error, nullptr);
}

TEST_F(ModesEndEarly, DualLevel) {
  checked(native::enterDualLevel());
  const Tensor tangent = tensor({1, 1, 1});
  const Tensor dual(checked(native::makeDual(x_.handle(), tangent.handle())));
  const Tensor y = sum(mul(exp(dual), dual));
  register_hook(y, [](const Tensor&) { return Tensor(); });
  const OutcomePtr outcome = grad_async(y, {&x_}, kRetain | kCreateGraph);
  checked(native::exitDualLevel());
  settle({outcome});
}

TEST_F(ModesEndEarly, GradModeAnomalyModeAndAutocast) {
  native::setAnomalyMode(3);
  const int float16 = static_cast<int>(DType::kFloat16);
  const int before = native::setAutocast(float16);
  native::setGradEnabled(false);
  const OutcomePtr outcome = grad_async(root_, {&x_}, kRetain);
  native::setGradEnabled(true);
  native::setAutocast(before);
  native::setAnomalyMode(0);
  settle({outcome});
  EXPECT_EQ(outcome->error, nullptr);
  EXPECT_NEAR(values(outcome->results.at(0))[0], 2 * std::exp(2.0), 1e-4);
}

TEST_F(ModesEndEarly, InferenceMode) {
  native::pushInferenceMode(true);
  const OutcomePtr outcome = grad_async(root_, {&x_}, kRetain);
  native::popInferenceMode();
  settle({outcome});
  EXPECT_EQ(outcome->error, nullptr);
}

}  // namespace
}  // namespace eg::testing::js
