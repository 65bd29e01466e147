// markers: threads

// Lifetimes: no object outlives its last user.

#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/custom_function.h"
#include "autograd/hooks/saved_tensor_hooks.h"
#include "support/errors.h"
#include "support/live_counts.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::add_;
using testing::clone;
using testing::leaf;
using testing::mul;
using testing::mul_;
using testing::narrow;
using testing::sum;
using testing::values;
using testing::view_as_self;

// Checks that a test leaves no nodes or tensors behind.
class Lifetime : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(testing::live_nodes(), nodes_);
    EXPECT_EQ(testing::live_tensors(), tensors_);
    EXPECT_EQ(testing::live_storages(), storages_);
  }

 private:
  const std::int64_t nodes_ = testing::live_nodes();
  const std::int64_t tensors_ = testing::live_tensors();
  const std::int64_t storages_ = testing::live_storages();
};

// rule: retain-grad-weak
TEST_F(Lifetime, ATensorThatRetainsItsGradient) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 2);
  retain_grad(y);
  const WeakPtr<TensorImpl> watched(y.impl());
  y = sum(y);
  EXPECT_EQ(watched.lock(), nullptr);
}

// rule: saved-output-of-changed-view
TEST_F(Lifetime, AnInPlaceChangeOfAViewOfAClone) {
  const Tensor x = leaf({1, -2});
  const Tensor v = narrow(clone(x), 0, 0, 1);
  call_in_place<op::Relu>(v);
  call_in_place<op::Exp>(v);
  mul_(v, v.alias());
}

// rule: saved-output-no-cycle
TEST_F(Lifetime, OpsThatSaveTheirResult) {
  const Tensor x = leaf<double>({1, 2});
  const Tensor y = call<op::Exp>(call<op::Sigmoid>(x));
  call_in_place<op::Tanh>(y);
}

// Saved by the op that overwrites it: it would otherwise be its own history.
TEST_F(Lifetime, ATensorMultipliedByItselfInPlace) {
  const Tensor x = clone(leaf({1, 2}));
  mul_(x, x);
  const Tensor base = clone(leaf({1, 2}));
  mul_(base, view_as_self(base));
}

struct KeepsItsOutput : Function<KeepsItsOutput> {
  static constexpr std::string_view name = "KeepsItsOutput";
  static Tensor forward(Context& ctx, const Tensor& x) {
    const Tensor y = mul(x, 2);
    ctx.save_for_backward({x, y});
    return y;
  }
  static GradList backward(Context& ctx, GradList grads) {
    return {mul(grads[0], ctx.saved_tensors()[1])};
  }
};

struct ChangesItsArgument : Function<ChangesItsArgument> {
  static constexpr std::string_view name = "ChangesItsArgument";
  static Tensor forward(Context& ctx, const Tensor& x) {
    mul_(x, 2);
    ctx.mark_dirty({x});
    ctx.save_for_backward({x});
    return x;
  }
  static GradList backward(Context&, GradList grads) { return {mul(grads[0], 2)}; }
};

// rule: function-context-memory
TEST_F(Lifetime, AFunctionThatSavesItsOutput) {
  (void)KeepsItsOutput::apply(leaf({1, 2}));
  (void)ChangesItsArgument::apply(clone(leaf({1, 2})));
  // A view: its history leads through the base back to the function.
  (void)ChangesItsArgument::apply(narrow(clone(leaf({1, 2})), 0, 0, 1));
}

// rule: accumulator-held-weakly, gradient-edge
TEST_F(Lifetime, ALeafAndItsAccumulator) {
  const Tensor x = leaf({1, 2});
  const IntrusivePtr<Node> accumulator = grad_accumulator(x);
  EXPECT_EQ(accumulator, gradient_edge(x).function);
}

// rule: create-graph-warns
// The gradient of a recorded backward keeps its parameter alive until it is dropped.
TEST_F(Lifetime, ARecordedGradientIsFreedWithTheGrad) {
  const Tensor x = leaf({1, 2});
  backward({sum(mul(mul(x, x), x))}, {}, {.create_graph = true});
  EXPECT_TRUE(requires_grad(grad(x)));
  set_grad(x, {});
}

struct CountedHooks : SavedVariableHooks {
  explicit CountedHooks(int& alive) : alive_(alive) { ++alive_; }
  ~CountedHooks() override { --alive_; }
  void pack(const Tensor& t) override { kept_ = t; }
  Tensor unpack() override { return kept_; }

 private:
  int& alive_;
  Tensor kept_;
};

TEST_F(Lifetime, HooksGoWithWhatTheyKeep) {
  int alive = 0;
  const SavedTensorHooksGuard hooks([&] { return std::make_unique<CountedHooks>(alive); });
  const Tensor x = leaf<double>({1, 2});
  Tensor y = call<op::Exp>(mul(x, x));
  EXPECT_EQ(alive, 3);
  backward({sum(y)});
  EXPECT_EQ(alive, 0);
  y = call<op::Exp>(x);
  EXPECT_EQ(alive, 1);
  y.reset();
  EXPECT_EQ(alive, 0);
}

// rule: saved-hooks-destroyed-outside
TEST_F(Lifetime, HooksMayLookAtTheNodeThatReleasesThem) {
  struct Curious : SavedVariableHooks {
    explicit Curious(IntrusivePtr<Node>& node) : node_(node) {}
    ~Curious() override {
      if (node_ == nullptr) return;
      testing::expect_error(ErrorCode::kGraphFreed, "have been freed",
                            [&] { (void)node_->saved_variables()[0].variable->unpack(*node_); });
    }
    void pack(const Tensor& t) override { kept_ = t; }
    Tensor unpack() override { return kept_; }
    IntrusivePtr<Node>& node_;
    Tensor kept_;
  };
  IntrusivePtr<Node> node;
  Tensor y;
  {
    const SavedTensorHooksGuard hooks([&] { return std::make_unique<Curious>(node); });
    y = call<op::Exp>(leaf({1, 2}));
  }
  node = grad_fn(y);
  backward({sum(y)});
  node = nullptr;
}

#if EG_THREADS
// When several threads request the history of a stale view, it is regenerated once.
TEST_F(Lifetime, ThreadsAgreeOnARegeneratedHistory) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = clone(leaf({1, 2, 3}));
    const Tensor v = narrow(x, 0, 0, 2);
    add_(x, 1);
    IntrusivePtr<Node> seen[2];
    bool needs[2] = {false, false};
    std::thread other([&] {
      needs[1] = requires_grad(mul(v, v));
      seen[1] = grad_fn(v);
    });
    needs[0] = requires_grad(add(v, v));
    seen[0] = grad_fn(v);
    other.join();
    EXPECT_TRUE(needs[0] && needs[1]);
    EXPECT_EQ(seen[0], seen[1]);
  }
}
#endif

}  // namespace
}  // namespace eg
