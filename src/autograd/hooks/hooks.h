#pragma once

// Hooks: functions that observe, and may replace, the gradients that pass through a node.
//
// The order at a node is fixed: the hooks of the tensors it made, then the hooks that fill the
// `.grad` of such tensors (retain_grad), then the node's pre-hooks, then apply(), then the node's
// post-hooks. An accumulator's apply() adds to the leaf and then runs the leaf's
// post-accumulate-grad hooks.
//
// A pass runs the hooks that were registered when it began: a hook removed during the pass still
// runs once, and a hook added runs from the next pass on.

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

/// Base class of hooks: a name for messages.
class Hook {
 public:
  virtual ~Hook() = default;
  virtual std::string name() const { return "<unknown>"; }
};

/// A hook on one gradient slot: returns the gradient to use from here on.
class TensorPreHook : public Hook {
 public:
  virtual Tensor operator()(const Tensor& grad) = 0;
};

/// A hook on all gradients that enter a node: returns the input of apply().
class NodePreHook : public Hook {
 public:
  virtual GradList operator()(GradList grad_outputs) = 0;
};

/// A hook on the output and input of a node: returns the gradients for the next nodes.
class NodePostHook : public Hook {
 public:
  virtual GradList operator()(GradList grad_inputs, const GradList& grad_outputs) = 0;
};

/// A hook on a leaf, called after its `.grad` has been updated.
class PostAccumulateGradHook : public Hook {
 public:
  virtual void operator()(const Tensor& variable) = 0;
};

/// Hooks in order of registration, each for one slot. Thread-safe.
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
  /// Removes a hook and returns it; null if it is not in the list.
  std::shared_ptr<HookType> remove(const HookType* hook) {
    return take([&](const Entry& entry) { return entry.hook.get() == hook; });
  }
  /// Removes and returns the first hook of a slot, or null.
  std::shared_ptr<HookType> take_slot(std::uint32_t slot) {
    return take([&](const Entry& entry) { return entry.slot == slot; });
  }
  bool empty() const {
    const std::scoped_lock lock(mutex_);
    return entries_.empty();
  }
  /// A copy of the current list.
  std::vector<Entry> snapshot() const {
    const std::scoped_lock lock(mutex_);
    return entries_;
  }

 private:
  // Returns the hook, so that it is destroyed outside the lock: its destructor may run user code.
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

/// Runs each hook on its slot of `grads`, and checks that its result can replace its argument.
void run_tensor_hooks(const HookList<TensorPreHook>& hooks, GradList& grads);

/// Throws unless `result` has as many gradients as `original`, with the same shapes, dtypes and
/// devices.
void check_hook_result(const GradList& original, const GradList& result, const Hook& hook);

}  // namespace eg
