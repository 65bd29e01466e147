// Hooks of threads that have ended, or that end while they run a hook.

#include <atomic>

#include <sched.h>

#include "js/border_test.h"
#include "native_call.h"

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

// A thread may be terminated at the first instructions of a call that is refused.
TEST_F(DeadThreads, MayHaveBegunARefusedCall) {
  Worker worker;
  // A worker counts as inside until its event loop runs.
  worker.run([] {});
  worker.wait();
  EXPECT_EQ(native::stopThread(worker.thread()), 0);
  EXPECT_EQ(native::stopThread(worker.thread()), 0);
  worker.run([] { bindings::detail::set_inside(true); });
  worker.wait();
  native::freeThread(worker.thread());
  worker.run([] { bindings::detail::set_inside(false); });
  worker.wait();
  EXPECT_EQ(native::hasFailed(), 0);
}

TEST_F(DeadThreads, HoldLocksIfTheyWereInACallThatWasNotRefused) {
  Worker worker;
  worker.run([] { bindings::detail::set_inside(true); });
  worker.wait();
  EXPECT_EQ(native::stopThread(worker.thread()), 1);
  EXPECT_EQ(native::stopThread(worker.thread()), 1);
  native::freeThread(worker.thread());
  worker.run([] { bindings::detail::set_inside(false); });
  worker.wait();
  EXPECT_EQ(native::hasFailed(), 1);
  bindings::detail::has_failed = false;
  bindings::detail::refuses_calls = false;
}

}  // namespace
}  // namespace eg::testing::js
