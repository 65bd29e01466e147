#include "autograd/graph/recorded_tensors.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "autograd/grad_mode.h"
#include "autograd/graph/accumulate_grad.h"
#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

constexpr std::string_view kName = "capture";

// Greater than 0 while this thread replays: reading gradients is then part of the replay.
constinit thread_local int replays = 0;

std::vector<std::shared_ptr<void>> hooks_of(const Tensor& t) {
  std::vector<std::shared_ptr<void>> all;
  const AutogradMeta* meta = autograd_meta(t);
  const VariableHooks* hooks = meta == nullptr ? nullptr : meta->hooks.get();
  if (hooks == nullptr) return all;
  for (const auto& [hook, slot] : hooks->tensor_hooks.snapshot()) all.push_back(hook);
  for (const auto& [hook, slot] : hooks->post_accumulate_grad_hooks.snapshot()) all.push_back(hook);
  return all;
}

bool is_in_recording(const Tensor& t) {
  return t.defined() && is_of_recording(t.storage()->data(), t.device());
}

void copy_out(const Tensor& leaf) {
  // A plain copy, whatever modes the thread is in.
  AutogradState plain;
  plain.grad_mode = false;
  const AutogradStateGuard quiet(plain);
  const Tensor gradient = grad(leaf);
  // Does nothing if another thread has set the gradient in the meantime.
  if (gradient.defined()) replace_grad(leaf, gradient, math::clone(gradient));
}

}  // namespace

ReplayGuard::ReplayGuard() { ++replays; }
ReplayGuard::~ReplayGuard() { --replays; }

Tensor visible_grad(const Tensor& t) {
  Tensor gradient = grad(t);
  if (recording() != nullptr || replays > 0 || !is_in_recording(gradient)) return gradient;
  copy_out(t);
  return grad(t);
}

bool RecordedTensors::is_inner(const Tensor& t) const {
  return recording_.is_own(t.storage()->data(), t.device()) || is_input_buffer(t);
}

bool RecordedTensors::is_input_buffer(const Tensor& t) const {
  return std::ranges::any_of(input_buffers_,
                             [&](const Tensor& buffer) { return buffer.shares_storage_with(t); });
}

void RecordedTensors::note_use(const Tensor& t) {
  if (is_inner(t)) return;
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = uses_.try_emplace(t.impl());
  if (!is_new) return;
  Use& use = found->second;
  use.tensor = WeakPtr<TensorImpl>(t.impl_ptr());
  use.shape = t.shape();
  use.strides = t.strides();
  use.offset = t.offset();
  use.requires_grad = requires_grad(t);
  use.history = WeakPtr<Node>(grad_fn(t));
  use.hooks = hooks_of(t);
  use.version = t.has_version() ? t.version() : 0;
}

bool RecordedTensors::uses_gradients() const {
  return std::ranges::any_of(uses_, [](const auto& use) { return use.second.requires_grad; });
}

RecordedTensors::Leaf& RecordedTensors::leaf_of(const Tensor& leaf) {
  const auto [found, is_new] = leaves_.try_emplace(leaf.impl());
  if (is_new) {
    found->second.tensor = WeakPtr<TensorImpl>(leaf.impl_ptr());
    found->second.before = grad(leaf);
  }
  return found->second;
}

void RecordedTensors::add_value_of(const Tensor& leaf) {
  const Tensor value = grad(leaf);
  const bool is_inputs = value.defined() && is_input_buffer(value);
  if (value.defined()) recording_.note_left(value.storage()->data(), value.device());
  pending_.push_back(
      {WeakPtr<TensorImpl>(leaf.impl_ptr()), is_inputs ? Kind::kSetCopy : Kind::kSet, value});
}

void RecordedTensors::note_read(const Tensor& leaf) {
  if (is_inner(leaf)) return;
  const std::lock_guard lock(mutex_);
  Leaf& own = leaf_of(leaf);
  if (own.is_known || own.is_read) return;
  // Additions that are executed at each replay must be done before the gradient is read.
  flush();
  own.is_read = true;
}

void RecordedTensors::note_set(const Tensor& leaf) {
  if (is_inner(leaf)) return;
  const std::lock_guard lock(mutex_);
  const bool is_first_touch = !leaves_.contains(leaf.impl());
  Leaf& own = leaf_of(leaf);
  own.is_dropped_first |= is_first_touch && !has_live_;
  own.is_known = true;
  add_value_of(leaf);
}

void RecordedTensors::accumulate(const Tensor& leaf, const Tensor& grad,
                                 const std::function<void()>& add_now) {
  if (is_inner(leaf)) return add_now();
  eg::check(!grad.is_sparse(), ErrorCode::kInvalidArgument, kName,
            "a captured function cannot have sparse gradients, whose sizes depend on values. Omit "
            "sparse: true.");
  const Tensor before = eg::grad(leaf);
  bool is_recorded = true;
  bool is_like_before = true;
  {
    const std::lock_guard lock(mutex_);
    Leaf& own = leaf_of(leaf);
    // The gradient becomes a tensor with a graph; finish() rejects it if it is still there.
    if (!own.is_known && !own.is_read && ops_are_differentiated()) {
      flush();
      own.is_read = true;
    }
    is_like_before = own.is_known || own.is_read;
    if (!is_like_before && !before.defined()) own.is_first = true;
    is_recorded = is_like_before || own.is_first;
    if (!is_recorded) {
      recording_.note_left(grad.storage()->data(), grad.device());
      pending_.push_back({WeakPtr<TensorImpl>(leaf.impl_ptr()), Kind::kAdd, grad});
    }
  }
  if (!is_recorded) return do_unrecorded(add_now);
  add_now();
  if (eg::grad(leaf).is_same(before)) return;
  const std::lock_guard lock(mutex_);
  add_value_of(leaf);
  if (!is_like_before) pending_.back().kind = Kind::kSetOrAdd;
}

