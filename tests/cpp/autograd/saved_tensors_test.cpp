// markers: threads

// Saved tensors, versions and hooks on saved tensors.

#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/saved_variable.h"
#include "ops/index/index.h"
#include "ops/matrix/matmul.h"
#include "support/errors.h"
#include "support/live_counts.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::add_;
using testing::clone;
using testing::copy_;
using testing::expect_error;
using testing::leaf;
using testing::mul;
using testing::mul_;
using testing::narrow;
using testing::sum;
using testing::tensor;
using testing::value;
using testing::values;
using testing::view_as_self;
using Values = std::vector<double>;

SavedVariable& slot(const Node& node, std::string_view name) {
  for (const NamedSavedVariable& saved : const_cast<Node&>(node).saved_variables()) {
    if (saved.name == name) return *saved.variable;
  }
  throw std::out_of_range(std::string(name));
}
Tensor saved(const IntrusivePtr<Node>& node, std::string_view name) {
  return slot(*node, name).unpack(*node);
}
std::vector<std::string> saved_names(const Tensor& t) {
  std::vector<std::string> names;
  for (const NamedSavedVariable& saved : grad_fn(t)->saved_variables()) {
    names.emplace_back(saved.name);
  }
  return names;
}

// The log of a pair of test hooks.
struct HookLog {
  int packs = 0;
  int unpacks = 0;
  Tensor packed;
};

// Stores the tensor, or the result of `change`.
class LoggingHooks final : public SavedVariableHooks {
 public:
  using Change = std::function<Tensor(const Tensor&)>;
  explicit LoggingHooks(HookLog& log, Change change = nullptr)
      : log_(log), change_(std::move(change)) {}
  void pack(const Tensor& t) override {
    ++log_.packs;
    EXPECT_FALSE(is_grad_enabled());
    log_.packed = t;
    kept_ = change_ ? change_(t) : t;
  }
  Tensor unpack() override {
    ++log_.unpacks;
    return kept_;
  }

 private:
  HookLog& log_;
  Change change_;
  Tensor kept_;
};

SavedVariableHooksFactory logging(HookLog& log, LoggingHooks::Change change = nullptr) {
  return [&log, change] { return std::make_unique<LoggingHooks>(log, change); };
}

// rule: saved-input-identity
TEST(SavedVariables, AnInputIsTheSameObject) {
  const Tensor a = leaf({1, 2});
  const Tensor b = mul(a, a);
  const Tensor c = mul(a, b);
  EXPECT_TRUE(saved(grad_fn(b), "self").is_same(a));
  EXPECT_TRUE(saved(grad_fn(b), "other").is_same(a));
  EXPECT_TRUE(saved(grad_fn(c), "other").is_same(b));
}

// rule: saved-output-alias
TEST(SavedVariables, AnOutputIsAnotherObjectOfTheSameStorageAndHistory) {
  const Tensor a = leaf({1, 2});
  const Tensor d = call<op::Exp>(a);
  const Tensor result = saved(grad_fn(d), "result");
  EXPECT_FALSE(result.is_same(d));
  EXPECT_TRUE(result.shares_storage_with(d));
  EXPECT_EQ(values(result), values(d));
  EXPECT_EQ(grad_fn(result), grad_fn(d));
  EXPECT_EQ(result.version(), d.version());
  add_(detach(d), 1);
  EXPECT_EQ(d.version(), 1U);
}

// rule: saved-output-history
TEST(SavedVariables, AnOutputHasItsHistoryUnderNoGrad) {
  const Tensor d = call<op::Exp>(leaf({1, 2}));
  const NoGradGuard guard;
  EXPECT_EQ(grad_fn(saved(grad_fn(d), "result")), grad_fn(d));
}

