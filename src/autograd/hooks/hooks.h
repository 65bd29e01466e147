#pragma once

// Functions that watch, and may replace, gradients on their way through a node.
//
// The order around one node is fixed: hooks of the tensors it made, then the hooks that fill the
// `.grad` of such tensors (retain_grad), then the node's pre-hooks, then apply(), then the node's
// post-hooks. An accumulator's apply() adds to the leaf and then runs the leaf's
// post-accumulate-grad hooks.
//
// A pass runs the hooks that were registered when it began: one that a hook removes meanwhile still
// runs once, one that a hook adds runs from the next pass on.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/small_vector.h"
#include "tensor/tensor.h"

namespace eg {

/// The gradients that enter or leave a node, one slot per forward output or input.
using GradList = SmallVector<Tensor, 3>;

/// What all hooks have: a name for messages.
class Hook {
 public:
  virtual ~Hook() = default;
  virtual std::string name() const { return "<unknown>"; }
};

/// A function of one gradient slot: returns the gradient to go on with.
class TensorPreHook : public Hook {
 public:
  virtual Tensor operator()(const Tensor& grad) = 0;
};

/// A function of all that enters a node: returns what apply() gets.
class NodePreHook : public Hook {
 public:
  virtual GradList operator()(GradList grad_outputs) = 0;
};

/// A function of what a node returned and received: returns what goes on to the next nodes.
class NodePostHook : public Hook {
 public:
  virtual GradList operator()(GradList grad_inputs, const GradList& grad_outputs) = 0;
};

/// A function of a leaf, called when its `.grad` has just been updated.
class PostAccumulateGradHook : public Hook {
 public:
  virtual void operator()(const Tensor& variable) = 0;
};

/// Hooks in the order of their registration, each for one slot; safe to change from any thread.
template <class HookType>
class HookList {
 public:
  struct Entry {
    std::shared_ptr<HookType> hook;
    std::uint32_t slot;
  };

  void add(std::shared_ptr<HookType> hook, std::uint32_t slot = 0) {
    const std::scoped_lock lock(mutex_);
    entries_.push_back({std::move(hook), slot});
  }
  /// Removes the hook if it is there, and returns it.
  std::shared_ptr<HookType> remove(const HookType* hook) {
    return take([&](const Entry& entry) { return entry.hook.get() == hook; });
  }
  /// Removes the first hook of a slot, and returns it or null.
  std::shared_ptr<HookType> take_slot(std::uint32_t slot) {
    return take([&](const Entry& entry) { return entry.slot == slot; });
  }
  bool empty() const {
    const std::scoped_lock lock(mutex_);
    return entries_.empty();
  }
  /// The hooks as they are now.
  std::vector<Entry> snapshot() const {
    const std::scoped_lock lock(mutex_);
    return entries_;
  }

 private:
  // Returns the hook, so that it is destroyed outside the lock: user code may hang on it.
  template <class Predicate>
  std::shared_ptr<HookType> take(Predicate&& predicate) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(), predicate);
    if (found == entries_.end()) return nullptr;
    std::shared_ptr<HookType> hook = std::move(found->hook);
    entries_.erase(found);
    return hook;
  }

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// Runs the hooks of the tensors behind the slots of `grads`, each on its slot, and checks that
/// what they return can stand for what they were given.
void run_tensor_hooks(const HookList<TensorPreHook>& hooks, GradList& grads);

/// Throws unless `result` has as many gradients as `original`, of the same kinds.
void check_hook_result(const GradList& original, const GradList& result, const Hook& hook);

}  // namespace eg
