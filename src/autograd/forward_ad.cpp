#include "autograd/forward_ad.h"

#include <mutex>
#include <utility>

#include "autograd/grad_mode.h"
#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

// Guards the lists of levels, because tensors may be destroyed on any thread. Nothing is destroyed
// while it is held.
std::mutex& links_mutex() {
  static std::mutex mutex;
  return mutex;
}

void attach(const Tensor& t, const Tensor& tangent) {
  AutogradMeta& meta = ensure_autograd_meta(t);
  auto grad = std::make_unique<ForwardGrad>(autograd_state().dual_level, tangent);
  const auto lock = lock_objects(meta.mutex);
  // The previous tangent is destroyed after the lock is released.
  grad.swap(meta.forward_grad);
}

// Only with equal strides is a view of the tangent the tangent of the view.
bool has_same_geometry(const Tensor& a, const Tensor& b) { return a.strides() == b.strides(); }

// Returns `tangent` with the strides of `t`. If elements of `t` overlap, no copy can have its
// strides.
Tensor with_geometry_of(const Tensor& t, const Tensor& tangent) {
  if (has_same_geometry(t, tangent) || !is_injective(t.shape(), t.strides())) return tangent;
  return math::clone_with_strides(tangent, t.strides());
}

// The part of the base's tangent that corresponds to the view `t`.
Tensor part_of(const Tensor& base_tangent, const Tensor& t, const Tensor& base) {
  return math::view_part(base_tangent, {base, t});
}

// The base of a view if the base has no tangent yet, else undefined.
Tensor base_without_tangent(const Tensor& t) {
  const AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr || meta->view == nullptr) return {};
  const Tensor& base = meta->view->base;
  return tangent(base).defined() ? Tensor() : base;
}

}  // namespace

ForwardAdLevel::~ForwardAdLevel() {
  const auto drop_first = [&] {
    Tensor dropped;
    const std::scoped_lock lock(links_mutex());
    if (first_ == nullptr) return false;
    dropped = std::move(first_->tangent_);
    first_->level_ = nullptr;
    first_ = first_->next_;
    if (first_ != nullptr) first_->previous_ = nullptr;
    return true;
  };
  while (drop_first()) {
  }
}

void ForwardAdLevel::add(ForwardGrad* grad) {
  const std::scoped_lock lock(links_mutex());
  grad->next_ = first_;
  if (first_ != nullptr) first_->previous_ = grad;
  first_ = grad;
}

void ForwardAdLevel::remove(ForwardGrad* grad) {
  const std::scoped_lock lock(links_mutex());
  ForwardAdLevel* level = grad->level_;
  if (level == nullptr) return;
  (grad->previous_ != nullptr ? grad->previous_->next_ : level->first_) = grad->next_;
  if (grad->next_ != nullptr) grad->next_->previous_ = grad->previous_;
}

ForwardGrad::ForwardGrad(ForwardAdLevel* level, Tensor tangent)
    : level_(level), tangent_(std::move(tangent)) {
  level->add(this);
}

ForwardGrad::~ForwardGrad() { ForwardAdLevel::remove(this); }

void enter_dual_level() {
  AutogradState& state = autograd_state();
  check(state.dual_level == nullptr, ErrorCode::kInvalidArgument, "dualLevel",
        "dual levels cannot be nested.");
  state.dual_level = make_intrusive<ForwardAdLevel>().detach();
}

void exit_dual_level() {
  AutogradState& state = autograd_state();
  check(state.dual_level != nullptr, ErrorCode::kInvalidArgument, "dualLevel",
        "no dual level is open.");
  IntrusivePtr<ForwardAdLevel>::adopt(std::exchange(state.dual_level, nullptr)).reset();
}

NoDualLevelGuard::NoDualLevelGuard()
    : level_(std::exchange(autograd_state().dual_level, nullptr)) {}
NoDualLevelGuard::~NoDualLevelGuard() { autograd_state().dual_level = level_; }

