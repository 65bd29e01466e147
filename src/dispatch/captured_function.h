#pragma once

// A function of tensors that was run once and is played from then on: `eg.capture`. Its inputs have
// places of their own, which a call copies what it is given to; what the function returned is
// copied out, so that results of several calls are several tensors.

#include <functional>

#include "autograd/graph/recorded_tensors.h"
#include "dispatch/precision.h"
#include "kernels/captured_step.h"
#include "tensor/tensor.h"

namespace eg {

class CapturedFunction final : public RefCounted {
 public:
  /// `inputs` are like what it will be called with; they are copied. InvalidArgument where this
  /// thread is recorded already.
  explicit CapturedFunction(const TensorList& inputs);
  static void on_last_release(CapturedFunction* function) { delete function; }

  /// Where the values of the inputs are, for the function to be run with.
  const TensorList& places() const { return places_; }
  /// What this thread does is recorded until finish() or stop().
  void record();
  void finish(const TensorList& results);
  void stop();

  /// Plays the function; throws InvalidArgument, ShapeMismatch, DtypeMismatch or DeviceMismatch for
  /// other inputs than it was recorded with.
  TensorList call(const TensorList& inputs);

 private:
  void check_inputs(const TensorList& inputs) const;
  void check_modes(const TensorList& inputs) const;

  struct Result {
    Tensor place;
    /// The function returned it with a graph, which calls cannot give.
    bool has_graph;
  };

  kernel::CapturedStep step_;
  RecordedTensors tensors_{step_};
  TensorList places_;
  std::vector<Result> results_;
  bool recorded_graphs_ = false;
  DType default_dtype_ = DType::kFloat32;
  DType autocast_ = DType::kFloat32;
};

/// Calls `work`; where this thread is recorded, it is called each time that is played, not
/// recorded.
void run_live(const std::function<void()>& work);

}  // namespace eg
