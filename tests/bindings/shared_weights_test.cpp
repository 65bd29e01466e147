// A weight that several threads train: its grad is read, set and accumulated concurrently.

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class SharedWeights : public BorderTest {};

using Workers = std::vector<std::unique_ptr<Worker>>;

Workers workers_that(int count, const std::function<void()>& job) {
  Workers workers;
  for (int i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<Worker>());
    workers.back()->run(job);
  }
  return workers;
}

constexpr int kSteps = 200;

TEST_F(SharedWeights, MayHaveTheirGradientsTakenAwayWhileOthersAddToThem) {
  const Tensor weight = leaf({1, 2, 3});
  const Workers workers = workers_that(2, [&] {
    for (int i = 0; i < kSteps; ++i) {
      set_grad(weight, 0);
      backward(sum(mul(weight, 2)));
      const Tensor grad = grad_of(weight);
      if (!grad.is_there()) continue;
      checked(native::info(grad.handle()));
      EXPECT_EQ(results(8)[3], 3);
    }
  });
  for (const auto& worker : workers) worker->wait();
}

TEST_F(SharedWeights, MayBeReadWhileAWorkerTrainsThem) {
  const Tensor weight = leaf({1, 2, 3});
  const Workers workers = workers_that(1, [&] {
    for (int i = 0; i < kSteps; ++i) {
      set_grad(weight, 0);
      backward(sum(mul(weight, 2)));
    }
  });
  for (int i = 0; i < kSteps; ++i) {
    const Tensor grad = grad_of(weight);
    if (!grad.is_there()) continue;
    checked(native::info(grad.handle()));
    EXPECT_EQ(results(8)[3], 3);
  }
  for (const auto& worker : workers) worker->wait();
}

TEST_F(SharedWeights, GetEveryAdditionOfConcurrentBackwardCalls) {
  const Tensor weight = leaf({1, 2, 3});
  const Workers workers = workers_that(3, [&] {
    for (int i = 0; i < kSteps; ++i) backward(sum(mul(weight, 2)));
  });
  for (const auto& worker : workers) worker->wait();
  EXPECT_EQ(values(grad_of(weight))[0], 2 * 3 * kSteps);
}

TEST_F(SharedWeights, RetainedGradientsGetEveryAdditionOfCallsThatOverlap) {
  for (int graph = 0; graph < 50; ++graph) {
    const Tensor x = leaf({1, 2, 3});
    const Tensor y = mul(x, 2);
    checked(native::retainGrad(y.handle()));
    const Tensor root = sum(y);
    std::vector<OutcomePtr> outcomes;
    for (int i = 0; i < 4; ++i) outcomes.push_back(backward_async(root, kRetain));
    settle(outcomes);
    EXPECT_EQ(values(grad_of(y))[0], 4);
    EXPECT_EQ(values(grad_of(x))[0], 8);
  }
}

TEST_F(SharedWeights, MayGetHooksAndFlagsWhileOthersUseThem) {
  const Tensor weight = leaf({1, 2, 3});
  const Workers workers = workers_that(2, [&] {
    for (int i = 0; i < kSteps / 4; ++i) {
      const Hook hook = register_hook(weight, [](const Tensor&) { return Tensor(); });
      backward(sum(mul(weight, 2)));
      checked(native::info(weight.handle()));
      hook.remove();
    }
  });
  for (const auto& worker : workers) worker->wait();
}

}  // namespace
}  // namespace eg::testing::js
