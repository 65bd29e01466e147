// The result of a hook may be garbage-collected as soon as the hook has returned: the caller
// must have taken it by then, on whatever thread it runs.

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class HookResults : public BorderTest {};

// Makes this thread release a tensor in its next task, as a garbage collection would.
double collected_soon(Tensor tensor) {
  const double handle = tensor.handle();
  const auto kept = std::make_shared<Tensor>(std::move(tensor));
  Realm::own().loop().post([kept] { kept->dispose(); });
  return handle;
}

constexpr int kRounds = 300;

TEST_F(HookResults, OfTensorHooks) {
  const Tensor x = leaf({1, 2, 3});
  checked(native::registerHook(x.handle(), hold_function([](const Words& words) {
                                 return Words{collected_soon(mul(Tensor(words[0]), 2))};
                               })));
  const Tensor root = sum(x);
  for (int i = 0; i < kRounds; ++i) {
    const OutcomePtr outcome = backward_async(root, kRetain);
    settle({outcome});
    ASSERT_EQ(outcome->error, nullptr) << "round " << i;
  }
  EXPECT_EQ(values(grad_of(x))[0], 2 * kRounds);
}

TEST_F(HookResults, OfBackwardFunctions) {
  const Tensor x = leaf({1, 2, 3});
  const std::string name = "Triple";
  const double id = hold_function(
      [](const Words& words) { return Words{collected_soon(mul(Tensor(words[0]), 3))}; }, name);
  Words words{x.handle()};
  words.insert(words.end(), name.begin(), name.end());
  write(words);
  const Node node(checked(native::beginFunction(id, 1, static_cast<int>(name.size()), 0)));
  const Tensor root = sum(end_function(id, mul(x, 3)));
  for (int i = 0; i < kRounds; ++i) {
    const OutcomePtr outcome = backward_async(root, kRetain);
    settle({outcome});
    ASSERT_EQ(outcome->error, nullptr) << "round " << i;
  }
  EXPECT_EQ(values(grad_of(x))[0], 3 * kRounds);
}

TEST_F(HookResults, OfUnpackFunctionsThatKeepTheTensor) {
  const Tensor x = leaf({1, 2, 3});
  const auto pack = [](const Words& words) { return Words{1, collected_soon(Tensor(words[0]))}; };
  const auto unpack = [](const Words& words) {
    return Words{collected_soon(mul(Tensor(words[1]), 1)), 0};
  };
  checked(native::pushSavedTensorHooks(hold_function(pack), hold_function(unpack)));
  const Tensor y = exp(x);
  native::popSavedTensorHooks();
  const Tensor root = sum(y);
  for (int i = 0; i < kRounds; ++i) {
    const OutcomePtr outcome = backward_async(root, kRetain);
    settle({outcome});
    ASSERT_EQ(outcome->error, nullptr) << "round " << i;
  }
}

}  // namespace
}  // namespace eg::testing::js
