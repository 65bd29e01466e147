#pragma once

// A function of tensors that is run once and replayed from then on: `eg.capture`. It owns a tensor
// for each input, into which a call copies its arguments. Results are copied out, so that every
// call returns new tensors.

#include <functional>

#include "autograd/graph/recorded_tensors.h"
#include "dispatch/precision.h"
#include "kernels/captured_step.h"
#include "tensor/tensor.h"

namespace eg {

class CapturedFunction final : public RefCounted {
 public:
  /// `inputs` are examples of the tensors it will be called with; they are copied. Throws
  /// InvalidArgument when this thread is already recording.
  explicit CapturedFunction(const TensorList& inputs);
  static void on_last_release(CapturedFunction* function) { delete function; }

  /// The input tensors to run the function with while it is being recorded.
  const TensorList& places() const { return places_; }
  /// Records what this thread does until finish() or stop().
  void record();
  void finish(const TensorList& results);
  void stop();

  /// Replays the function. Throws InvalidArgument, ShapeMismatch, DtypeMismatch or DeviceMismatch
  /// when `inputs` do not match those it was recorded with.
  TensorList call(const TensorList& inputs);

 private:
  void check_inputs(const TensorList& inputs) const;
  void check_modes(const TensorList& inputs) const;

  struct Result {
    Tensor place;
    /// The function returned it with a graph, which the results of calls do not have.
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

/// Calls `work`. While this thread is recording, `work` is not recorded but called again by every
/// replay.
void run_live(const std::function<void()>& work);

}  // namespace eg
