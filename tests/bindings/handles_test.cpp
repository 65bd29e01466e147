// Handles that are released late, twice and from other threads.

#include <vector>

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class Handles : public BorderTest {};

TEST_F(Handles, ReleasedTwiceAreReleasedOnce) {
  Tensor x = leaf({1, 2, 3});
  const double handle = x.handle();
  x.dispose();
  const Tensor other = leaf({4, 5, 6});
  native::release(handle);
  EXPECT_EQ(values(other), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(error_of([&] { checked(native::info(handle)); }).code, "Disposed");
}

TEST_F(Handles, AreMadeAndReleasedByManyThreadsAtOnce) {
  const Tensor shared = leaf({1, 2, 3});
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 3; ++i) {
    workers.push_back(std::make_unique<Worker>());
    workers.back()->run([&shared] {
      for (int step = 0; step < 2000; ++step) {
        Tensor own(checked(native::retain(shared.handle())));
        checked(native::info(own.handle()));
        const double handle = own.handle();
        own.dispose();
        native::release(handle);
      }
    });
  }
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(values(mul(shared, 1)).size(), 3);
  for (const auto& worker : workers) worker->wait();
}

TEST_F(Handles, OfAWorkerThatEndsAreReleased) {
  Worker worker;
  worker.run([] {
    for (int i = 0; i < 100; ++i) leaf({1, 2, 3}).take();
  });
  worker.wait();
}

TEST_F(Handles, GivenAwayBelongToTheOtherThread) {
  Tensor x;
  {
    Worker worker;
    worker.run([&] {
      x = leaf({1, 2, 3});
      native::giveHandle(x.handle(), 0);
    });
    worker.wait();
  }
  EXPECT_EQ(values(x), (std::vector<double>{1, 2, 3}));
}

// The garbage collector of one thread releases a tensor while another thread computes with it.
TEST_F(Handles, MayBeReleasedWhileOthersUseTheirTensors) {
  Worker worker;
  const Tensor kept = leaf({1, 2, 3});
  for (int i = 0; i < 200; ++i) {
    const auto other = std::make_shared<Tensor>(checked(native::retain(kept.handle())));
    const auto root = std::make_shared<Tensor>(sum(mul(*other, *other)));
    const OutcomePtr outcome = backward_async(*root);
    worker.run([other, root] {
      root->dispose();
      other->dispose();
    });
    settle({outcome});
    EXPECT_EQ(outcome->error, nullptr);
  }
  worker.wait();
  EXPECT_EQ(values(grad_of(kept)), (std::vector<double>{400, 800, 1200}));
}

}  // namespace
}  // namespace eg::testing::js
