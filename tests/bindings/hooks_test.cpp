// Hooks that are JavaScript functions: what they may do, where they run, and how they are
// removed.

#include <atomic>

#include <pthread.h>
#include <sched.h>

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class Hooks : public BorderTest {};

TEST_F(Hooks, MayCallBackwardAndRemoveThemselves) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor inner = leaf({4, 5, 6});
  const Tensor inner_root = sum(mul(inner, inner));
  const auto hook = std::make_shared<Hook>();
  int calls = 0;
  *hook = register_hook(x, [&](const Tensor&) {
    ++calls;
    hook->remove();
    backward(inner_root);
    return Tensor();
  });
  backward(sum(x));
  backward(sum(x));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(values(grad_of(inner)), (std::vector<double>{8, 10, 12}));
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{2, 2, 2}));
}

TEST_F(Hooks, OfABackwardThatRunsElsewhereRunWhereTheyWereMade) {
  const pthread_t here = pthread_self();
  const Tensor x = leaf({1, 2, 3});
  bool ran_here = false;
  register_hook(x, [&](const Tensor& grad) {
    ran_here = pthread_equal(pthread_self(), here) != 0;
    return mul(grad, 3);
  });
  settle({backward_async(sum(x))});
  EXPECT_TRUE(ran_here);
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{3, 3, 3}));
}

TEST_F(Hooks, MayBeAddedAndRemovedWhileBackwardCallsRun) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, x);
  const Tensor root = sum(y);
  std::vector<OutcomePtr> outcomes;
  for (int i = 0; i < 20; ++i) {
    outcomes.push_back(backward_async(root, kRetain));
    const Hook on_leaf = register_hook(x, [](const Tensor& grad) { return mul(grad, 1); });
    const Hook on_node = register_hook(y, [](const Tensor&) { return Tensor(); });
    const Hook after = register_post_accumulate_grad_hook(x, [](const Tensor&) {});
    Realm::own().loop().run_pending();
    on_node.remove();
    on_leaf.remove();
    after.remove();
  }
  settle(outcomes);
  for (const OutcomePtr& one : outcomes) EXPECT_EQ(one->error, nullptr);
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{40, 80, 120}));
}

TEST_F(Hooks, OfTwoThreadsMayWaitForEachOther) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor z = leaf({1, 1, 1});
  register_hook(x, [](const Tensor& grad) { return mul(grad, 2); });
  Worker worker;
  worker.run([&] { register_hook(z, [](const Tensor& grad) { return mul(grad, 5); }); });
  worker.wait();
  constexpr int kRounds = 50;
  worker.run([&] {
    for (int i = 0; i < kRounds; ++i) backward(sum(x));
  });
  for (int i = 0; i < kRounds; ++i) backward(sum(z));
  worker.wait();
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{2 * kRounds, 2 * kRounds, 2 * kRounds}));
  EXPECT_EQ(values(grad_of(z)), (std::vector<double>{5 * kRounds, 5 * kRounds, 5 * kRounds}));
}

TEST_F(Hooks, OnANodeReplaceItsGradients) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, x);
  checked(native::gradFn(y.handle()));
  const Node node(results(1)[0]);
  const auto answer = std::make_shared<Tensor>();
  const double before = hold_function([answer](const Words& words) {
    *answer = mul(Tensor(words[1]), 10);
    return Words{1, answer->handle()};
  });
  checked(native::registerNodePrehook(node.handle(), before));
  backward(sum(y));
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{20, 40, 60}));
}

}  // namespace
}  // namespace eg::testing::js