// rule: saves-only-what-is-read
TEST(SavedVariables, OnlyWhatAGradientReadsIsSaved) {
  const Tensor a = leaf({1, 2});
  const Tensor constant = tensor({3, 4});
  EXPECT_EQ(saved_names(add(a, a)), (std::vector<std::string>{}));
  EXPECT_EQ(saved_names(call<op::Sub>(a, constant)), (std::vector<std::string>{}));
  EXPECT_EQ(saved_names(mul(a, constant)), (std::vector<std::string>{"other"}));
  EXPECT_EQ(saved_names(mul(constant, a)), (std::vector<std::string>{"self"}));
  EXPECT_EQ(saved_names(call<op::Tanh>(a)), (std::vector<std::string>{"result"}));
  EXPECT_EQ(saved_names(sum(a)), (std::vector<std::string>{}));
  const Tensor index = tensor<std::int64_t>({0});
  EXPECT_EQ(saved_names(IndexSelect::call(a, 0, index)), (std::vector<std::string>{"index"}));

  // A matrix product has a slot for each factor, which is filled if the other one is
  // differentiated.
  const Tensor m = leaf({1, 2, 3, 4}, {2, 2});
  const Tensor product = Mm::call(m, tensor({1, 0, 0, 1}, {2, 2}));
  EXPECT_EQ(saved_names(product), (std::vector<std::string>{"self", "mat2"}));
  EXPECT_FALSE(slot(*grad_fn(product), "self").was_saved());
  EXPECT_TRUE(slot(*grad_fn(product), "mat2").was_saved());
}

// rule: saved-introspection
TEST(SavedVariables, NumbersHaveTheNamesOfTheParameters) {
  const Tensor y = call_with<op::LeakyRelu>({.negative_slope = 0.25}, leaf({1, 2}));
  const std::vector<NamedNumber> numbers = grad_fn(y)->saved_numbers();
  ASSERT_EQ(numbers.size(), 1U);
  EXPECT_EQ(numbers[0].name, "negative_slope");
  EXPECT_EQ(numbers[0].value, 0.25);
}

// rule: unread-values-may-change
TEST(SavedVariables, AChangeIsFoundExactlyByThoseWhoReadTheValue) {
  const Tensor x = leaf({1, 1});
  const Tensor y = leaf({1, 1});
  const Tensor m = call<op::Div>(x, 2);
  const Tensor z = add(m, call<op::Div>(y, 8));
  const Tensor q = mul(z, y);
  const Tensor r = add(z, y);
  const Tensor w = call_in_place<op::Exp>(z);
  backward({sum(r)}, {}, {.retain_graph = true});
  EXPECT_EQ(values(grad(x)), (Values{0.5, 0.5}));
  backward({sum(w)}, {}, {.retain_graph = true});
  EXPECT_NEAR(values(grad(x))[0], 0.5 + 0.5 * std::exp(0.625), 1e-6);
  expect_error(ErrorCode::kModifiedInPlace, "that backward needs was changed in place",
               [&] { backward({sum(q)}); });
}

// rule: saved-message
TEST(SavedVariables, TheMessageNamesWhoMadeTheValue) {
  const Tensor x = leaf({1, 2});
  const Tensor y = add(x, 1);
  const Tensor product = mul(y, y);
  mul_(y, 2);
  expect_error(
      ErrorCode::kModifiedInPlace,
      "shape [2] (output 0 of MulBackward0) that backward needs was changed in place: it is at "
      "version 1, but was saved at version 0. Run forward and backward in autograd.detectAnomaly()",
      [&] { backward({sum(product)}); });
  const Tensor e = call<op::Exp>(x);
  add_(detach(e), 1);
  expect_error(
      ErrorCode::kModifiedInPlace,
      "(output 0 of ExpBackward0) that backward needs was changed in place: it is at version 1",
      [&] { backward({sum(e)}); });
}

// rule: saved-message, output-number
// The output number is that of the current history.
TEST(SavedVariables, TheMessageCountsOutputsOfTheCurrentHistory) {
  const Tensor x = leaf({1, 2});
  const Tensor part = Unbind::call(x)[1];
  const Tensor product = mul(part, part);
  {
    const NoGradGuard guard;
    add_(detach(part), 1);
  }
  const Tensor y = mul(x, x);
  const Tensor z = mul(y, y);
  copy_(y, mul(x, 3));
  expect_error(ErrorCode::kModifiedInPlace,
               "(output 0 of CopyBackwards) that backward needs was changed in place: it is at "
               "version 1, but was saved at version 0",
               [&] { backward({sum(z)}); });
  expect_error(ErrorCode::kViewInPlace, "output 1 of UnbindBackward0",
               [&] { backward({sum(product)}); });
}

