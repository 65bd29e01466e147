// Hooks of threads that have ended, or that end while they run a hook.

#include <atomic>

#include <sched.h>

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class DeadThreads : public BorderTest {};

TEST_F(DeadThreads, HaveHooksThatFailTheCall) {
  const Tensor x = leaf({1, 2, 3});
  {
    Worker worker;
    worker.run([&] { register_hook(x, [](const Tensor&) { return Tensor(); }); });
    worker.wait();
  }
  EXPECT_EQ(error_of([&] { backward(sum(x)); }).code, "Internal");
  const OutcomePtr later = backward_async(sum(x));
  settle({later});
  EXPECT_NE(later->error, nullptr);
}

TEST_F(DeadThreads, HaveHooksThatAreAnsweredWithAnError) {
  const Tensor x = leaf({1, 2, 3});
  std::atomic<bool> is_in_hook{false};
  std::atomic<bool> may_go_on{false};
  Worker worker;
  worker.run([&] {
    register_hook(x, [&](const Tensor&) {
      is_in_hook = true;
      while (!may_go_on) sched_yield();
      return Tensor();
    });
  });
  worker.wait();
  const OutcomePtr outcome = backward_async(sum(x));
  while (!is_in_hook) sched_yield();
  native::threadDied(worker.thread());
  settle({outcome});
  may_go_on = true;
  ASSERT_NE(outcome->error, nullptr);
  EXPECT_EQ(std::dynamic_pointer_cast<ErrorValue>(outcome->error)->code, "Internal");
}

}  // namespace
}  // namespace eg::testing::js
