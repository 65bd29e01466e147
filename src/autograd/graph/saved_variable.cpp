// compile: engine

#include "autograd/graph/saved_variable.h"

#include "autograd/anomaly_mode.h"
#include "autograd/forward_ad.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/variable.h"
#include "base/error.h"

namespace eg {
namespace {

[[noreturn]] void fail_modified(const Tensor& t, std::uint32_t saved_version, const Node* maker,
                                std::uint32_t output_nr) {
  const std::string origin =
      maker == nullptr ? "" : join_text(" (output ", output_nr, " of ", maker->name(), ')');
  fail(ErrorCode::kModifiedInPlace, "a ", t.dtype(), " tensor of shape ", t.shape(), origin,
       " that backward needs was changed in place: it is at version ", t.version(),
       ", but was saved at version ", saved_version, ". ",
       AnomalyMode::is_enabled()
           ? "The trace above shows the operation that saved it; it was changed there or later."
           : "Run forward and backward in autograd.detectAnomaly() to find the operation that "
             "saved it.");
}

}  // namespace

struct SavedVariable::Extra {
  std::shared_ptr<SavedVariableHooks> hooks;
  /// The history of a value that hooks store; they return the value without it.
  IntrusivePtr<Node> grad_fn;
  IntrusivePtr<Node> grad_accumulator;
  /// The history of an output that was written into a view: it leads back to the owner.
  WeakPtr<Node> weak_grad_fn;
  Tensor tangent;
  bool requires_grad = false;
};

SavedVariable::SavedVariable(const Tensor& t, SavedAs role) {
  if (!t.defined()) return;
  if (is_inference(t)) {
    fail(ErrorCode::kInferenceTensor,
         "an inference tensor cannot be saved for backward. Use its clone() instead.");
  }
  was_saved_ = true;
  role_ = role;
  is_leaf_ = !has_grad_fn(t);
  saved_version_ = t.version();
  output_nr_ = eg::output_nr(t);
  if (role == SavedAs::kOutputInPlaceOnView) {
    ensure_extra().weak_grad_fn = WeakPtr<Node>(grad_fn(t));
  }
  const bool is_input = role == SavedAs::kInput || is_leaf_;
  // A wrapped number is not a tensor to the user, and hooks are the user's.
  if (has_default_saved_tensor_hooks() && !t.is_wrapped_number()) {
    save_history(t);
    // A result that its own node stores would be a cycle.
    pack(make_default_saved_tensor_hooks(), is_input ? t : detach(t));
    return;
  }
  is_original_ = is_input;
  if (is_original_) {
    data_ = t;
    return;
  }
  data_ = t.alias();
  if (ops_carry_tangents()) set_tangent(data_, tangent(t));
}

SavedVariable::Extra& SavedVariable::ensure_extra() {
  if (extra_ == nullptr) extra_ = std::make_shared<Extra>();
  return *extra_;
}

void SavedVariable::save_history(const Tensor& t) {
  Extra& extra = ensure_extra();
  if (is_leaf_) {
    extra.grad_accumulator = grad_accumulator(t);
    extra.requires_grad = requires_grad(t);
  } else if (role_ == SavedAs::kInput) {
    extra.grad_fn = grad_fn(t);
  }
  if (ops_carry_tangents()) extra.tangent = tangent(t);
}

void SavedVariable::pack(std::unique_ptr<SavedVariableHooks> hooks, const Tensor& t) {
  const NoGradGuard guard;
  const std::uint32_t version = t.version();
  hooks->pack(t);
  check(t.version() == version, ErrorCode::kInvalidArgument, "savedTensorsHooks",
        "a pack hook must not change its argument in place. Change a clone() instead.");
  ensure_extra().hooks = std::move(hooks);
  data_.reset();
  is_original_ = false;
}

void SavedVariable::register_hooks(const Node& owner, std::unique_ptr<SavedVariableHooks> hooks) {
  invariant(hooks != nullptr, "register_hooks() was called without hooks.");
  // Other threads may unpack at the same time. Hooks are user code, so they run on a copy without
  // the lock; the copy replaces this object when they have packed.
  SavedVariable packed = locked_copy(owner);
  packed.check_can_register();
  const Tensor value = packed.data_;
  if (packed.extra_ != nullptr) packed.extra_ = std::make_shared<Extra>(*packed.extra_);
  packed.save_history(value);
  packed.pack(std::move(hooks), detach(value));
  const auto lock = lock_objects(owner.mutex());
  check_can_register();
  std::swap(*this, packed);
}

void SavedVariable::check_can_register() const {
  check(extra_ == nullptr || extra_->hooks == nullptr, ErrorCode::kInvalidArgument, "registerHooks",
        "this saved tensor already has hooks. Only one pair of hooks is allowed.");
  if (!was_saved_) {
    fail(ErrorCode::kInvalidArgument,
         "[registerHooks] a saved null has no value to pack, so it cannot have hooks.");
  }
  check(
      data_.defined(), ErrorCode::kGraphFreed, "registerHooks",
      "this saved tensor has been freed: backward() and autograd.grad() free the saved tensors of "
      "the graph. Pass retainGraph: true to keep them.");
}

SavedVariable SavedVariable::locked_copy(const Node& owner) const {
  const auto lock = lock_objects(owner.mutex());
  return *this;
}

void SavedVariable::check_version(const Node* maker) const {
  if (data_.version() == saved_version_) return;
  fail_modified(data_, saved_version_, maker, is_original_ ? eg::output_nr(data_) : output_nr_);
}

// The history of the unpacked tensor; null for a leaf.
IntrusivePtr<Node> SavedVariable::history(const Node& owner) const {
  if (is_leaf_) return nullptr;
  IntrusivePtr<Node> node;
  if (role_ == SavedAs::kOutputInPlaceOnView) {
    node = extra_->weak_grad_fn.lock();
  } else if (is_original_) {
    node = grad_fn(data_);
  } else if (extra_ != nullptr) {
    node = extra_->grad_fn;
  }
  if (node != nullptr) return node;
  check(role_ != SavedAs::kInput, ErrorCode::kInvalidArgument, "backward",
        "a saved tensor has since been detached in place. Use x.detach() instead of x.detach_().");
  // The owner is alive: it is running, or the caller is inspecting it.
  return IntrusivePtr<Node>(const_cast<Node*>(&owner));
}

Tensor SavedVariable::value(const Node& owner, std::unique_lock<std::mutex>& lock) const {
  if (data_.defined() && extra_ == nullptr && data_.version() == saved_version_) {
    const bool as_it_is = is_original_ ? is_leaf_ || has_grad_fn(data_) : !ops_are_recorded();
    if (as_it_is) return data_;
  }
  const SavedVariable copy = *this;
  if (lock.owns_lock()) lock.unlock();
  Tensor result = copy.unpack_unlocked(owner);
  // Hooks may have started a thread, after which objects are shared.
  if (objects_are_shared()) lock.lock();
  return result;
}

Tensor SavedVariable::unpack(const Node& owner) const {
  return locked_copy(owner).unpack_unlocked(owner);
}

Tensor SavedVariable::unpack_unlocked(const Node& owner) const {
  if (!was_saved_) return {};
  const bool hooked = extra_ != nullptr && extra_->hooks != nullptr;
  if (!data_.defined() && !hooked) fail_graph_freed();
  IntrusivePtr<Node> grad_fn = history(owner);
  if (!hooked) check_version(grad_fn.get());
  if (is_original_) return data_;

  Tensor kept = hooked ? extra_->hooks->unpack() : data_;
  check(kept.defined(), ErrorCode::kInvalidArgument, "savedTensorsHooks",
        "an unpack hook must return a tensor, got nothing.");
  const bool requires_grad = extra_ != nullptr && extra_->requires_grad;
  const Tensor kept_tangent = !ops_carry_tangents() ? Tensor()
                              : hooked              ? extra_->tangent
                                                    : tangent(data_);
  const bool is_plain = grad_fn == nullptr && !requires_grad && !kept_tangent.defined();
  if (is_plain && !eg::requires_grad(kept)) return kept;
  Tensor result = kept.alias();
  AutogradMeta& meta = ensure_autograd_meta(result);
  (void)meta.exchange_history({std::move(grad_fn), output_nr_});
  meta.requires_grad.store(requires_grad);
  if (extra_ != nullptr) meta.grad_accumulator = WeakPtr<Node>(extra_->grad_accumulator);
  if (kept_tangent.defined()) set_tangent(result, kept_tangent);
  return result;
}

void fail_graph_freed() {
  fail(ErrorCode::kGraphFreed,
       "the tensors saved for backward have been freed: backward() and autograd.grad() free the "
       "graph they went through. Pass retainGraph: true to the first call to go through the graph "
       "again, or to read its saved tensors.");
}

}  // namespace eg