// rule: version-per-change, version-shared
TEST(Versions, AreSharedByViewsAndCountEachChangeOnce) {
  const Tensor x = tensor({1, 2, 3});
  EXPECT_EQ(x.version(), 0U);
  add_(add_(x, 1), 1);
  EXPECT_EQ(x.version(), 2U);
  const Tensor v = narrow(x, 0, 0, 2);
  add_(v, 1);
  EXPECT_EQ(x.version(), 3U);
  EXPECT_EQ(v.version(), 3U);
  {
    const NoGradGuard guard;
    add_(x, 1);
  }
  EXPECT_EQ(v.version(), 4U);
  EXPECT_EQ(clone(x).version(), 0U);
}

// rule: saved-freed
TEST(SavedVariables, AreGoneAfterBackward) {
  const Tensor a = leaf({1, 2});
  const Tensor c = mul(a, a);
  const IntrusivePtr<Node> node = grad_fn(c);
  backward({sum(c)});
  expect_error(ErrorCode::kGraphFreed, "saved for backward have been freed",
               [&] { (void)saved(node, "self"); });
}

// rule: saved-hooks-once
TEST(SavedVariables, RefuseASecondPairOfHooks) {
  HookLog log;
  const auto hooks = [&] { return std::make_unique<LoggingHooks>(log); };
  const Tensor a = leaf({1, 2});
  const Tensor c = mul(a, a);
  const IntrusivePtr<Node> node = grad_fn(c);
  slot(*node, "self").register_hooks(*node, hooks());
  expect_error(ErrorCode::kInvalidArgument, "[registerHooks] this saved tensor already has hooks",
               [&] { slot(*node, "self").register_hooks(*node, hooks()); });
  backward({sum(c)});
  expect_error(ErrorCode::kGraphFreed, "[registerHooks] this saved tensor has been freed",
               [&] { slot(*node, "self").register_hooks(*node, hooks()); });
  SavedVariable none;
  expect_error(ErrorCode::kInvalidArgument, "so it cannot have hooks",
               [&] { none.register_hooks(*node, hooks()); });
}

// rule: pack-once, unpack-each-time, unpack-restores-history
TEST(SavedTensorHooks, PackOnceUnpackOftenAndKeepTheHistory) {
  HookLog log;
  const Tensor a = leaf<double>({2, 3});
  const Tensor b = mul(a, 2);
  const Tensor c = mul(b, b);
  const IntrusivePtr<Node> node = grad_fn(c);
  slot(*node, "self").register_hooks(*node, std::make_unique<LoggingHooks>(log));
  EXPECT_EQ(log.packs, 1);
  EXPECT_FALSE(requires_grad(log.packed));
  EXPECT_TRUE(log.packed.shares_storage_with(b));
  EXPECT_EQ(log.unpacks, 0);
  EXPECT_EQ(grad_fn(saved(node, "self")), grad_fn(b));
  EXPECT_EQ(log.unpacks, 1);

  const Tensor g = grad({sum(c)}, {a}, {}, {{.create_graph = true}})[0];
  EXPECT_EQ(values(g), (Values{16, 24}));
  EXPECT_EQ(values(grad({sum(g)}, {a})[0]), (Values{8, 8}));
  EXPECT_EQ(log.packs, 1);
}

// rule: unpack-unversioned
TEST(SavedTensorHooks, ReplaceTheValueAndAreNotCheckedForVersions) {
  HookLog log;
  const Tensor a = leaf({2, 3});
  const Tensor c = mul(a, a);
  for (const char* name : {"self", "other"}) {
    slot(*grad_fn(c), name)
        .register_hooks(*grad_fn(c), std::make_unique<LoggingHooks>(
                                         log, [](const Tensor& t) { return mul(t, 10); }));
  }
  {
    const NoGradGuard guard;
    mul_(a, 0);
  }
  backward({sum(c)});
  EXPECT_EQ(values(grad(a)), (Values{40, 60}));
}

