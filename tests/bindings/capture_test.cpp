// Captured functions, called across the boundary.

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class Capture : public BorderTest {};

// Captures exp(x) * 2 for arguments like `example`.
Owned captured(const Tensor& example) {
  write({example.handle()});
  Owned function(checked(native::beginCapture(1)));
  const Tensor place(results(1)[0]);
  const Tensor result = mul(exp(place), 2);
  write({result.handle()});
  checked(native::endCapture(function.handle(), 1));
  return function;
}

Tensor called(const Owned& function, const Tensor& argument) {
  write({argument.handle()});
  EXPECT_EQ(checked(native::callCaptured(function.handle(), 1)), 1);
  return Tensor(results(1)[0]);
}

TEST_F(Capture, DoesWhatTheFunctionDid) {
  const Owned function = captured(tensor({0, 1}));
  const Tensor result = called(function, tensor({0, 0}));
  EXPECT_EQ(values(result), (std::vector<double>{2, 2}));
}

TEST_F(Capture, RefusesBackwardCallsThatRunLater) {
  const Tensor x = leaf({1, 2});
  const Tensor root = sum(x);
  write({x.handle()});
  const Owned function(checked(native::beginCapture(1)));
  const Tensor place(results(1)[0]);
  EXPECT_EQ(error_of([&] { backward_async(root); }).code, "InvalidArgument");
  native::stopCapture(function.handle());
}

TEST_F(Capture, MayBeDisposedOfInWhatItCalls) {
  const Tensor example = tensor({0, 1});
  write({example.handle()});
  const auto function = std::make_shared<Owned>(checked(native::beginCapture(1)));
  const Tensor place(results(1)[0]);
  const Tensor result = mul(exp(place), 2);
  const std::weak_ptr<Owned> weak = function;
  int calls = 0;
  checked(native::runLive(hold_function([weak, &calls](const Words&) {
    ++calls;
    if (calls == 2) weak.lock()->dispose();
    return Words{};
  })));
  write({result.handle()});
  checked(native::endCapture(function->handle(), 1));
  EXPECT_EQ(values(called(*function, example))[0], 2);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace eg::testing::js
