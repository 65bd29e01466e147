#pragma once

// Forward-mode differentiation: tangents that travel with values.
//
// Inside a dual level a tensor may carry a tangent: the derivative of its value along one direction
// chosen by make_dual. Every op that meets a tangent computes the tangent of its result at once
// (dispatch/forward.h), whatever grad mode says; with grad mode on the tangents are recorded like
// any value, so that the two modes combine. When the level ends, all its tangents are gone.
//
// A tangent has the geometry of its tensor, so a view of a tensor with a tangent has for its own
// tangent the same view of that tangent, and a change of one is seen by the other. A level belongs
// to the thread that opened it and the backward calls made there. Without a level nothing of this
// costs more than one test per op.

#include <atomic>

#include "base/intrusive_ptr.h"
#include "base/pool.h"
#include "tensor/tensor.h"

namespace eg {

class ForwardGrad;

/// The tangents of one level, linked so that they can be found and dropped when it ends: with its
/// scope, or with the last work that has taken the mode along.
class ForwardAdLevel final : public RefCounted {
 public:
  ~ForwardAdLevel();
  static void on_last_release(ForwardAdLevel* level) { delete level; }
  void add(ForwardGrad* grad);
  static void remove(ForwardGrad* grad);

 private:
  ForwardGrad* first_ = nullptr;
};

/// The tangent half of a tensor's metadata, registered with its level.
class ForwardGrad : public Pooled {
 public:
  ForwardGrad(ForwardAdLevel* level, Tensor tangent);
  ~ForwardGrad();
  ForwardGrad(const ForwardGrad&) = delete;
  ForwardGrad& operator=(const ForwardGrad&) = delete;

  /// The level it belongs to; null once that has ended.
  const ForwardAdLevel* level() const { return level_.load(std::memory_order_relaxed); }
  /// Undefined says that there is none, whatever the base of the tensor has.
  const Tensor& tangent() const { return tangent_; }

 private:
  friend class ForwardAdLevel;

  // Another thread may compare it while its level ends here.
  std::atomic<ForwardAdLevel*> level_;
  Tensor tangent_;
  ForwardGrad* previous_ = nullptr;
  ForwardGrad* next_ = nullptr;
};

/// Opens the dual level of this thread; there is no second one inside it.
void enter_dual_level();
/// Closes it and drops its tangents.
void exit_dual_level();

/// A dual level for a scope.
class DualLevelGuard {
 public:
  DualLevelGuard() { enter_dual_level(); }
  ~DualLevelGuard() { exit_dual_level(); }
  DualLevelGuard(const DualLevelGuard&) = delete;
  DualLevelGuard& operator=(const DualLevelGuard&) = delete;
};

/// Closes the level for the eyes of ops in a scope: work on tangents, which have none themselves.
class NoDualLevelGuard {
 public:
  NoDualLevelGuard();
  ~NoDualLevelGuard();
  NoDualLevelGuard(const NoDualLevelGuard&) = delete;
  NoDualLevelGuard& operator=(const NoDualLevelGuard&) = delete;

 private:
  ForwardAdLevel* level_;
};

/// A view of `primal` that carries `tangent`, which must have its shape and dtype.
Tensor make_dual(const Tensor& primal, const Tensor& tangent);

/// A value and its derivative.
struct DualTensor {
  Tensor primal;
  /// Undefined when there is none.
  Tensor tangent;
};

/// The parts of a dual tensor; outside of any level there is no tangent.
DualTensor unpack_dual(const Tensor& t);

/// The tangent of `t` at the open level; undefined when it has none.
Tensor tangent(const Tensor& t);

/// Makes `part` the tangent of the view `t`: the same view of the tangent of its base.
void set_view_tangent(const Tensor& t, const Tensor& part);

/// Gives `t` a tangent, or replaces the values of the one it has. A view hands it on to its base.
void set_tangent(const Tensor& t, const Tensor& tangent);

}  // namespace eg