// rule: unpack-keeps-leaf
TEST(SavedTensorHooks, GiveLeavesBackAsThemselvesToBackward) {
  HookLog log;
  const Tensor a = leaf<double>({2, 3});
  const SavedTensorHooksGuard hooks(logging(log, [](const Tensor& t) { return clone(t); }));
  const Tensor c = mul(a, a);
  EXPECT_EQ(log.packs, 2);
  const Tensor g = grad({sum(c)}, {a}, {}, {{.create_graph = true}})[0];
  EXPECT_EQ(values(grad({sum(g)}, {a})[0]), (Values{2, 2}));
}

// rule: pack-must-not-change
TEST(SavedTensorHooks, MayNotChangeWhatTheyPack) {
  HookLog log;
  const Tensor a = leaf({2, 3});
  const SavedTensorHooksGuard hooks(logging(log, [](const Tensor& t) { return mul_(t, 2); }));
  expect_error(ErrorCode::kInvalidArgument, "a pack hook must not change its argument in place",
               [&] { (void)mul(a, a); });
}

#if EG_THREADS
// rule: saved-hooks-innermost, saved-hooks-per-thread
TEST(SavedTensorHooks, TheInnermostPairOfTheThreadCounts) {
  HookLog outer;
  HookLog inner;
  const Tensor a = leaf({2, 3});
  const SavedTensorHooksGuard outer_hooks(logging(outer));
  {
    const SavedTensorHooksGuard inner_hooks(logging(inner));
    (void)call<op::Exp>(a);
    std::thread([&] { (void)call<op::Exp>(a); }).join();
  }
  EXPECT_EQ(inner.packs, 1);
  EXPECT_EQ(outer.packs, 0);
  (void)call<op::Exp>(a);
  EXPECT_EQ(outer.packs, 1);
}
#endif

// rule: numbers-not-packed
TEST(SavedTensorHooks, DoNotSeeNumbers) {
  HookLog log;
  const Tensor a = leaf({2, 3});
  const SavedTensorHooksGuard hooks(logging(log));
  (void)add(a, a);
  Tensor two = testing::full({}, 2, DType::kFloat32);
  two.set_wrapped_number();
  const Tensor c = mul(a, two);
  EXPECT_EQ(log.packs, 0);
  backward({sum(c)});
  EXPECT_EQ(values(grad(a)), (Values{2, 2}));
}

// rule: saved-hooks-in-backward
TEST(SavedTensorHooks, ApplyToARecordedBackward) {
  HookLog log;
  const Tensor a = leaf<double>({2, 3});
  const Tensor y = sum(call<op::Exp>(a));
  const SavedTensorHooksGuard hooks(logging(log));
  const Tensor g = grad({y}, {a}, {}, {{.create_graph = true}})[0];
  EXPECT_GT(log.packs, 0);
  EXPECT_EQ(values(grad({sum(g)}, {a})[0]), values(call<op::Exp>(a)));
}

// rule: saved-hook-errors
TEST(SavedTensorHooks, LetErrorsThrough) {
  struct Broken : SavedVariableHooks {
    explicit Broken(bool on_pack) : on_pack(on_pack) {}
    void pack(const Tensor&) override {
      if (on_pack) throw std::domain_error("pack");
    }
    Tensor unpack() override { throw std::domain_error("unpack"); }
    bool on_pack;
  };
  const Tensor a = leaf({2, 3});
  {
    const SavedTensorHooksGuard hooks([] { return std::make_unique<Broken>(true); });
    EXPECT_THROW((void)call<op::Exp>(a), std::domain_error);
  }
  const SavedTensorHooksGuard hooks([] { return std::make_unique<Broken>(false); });
  const Tensor y = call<op::Exp>(a);
  EXPECT_THROW(backward({sum(y)}), std::domain_error);
}

