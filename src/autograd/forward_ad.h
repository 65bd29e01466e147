#pragma once

// Forward-mode differentiation: tangents are computed together with values.
//
// Inside a dual level a tensor may have a tangent: the derivative of its value along a direction
// chosen with make_dual. Every op with an operand that has a tangent computes the tangent of its
// result immediately (dispatch/forward.h), independently of grad mode. With grad mode on the
// tangents are recorded like any value, so the two modes can be combined. When the level ends, its
// tangents are dropped.
//
// A tangent has the geometry of its tensor: the tangent of a view is the same view of the tangent,
// and in-place changes of one are visible in the other. A level belongs to the thread that opened
// it and to the backward calls made there. Without a level the cost is one test per op.

#include <atomic>

#include "base/heap/pool.h"
#include "base/intrusive_ptr.h"
#include "tensor/tensor.h"

namespace eg {

class ForwardGrad;

/// The tangents of one level, linked so that they can be found and dropped when it ends: with its
/// scope, or with the last work that captured the mode.
class ForwardAdLevel final : public RefCounted {
 public:
  ~ForwardAdLevel();
  static void on_last_release(ForwardAdLevel* level) { delete level; }
  void add(ForwardGrad* grad);
  static void remove(ForwardGrad* grad);

 private:
  ForwardGrad* first_ = nullptr;
};

/// The forward-mode part of a tensor's metadata, registered with its level.
class ForwardGrad : public Pooled {
 public:
  ForwardGrad(ForwardAdLevel* level, Tensor tangent);
  ~ForwardGrad();
  ForwardGrad(const ForwardGrad&) = delete;
  ForwardGrad& operator=(const ForwardGrad&) = delete;

  /// The level it belongs to; null after the level has ended.
  const ForwardAdLevel* level() const { return level_.load(std::memory_order_relaxed); }
  /// Undefined means that there is no tangent, even if the base of the tensor has one.
  const Tensor& tangent() const { return tangent_; }

 private:
  friend class ForwardAdLevel;

  // Atomic: another thread may read it while the level ends.
  std::atomic<ForwardAdLevel*> level_;
  Tensor tangent_;
  ForwardGrad* previous_ = nullptr;
  ForwardGrad* next_ = nullptr;
};

/// Opens the dual level of this thread; levels do not nest.
void enter_dual_level();
/// Closes the level and drops its tangents.
void exit_dual_level();

/// A dual level for a scope.
class DualLevelGuard {
 public:
  DualLevelGuard() { enter_dual_level(); }
  ~DualLevelGuard() { exit_dual_level(); }
  DualLevelGuard(const DualLevelGuard&) = delete;
  DualLevelGuard& operator=(const DualLevelGuard&) = delete;
};

/// Hides the level from ops in a scope, for work on tangents, which have no tangents themselves.
class NoDualLevelGuard {
 public:
  NoDualLevelGuard();
  ~NoDualLevelGuard();
  NoDualLevelGuard(const NoDualLevelGuard&) = delete;
  NoDualLevelGuard& operator=(const NoDualLevelGuard&) = delete;

 private:
  ForwardAdLevel* level_;
};

/// Returns a view of `primal` that has `tangent`, which must have the same shape and dtype.
Tensor make_dual(const Tensor& primal, const Tensor& tangent);

/// A value and its tangent.
struct DualTensor {
  Tensor primal;
  /// Undefined if there is none.
  Tensor tangent;
};

/// Returns the parts of a dual tensor; outside a level there is no tangent.
DualTensor unpack_dual(const Tensor& t);

/// Returns the tangent of `t` at the open level, or undefined.
Tensor tangent(const Tensor& t);

/// Sets the tangent of the view `t`; `part` must be the same view of the tangent of its base.
void set_view_tangent(const Tensor& t, const Tensor& part);

/// Sets the tangent of `t`, or overwrites the values of an existing one. For a view, its base gets
/// a tangent too.
void set_tangent(const Tensor& t, const Tensor& tangent);

}  // namespace eg