Tensor tangent(const Tensor& t) {
  if (!ops_carry_tangents() || !t.defined()) return {};
  const ForwardAdLevel* level = autograd_state().dual_level;
  AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr) return {};
  {
    const auto lock = lock_objects(meta->mutex);
    if (meta->forward_grad != nullptr && meta->forward_grad->level() == level) {
      return meta->forward_grad->tangent();
    }
  }
  if (meta->view == nullptr) return {};
  // The base may have received its tangent by an in-place change after the view was made.
  const Tensor& base = meta->view->base;
  const Tensor base_tangent = tangent(base);
  if (!base_tangent.defined() || !has_same_geometry(base, base_tangent)) return {};
  Tensor result = [&] {
    const NoDualLevelGuard guard;
    return part_of(base_tangent, t, base);
  }();
  attach(t, result);
  return result;
}

void set_view_tangent(const Tensor& t, const Tensor& part) { attach(t, part); }

void set_tangent(const Tensor& t, const Tensor& tangent_of_t) {
  if (!tangent_of_t.defined()) return;
  const Tensor existing = tangent(t);
  const Tensor base = existing.defined() ? Tensor() : base_without_tangent(t);
  Tensor result = tangent_of_t;
  Tensor base_tangent;
  {
    const NoDualLevelGuard guard;
    if (existing.defined()) {
      if (!existing.is_same(result)) math::copy_values(existing, result);
      return;
    }
    if (base.defined()) {
      base_tangent = math::clone_with_strides(math::zeros_like(base), base.strides());
      const Tensor part = part_of(base_tangent, t, base);
      math::copy_values(part, result);
      result = part;
    } else {
      result = with_geometry_of(t, result);
    }
  }
  attach(t, result);
  if (base.defined()) attach(base, base_tangent);
}

Tensor make_dual(const Tensor& primal, const Tensor& tangent_of_primal) {
  check(autograd_state().dual_level != nullptr, ErrorCode::kInvalidArgument, "makeDual",
        "no dual level is open. Call makeDual() inside dualLevel().");
  check(is_differentiable(primal.dtype()), ErrorCode::kNotDifferentiable, "makeDual",
        "expected a floating-point or complex tensor, got ", primal.dtype(), '.');
  check(is_differentiable(tangent_of_primal.dtype()), ErrorCode::kNotDifferentiable, "makeDual",
        "expected a floating-point or complex tangent, got ", tangent_of_primal.dtype(), '.');
  check(primal.dtype() == tangent_of_primal.dtype(), ErrorCode::kDtypeMismatch, "makeDual",
        "expected a tangent of dtype ", primal.dtype(), ", got ", tangent_of_primal.dtype(), '.');
  check(primal.device() == tangent_of_primal.device(), ErrorCode::kDeviceMismatch, "makeDual",
        "expected a tangent on ", primal.device(), ", got one on ", tangent_of_primal.device(),
        '.');
  check(primal.shape() == tangent_of_primal.shape(), ErrorCode::kShapeMismatch, "makeDual",
        "expected a tangent of shape ", primal.shape(), ", got ", tangent_of_primal.shape(), '.');
  check(!tangent(primal).defined(), ErrorCode::kInvalidArgument, "makeDual",
        "the tensor already has a tangent in this dual level.");
  check(!tangent(tangent_of_primal).defined(), ErrorCode::kInvalidArgument, "makeDual",
        "the tangent has a tangent itself in this dual level. For derivatives of derivatives use "
        "eg.func.jvp() in a function that eg.func.jvp() differentiates, or unpackDual() it.");
  Tensor dual;
  Tensor kept = tangent_of_primal;
  {
    const NoDualLevelGuard guard;
    dual = math::view(primal);
    kept = with_geometry_of(dual, kept);
  }
  // Only the dual tensor gets the tangent: the primal must not change its meaning. In inference
  // mode nothing has tangents.
  if (ops_carry_tangents()) attach(dual, kept);
  return dual;
}

DualTensor unpack_dual(const Tensor& t) {
  const Tensor tangent_of_t = tangent(t);
  if (!tangent_of_t.defined()) return {t, {}};
  Tensor primal;
  {
    const NoDualLevelGuard guard;
    primal = math::view(t);
  }
  // Marks the primal as having no tangent; otherwise it would inherit part of its base's.
  attach(primal, {});
  return {primal, tangent_of_t};
}

}  // namespace eg
