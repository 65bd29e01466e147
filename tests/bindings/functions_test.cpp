// Functions with a custom gradient, on one thread and on several.

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class Functions : public BorderTest {};

TEST_F(Functions, GiveTheirGradients) {
  const Tensor x = leaf({1, 2, 3});
  backward(sum(square(x)));
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{2, 4, 6}));
}

TEST_F(Functions, RunInBackwardCallsThatRunElsewhere) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = square(square(x));
  const Tensor root = sum(y);
  std::vector<OutcomePtr> outcomes;
  for (int i = 0; i < 5; ++i) outcomes.push_back(backward_async(root, kRetain));
  settle(outcomes);
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{20, 160, 540}));
}

TEST_F(Functions, AreDroppedWithTheirGraph) {
  const Tensor x = leaf({1, 2, 3});
  for (int i = 0; i < 100; ++i) square(x);
  EXPECT_LE(Realm::own().held_count(), 1);
}

TEST_F(Functions, MayFinishOnAnotherThreadThanTheyWereMadeOn) {
  Worker worker;
  const Tensor x = leaf({1, 2, 3});
  Tensor root;
  worker.run([&] { root = sum(square(x)); });
  worker.wait();
  backward(root);
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{2, 4, 6}));
  root.dispose();
  worker.wait();
}

}  // namespace
}  // namespace eg::testing::js
