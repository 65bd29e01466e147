// Errors thrown by JavaScript functions, passed through C++ and from one thread to another.

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class ThrownValues : public BorderTest {};

TEST_F(ThrownValues, AreTheSameObjectOnTheirOwnThread) {
  const Tensor x = leaf({1, 2, 3});
  const auto error = std::make_shared<ErrorValue>("", "my own");
  register_hook(x, [error](const Tensor&) -> Tensor { throw Thrown{error}; });
  try {
    backward(sum(x));
    FAIL();
  } catch (const Thrown& thrown) {
    EXPECT_EQ(thrown.value, error);
  }
}

TEST_F(ThrownValues, ArriveAsCopiesFromOtherThreads) {
  const Tensor x = leaf({1, 2, 3});
  Worker worker;
  worker.run(
      [&] { register_hook(x, [](const Tensor&) -> Tensor { throw_error("of the worker"); }); });
  worker.wait();
  EXPECT_EQ(error_of([&] { backward(sum(x)); }).message, "of the worker");
}

TEST_F(ThrownValues, AreTheErrorsOfCallsThatRunLater) {
  const Tensor x = leaf({1, 2, 3});
  register_hook(x, [](const Tensor&) -> Tensor { throw_error("later"); });
  for (int i = 0; i < 20; ++i) {
    const OutcomePtr outcome = backward_async(sum(x));
    settle({outcome});
    ASSERT_NE(outcome->error, nullptr);
    EXPECT_EQ(std::dynamic_pointer_cast<ErrorValue>(outcome->error)->message, "later");
  }
}

TEST_F(ThrownValues, LeaveTheModesAsTheyWere) {
  const Tensor x = leaf({1, 2, 3});
  const auto failing = [](const Context&, const Tensor&) -> std::vector<Tensor> {
    throw_error("no");
  };
  const Tensor y = apply_function({&x}, [&](const Context&) { return mul(x, 2); }, failing);
  EXPECT_EQ(error_of([&] { backward(sum(y), kCreateGraph); }).message, "no");
  EXPECT_TRUE(native::isGradEnabled());
}

}  // namespace
}  // namespace eg::testing::js