// rule: unpack-returns-tensor
TEST(SavedTensorHooks, MustGiveSomethingBack) {
  struct Forgetful : SavedVariableHooks {
    void pack(const Tensor&) override {}
    Tensor unpack() override { return {}; }
  };
  const SavedTensorHooksGuard hooks([] { return std::make_unique<Forgetful>(); });
  const Tensor y = sum(call<op::Exp>(leaf({2, 3})));
  expect_error(ErrorCode::kInvalidArgument, "an unpack hook must return a tensor",
               [&] { backward({y}); });
}

// rule: saved-hooks-disabled
TEST(SavedTensorHooks, CanBeDisabledWithAReason) {
  HookLog log;
  {
    const DisableSavedTensorHooksGuard outer("not here");
    {
      const DisableSavedTensorHooksGuard inner("nor here");
      expect_error(ErrorCode::kInvalidArgument, "nor here",
                   [&] { push_saved_tensor_hooks(logging(log)); });
    }
    expect_error(ErrorCode::kInvalidArgument, "not here",
                 [&] { push_saved_tensor_hooks(logging(log)); });
  }
  const SavedTensorHooksGuard hooks(logging(log));
  expect_error(ErrorCode::kInvalidArgument, "too late",
               [] { disable_saved_tensor_hooks("too late"); });
}

// rule: saved-then-detached
TEST(SavedVariables, ADetachedInputIsRefused) {
  const Tensor a = leaf({2, 3});
  const Tensor b = mul(a, 2);
  const Tensor c = mul(b, b);
  detach_in_place(b);
  expect_error(ErrorCode::kInvalidArgument, "a saved tensor has since been detached in place",
               [&] { backward({sum(c)}); });
  const Tensor e = call<op::Exp>(a);
  const Tensor kept = sum(e);
  detach_in_place(e);
  backward({kept});
  EXPECT_NEAR(values(grad(a))[0], std::exp(2.0), 1e-5);
}

// rule: saved-nothing
TEST(SavedVariables, NothingUnpacksToNothing) {
  const Tensor y = call<op::Exp>(leaf(1));
  const SavedVariable none;
  EXPECT_FALSE(none.unpack(*grad_fn(y)).defined());
  EXPECT_FALSE(SavedVariable(Tensor(), SavedAs::kInput).unpack(*grad_fn(y)).defined());
}

// rule: saved-output-of-changed-view
TEST(SavedVariables, AnInPlaceResultOnAViewMakesNoCycle) {
  const std::int64_t nodes = testing::live_nodes();
  const std::int64_t tensors = testing::live_tensors();
  {
    const Tensor root = leaf<double>({0.5, 1, 2});
    const Tensor x = clone(root);
    const Tensor v = narrow(x, 0, 0, 2);
    call_in_place<op::Exp>(v);
    const Tensor g = grad({sum(mul(x, x))}, {root}, {}, {{.create_graph = true}})[0];
    EXPECT_NEAR(values(g)[0], 2 * std::exp(1.0), 1e-12);
    EXPECT_NEAR(values(grad({sum(g)}, {root})[0])[0], 4 * std::exp(1.0), 1e-12);
  }
  EXPECT_EQ(testing::live_nodes(), nodes);
  EXPECT_EQ(testing::live_tensors(), tensors);
}

// rule: saved-released-early
// A node frees its saved tensors as soon as it has run, even if the graph is still
// held.
TEST(SavedVariables, AreReleasedAsEachNodeCompletes) {
  const Tensor a = leaf({1, 2});
  WeakPtr<TensorImpl> factor;
  Tensor y;
  {
    const Tensor b = mul(tensor({3, 4}), 1);
    factor = WeakPtr<TensorImpl>(b.impl());
    y = sum(mul(a, b));
  }
  EXPECT_NE(factor.lock(), nullptr);
  backward({y});
  EXPECT_EQ(factor.lock(), nullptr);
}

// rule: nothing-saved-nothing-freed
TEST(SavedVariables, NothingSavedIsNothingFreed) {
  const Tensor a = leaf({1, 2});
  const Tensor y = sum(add(a, a));
  backward({y});
  backward({y});
  EXPECT_EQ(values(grad(a)), (Values{4, 4}));
}

}  // namespace
}  // namespace eg