void RecordedTensors::do_unrecorded(const std::function<void()>& work) {
  {
    const std::lock_guard lock(mutex_);
    count_changes();
  }
  const RecordingGuard unrecorded(nullptr);
  work();
  // `work` counts its own version changes at every replay.
  const std::lock_guard lock(mutex_);
  for (auto& [address, use] : uses_) {
    const Tensor t(use.tensor.lock());
    if (t.defined() && t.has_version()) use.version = t.version();
  }
}

void RecordedTensors::count_changes() {
  for (auto& [address, use] : uses_) {
    const Tensor t(use.tensor.lock());
    if (!t.defined() || !t.has_version()) continue;
    use.changes += t.version() - use.version;
    use.version = t.version();
  }
}

void RecordedTensors::run_live(const std::function<void()>& work) {
  {
    const std::lock_guard lock(mutex_);
    has_live_ = true;
    flush();
  }
  recording_.note_live(work);
  do_unrecorded(work);
}

// As one piece of work: the device computes without interruption between two of these.
void RecordedTensors::flush() {
  for (auto& [address, own] : leaves_) own.is_first = false;
  if (pending_.empty()) return;
  recording_.note_live([work = std::exchange(pending_, {})] {
    const NoGradGuard quiet;
    for (const auto& [weak, kind, value] : work) {
      const Tensor leaf(weak.lock());
      if (!leaf.defined()) continue;
      const bool adds = kind == Kind::kAdd || (kind == Kind::kSetOrAdd && eg::grad(leaf).defined());
      if (adds)
        make_intrusive<AccumulateGrad>(leaf)->accumulate(value);
      else
        set_grad(leaf, kind == Kind::kSetCopy ? math::clone(value) : value);
    }
  });
}

void RecordedTensors::finish() {
  const std::lock_guard lock(mutex_);
  flush();
  count_changes();
  // A tensor that no longer exists was made in the function, as a view of an external tensor.
  std::erase_if(uses_, [](const auto& use) { return use.second.tensor.lock() == nullptr; });
  std::erase_if(leaves_, [](const auto& leaf) { return leaf.second.tensor.lock() == nullptr; });
  check_uses();
  for (const auto& [address, use] : uses_) {
    eg::check(
        !has_backward_ || !use.requires_grad || use.history.lock() == nullptr,
        ErrorCode::kInvalidArgument, kName,
        "backward() would go through a graph that was recorded outside the function and does not "
        "exist at a replay. Compute that tensor in the function, or use its detach().");
    if (use.changes > 0) changes_.push_back({Tensor(use.tensor.lock()).alias(), use.changes});
  }
  for (const auto& [address, own] : leaves_) {
    eg::check(!requires_grad(grad(Tensor(own.tensor.lock()))), ErrorCode::kInvalidArgument, kName,
              "the function leaves a gradient with a graph, which cannot be replayed. Use "
              "autograd.grad(), or call backward() without createGraph.");
  }
}

void RecordedTensors::check_uses() const {
  const auto refuse = [](const Tensor& t, std::string_view what) {
    fail(ErrorCode::kInvalidArgument, "[capture] a tensor of shape ", t.shape(),
         " that the function uses ", what,
         " than when it was captured. Capture the function again.");
  };
  for (const auto& [address, use] : uses_) {
    const Tensor t(use.tensor.lock());
    // A destroyed tensor cannot have changed.
    if (!t.defined()) continue;
    if (t.shape() != use.shape || t.strides() != use.strides || t.offset() != use.offset)
      refuse(t, "has another shape or other strides");
    if (requires_grad(t) != use.requires_grad || grad_fn(t) != use.history.lock())
      refuse(t, "has another requiresGrad or another history");
    if (hooks_of(t) != use.hooks) refuse(t, "has other hooks");
  }
}

void RecordedTensors::check() const {
  recording_.check_valid();
  check_uses();
  for (const auto& [address, own] : leaves_) {
    const Tensor leaf(own.tensor.lock());
    if (!own.is_read || !leaf.defined()) continue;
    eg::check(grad(leaf).is_same(own.before), ErrorCode::kInvalidArgument, kName,
              "the function reads the gradient of a tensor of shape ", leaf.shape(), ", which ",
              own.before.defined() ? "was a different tensor" : "was null",
              " when the function was captured. Call zeroGrad() at its beginning, or do not "
              "change the gradient between calls.");
  }
}

void RecordedTensors::begin_replay() const {
  for (const auto& [tensor, count] : changes_)
    for (std::uint32_t i = 0; i < count; ++i) tensor.bump_version();
  for (const auto& [address, own] : leaves_) {
    const Tensor leaf(own.tensor.lock());
    const Tensor gradient = leaf.defined() ? grad(leaf) : Tensor();
    if (!gradient.defined() || !recording_.is_own(gradient.storage()->data(), gradient.device()))
      continue;
    own.is_dropped_first ? set_grad(leaf, {}) : copy_out(leaf);
  }
}

}  // namespace eg
