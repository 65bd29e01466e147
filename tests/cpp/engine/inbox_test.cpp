// markers: threads

#include "runtime/inbox.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/errors.h"

namespace eg {
namespace {

TEST(Inbox, CallOnItsOwnThreadSimplyRuns) {
  bool ran = false;
  Inbox::current()->call([&] { ran = true; });
  EXPECT_TRUE(ran);
}

#if EG_THREADS

// A thread that serves its inbox until it is stopped.
class Server {
 public:
  Server() : thread_([this] { run(); }) { ready_.wait(false); }
  ~Server() { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    inbox_->wake();
    thread_.join();
  }
  Inbox& inbox() { return *inbox_; }
  std::thread::id id() const { return thread_.get_id(); }

 private:
  void run() {
    inbox_ = Inbox::current();
    ready_ = true;
    ready_.notify_one();
    Inbox::current()->serve_until([&] { return stopping_.load(); });
  }

  std::atomic<bool> stopping_{false};
  std::atomic<bool> ready_{false};
  std::shared_ptr<Inbox> inbox_;
  std::thread thread_;
};

TEST(Inbox, CallRunsOnTheOwnersThread) {
  Server server;
  std::thread::id ran_on;
  server.inbox().call([&] { ran_on = std::this_thread::get_id(); });
  EXPECT_EQ(ran_on, server.id());
}

TEST(Inbox, WhatTheWorkThrowsIsThrownToTheCaller) {
  Server server;
  testing::expect_error(ErrorCode::kShapeMismatch, "three by four", [&] {
    server.inbox().call([] { fail(ErrorCode::kShapeMismatch, "three by four"); });
  });
  bool ran = false;
  server.inbox().call([&] { ran = true; });
  EXPECT_TRUE(ran);
}

// rule: waiting-thread-answers
TEST(Inbox, TwoThreadsMayCallEachOther) {
  Server server;
  const std::shared_ptr<Inbox> own = Inbox::current();
  int depth = 0;
  std::function<void()> ask_back = [&] {
    if (++depth < 20) own->call([&] { server.inbox().call(ask_back); });
  };
  server.inbox().call(ask_back);
  EXPECT_EQ(depth, 20);
}

TEST(Inbox, AnEndedThreadAnswersWithAnError) {
  Server server;
  server.stop();
  testing::expect_error(ErrorCode::kInternal, "has ended", [&] { server.inbox().call([] {}); });
  EXPECT_FALSE(server.inbox().post([] {}));
}

// Like a worker that is terminated from outside while it runs a function.
TEST(Inbox, ClosingFailsTheCallThatIsBeingServed) {
  Server server;
  std::atomic<bool> started{false};
  std::atomic<bool> released{false};
  std::thread sender([&] {
    testing::expect_error(ErrorCode::kInternal, "ended before the call returned", [&] {
      server.inbox().call([&] {
        started = true;
        started.notify_one();
        released.wait(false);
      });
    });
  });
  started.wait(false);
  server.inbox().close();
  sender.join();
  released = true;
  released.notify_one();
}

TEST(Inbox, ManySendersGetTheirOwnAnswers) {
  Server server;
  std::vector<std::thread> senders;
  std::atomic<int> sum{0};
  for (int i = 0; i < 8; ++i) {
    senders.emplace_back([&, i] {
      for (int j = 0; j < 200; ++j) {
        int answer = -1;
        server.inbox().call([&answer, i, j] { answer = i * 1000 + j; });
        if (answer == i * 1000 + j) ++sum;
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(sum, 1600);
}

TEST(Inbox, TheNotifierIsCalledOnlyForAThreadThatDoesNotServe) {
  static std::atomic<int> rings;
  rings = 0;
  Inbox::set_notifier([](std::uintptr_t) { return ++rings > 0; });
  {
    Server server;
    server.inbox().call([] {});
    const int served = rings;
    const std::shared_ptr<Inbox> idle = Inbox::current();
    std::thread([&] { idle->post([] {}); }).join();
    EXPECT_EQ(rings, served + 1);
    Inbox::answer_notifier();
  }
  Inbox::set_notifier(nullptr);
}

#endif

}  // namespace
}  // namespace eg
