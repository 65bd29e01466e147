// The call frame: JavaScript code that is called during a native call may use and move the frame.

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class Frame : public BorderTest {};

// Makes the frame grow, which moves it, and fills it with unexpected words.
void spoil_frame() {
  static double size = 300;
  size *= 1.5;
  write(Words(static_cast<std::size_t>(size), -7.5));
}

TEST_F(Frame, KeepsWhatWasWrittenWhenItGrows) {
  write({1, 2, 3});
  checked(native::frame(5000));
  EXPECT_EQ(results(3), (Words{1, 2, 3}));
}

TEST_F(Frame, MayBeSpoiltByAHook) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, x);
  register_hook(y, [](const Tensor& grad) {
    spoil_frame();
    Tensor doubled = mul(grad, 2);
    spoil_frame();
    return doubled;
  });
  backward(sum(y));
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{4, 8, 12}));
}

TEST_F(Frame, MayBeSpoiltByPackAndUnpackFunctions) {
  const PackedElsewhere hooks(&spoil_frame);
  const Tensor x = leaf({1, 2, 3});
  const Tensor w = leaf({4, 5, 6});
  hooks.push();
  const Tensor y = mul(x, w);
  native::popSavedTensorHooks();
  EXPECT_EQ(values(y), (std::vector<double>{4, 10, 18}));
  backward(sum(y));
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(hooks.packed(), 2);
}

TEST_F(Frame, MayBeSpoiltByAFunctionsBackward) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = apply_function(
      {&x},
      [&](const Context& ctx) {
        ctx.save_for_backward({&x});
        spoil_frame();
        return mul(x, x);
      },
      [](const Context& ctx, const Tensor& grad) {
        const std::vector<Tensor> saved = ctx.saved_tensors();
        spoil_frame();
        std::vector<Tensor> grads;
        grads.push_back(mul(mul(saved[0], 2), grad));
        spoil_frame();
        return grads;
      });
  backward(sum(y));
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{2, 4, 6}));
}

// While a native call waits for a lock, the main thread processes requests of other threads, in
// its event loop, and the words of the interrupted call are still in the frame.
TEST_F(Frame, OutlivesWhatAnotherThreadAsksForInTheMiddleOfACall) {
  const Tensor x = leaf({1, 2, 3});
  bool has_run = false;
  register_hook(x, [&](const Tensor& grad) {
    spoil_frame();
    has_run = true;
    return mul(grad, 2);
  });
  Worker worker;
  worker.run([&] { backward(sum(x)); });
  write({1, 2, 3});
  Realm::own().loop().run_until([&] { return has_run; });
  EXPECT_EQ(results(3), (Words{1, 2, 3}));
  worker.wait();
  EXPECT_EQ(values(grad_of(x)), (std::vector<double>{2, 2, 2}));
}

}  // namespace
}  // namespace eg::testing::js
