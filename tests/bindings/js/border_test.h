#pragma once

// The fixture of all tests of the boundary: makes this thread reachable for other threads, and
// checks that nothing is left over. When a test has ended, every handle, tensor, node and
// JavaScript value must have been released.

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "autograd/engine/engine.h"
#include "js/native.h"
#include "js/realm.h"
#include "js/tensors.h"
#include "js/worker.h"

namespace eg::testing::js {

enum Flags : int { kRetain = 1 | 2, kCreateGraph = 4 };

class BorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool has_joined = [] {
      native::joinThread();
      native::connectMessages();
      return true;
    }();
    ASSERT_TRUE(has_joined);
    before_ = counts();
  }

  void TearDown() override {
    if (HasFailure()) ADD_FAILURE() << "The last error here was: " << last_error();
    Engine::instance().stop();
    expect_nothing_left();
    EXPECT_TRUE(native::isGradEnabled());
  }

  void expect_nothing_left() {
    wait_for_release();
    const Counts after = counts();
    EXPECT_EQ(after.handles, before_.handles) << "handles";
    EXPECT_EQ(after.tensors, before_.tensors) << "tensors";
    EXPECT_EQ(after.nodes, before_.nodes) << "nodes";
    EXPECT_EQ(after.values, before_.values) << "JavaScript values";
  }

  /// Waits until other threads have released the objects of their last work and notified this one.
  void wait_for_others() {
    Engine::instance().stop();
    wait_for_release();
  }

 private:
  void wait_for_release() {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + kMostWaiting;
    for (Realm::own().loop().run_pending(); counts() != before_ && Clock::now() < end;
         Realm::own().loop().run_pending()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // timer: they release silently
    }
  }

  struct Counts {
    double handles = 0;
    double tensors = 0;
    double nodes = 0;
    std::size_t values = 0;
    bool operator==(const Counts&) const = default;
  };

  // Only a test that fails waits as long, also under sanitizers on a busy machine.
  static constexpr std::chrono::seconds kMostWaiting{60};

  static Counts counts() {
    native::memory();
    const Words words = results(7);
    return {words[6], words[0], words[5], Realm::own().held_count()};
  }

  Counts before_;
};

}  // namespace eg::testing::js
