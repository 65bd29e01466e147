#include "autograd/forward_ad.h"

#include <mutex>
#include <utility>
#include <vector>

#include "autograd/grad_mode.h"
#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

// Tensors may die on any thread. Nothing is destroyed while this is held.
std::mutex& links_mutex() {
  static std::mutex mutex;
  return mutex;
}

void attach(const Tensor& t, const Tensor& tangent) {
  AutogradMeta& meta = ensure_autograd_meta(t);
  auto grad = std::make_unique<ForwardGrad>(autograd_state().dual_level, tangent);
  const auto lock = lock_objects(meta.mutex);
  // What was there is destroyed after the lock is gone.
  grad.swap(meta.forward_grad);
}

// Only then is a view of the tangent the tangent of the view.
bool has_same_geometry(const Tensor& a, const Tensor& b) { return a.strides() == b.strides(); }

// `tangent` with the strides of `t`. Where elements of `t` overlap no copy can have them.
Tensor with_geometry_of(const Tensor& t, const Tensor& tangent) {
  if (has_same_geometry(t, tangent) || !is_injective(t.shape(), t.strides())) return tangent;
  return math::clone_with_strides(tangent, t.strides());
}

// The part of the base's tangent that the view `t` shows.
Tensor part_of(const Tensor& base_tangent, const Tensor& t, const Tensor& base) {
  return math::view_part(base_tangent, {base, t});
}

// The base of a view to which a new tangent of the view has to be handed on, else undefined.
Tensor base_without_tangent(const Tensor& t) {
  const AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr || meta->view == nullptr) return {};
  const Tensor& base = meta->view->base;
  return tangent(base).defined() ? Tensor() : base;
}

}  // namespace

ForwardAdLevel::~ForwardAdLevel() {
  std::vector<Tensor> dropped;
  const std::scoped_lock lock(links_mutex());
  while (first_ != nullptr) {
    dropped.push_back(std::move(first_->tangent_));
    first_->level_ = nullptr;
    first_ = first_->next_;
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
        "Nested forward mode AD is not supported at the moment.");
  check(!state.inference_mode, ErrorCode::kInvalidArgument, "dualLevel",
        "forward mode AD is disabled in inference mode.");
  state.dual_level = make_intrusive<ForwardAdLevel>().detach();
}

void exit_dual_level() {
  AutogradState& state = autograd_state();
  check(state.dual_level != nullptr, ErrorCode::kInvalidArgument, "dualLevel",
        "Trying to exit a forward AD level but no level exists.");
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
  // The base may have got its tangent, by a change in place, after the view was made.
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
  check(ops_carry_tangents(), ErrorCode::kInvalidArgument, "makeDual",
        "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
        "enter_dual_level() first.");
  check(is_differentiable(primal.dtype()), ErrorCode::kNotDifferentiable, "makeDual",
        "Expected primal to be floating point or complex, but got: ", primal.dtype(), '.');
  check(is_differentiable(tangent_of_primal.dtype()), ErrorCode::kNotDifferentiable, "makeDual",
        "Expected tangent to be floating point or complex, but got: ", tangent_of_primal.dtype(),
        '.');
  check(primal.dtype() == tangent_of_primal.dtype(), ErrorCode::kDtypeMismatch, "makeDual",
        "Trying to set a forward gradient that has a different dtype than that of the original "
        "Tensor, this is not supported. Tensor is of dtype ",
        primal.dtype(), " while the given forward gradient is of dtype ", tangent_of_primal.dtype(),
        '.');
  check(primal.device() == tangent_of_primal.device(), ErrorCode::kDeviceMismatch, "makeDual",
        "Trying to set a forward gradient that lies on ", tangent_of_primal.device(),
        " for a Tensor on ", primal.device(), '.');
  check(primal.shape() == tangent_of_primal.shape(), ErrorCode::kShapeMismatch, "makeDual",
        "Trying to set a forward gradient that has a different size than that of the original "
        "Tensor, this is not supported. Tensor is of size ",
        primal.shape(), " while the given forward gradient is of size ", tangent_of_primal.shape(),
        '.');
  check(!tangent(primal).defined(), ErrorCode::kInvalidArgument, "makeDual",
        "Making a dual Tensor based on a Tensor that already has a forward gradient at the same "
        "level 0 is not supported.");
  Tensor dual;
  Tensor kept = tangent_of_primal;
  {
    const NoDualLevelGuard guard;
    dual = math::view(primal);
    kept = with_geometry_of(dual, kept);
  }
  // Of the dual tensor alone: the primal it shows must not change its meaning.
  attach(dual, kept);
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
  // Says that there is none; without that the view would have a part of its base's.
  attach(primal, {});
  return {primal, tangent_of_t};
}

}  // namespace eg
