#pragma once

// What a recorded thread does to tensors, as opposed to their memory (runtime/recording.h).
// External tensors that it uses have shapes, flags and versions, and leaves have gradients, which
// are created, cleared and replaced.
//
// Each external tensor is noted at its first use. At every replay it must have the same properties,
// and its version rises as it did during the recording. The changes of a leaf's `.grad` are a list
// of transitions that a replay repeats:
//
// - A gradient that the function has set (or cleared) is *known* from then on: additions to it are
//   recorded like any calculation.
// - A gradient from before the recording, or its absence, may differ at each replay. Additions to
//   it are executed at each replay, on the gradient of that time.
// - Once the function has read such a gradient, it must be the same one at each replay.
//
// A gradient that a recording leaves behind is stored in the recording's memory, which the next
// replay overwrites. Only the leaf refers to that tensor: reading the gradient first replaces it
// with a copy (visible_grad).

#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "autograd/graph/node.h"
#include "base/intrusive_ptr.h"
#include "runtime/recording.h"
#include "tensor/tensor.h"

namespace eg {

class RecordedTensors {
 public:
  explicit RecordedTensors(Recording& recording) : recording_(recording) {}

  /// Notes that a tensor is used.
  void note_use(const Tensor& t);
  /// Notes that a backward call is made.
  void note_backward() { has_backward_ = true; }
  bool has_backward() const { return has_backward_; }
  /// Returns true when a used tensor requires a gradient.
  bool uses_gradients() const;

  /// Notes that the gradient of `leaf` is about to be read.
  void note_read(const Tensor& leaf);
  /// Notes that the gradient of `leaf` has been set.
  void note_set(const Tensor& leaf);
  /// Adds `grad` to the gradient of `leaf` by calling `add`, and records that.
  void accumulate(const Tensor& leaf, const Tensor& grad, const std::function<void()>& add);
  /// Runs `work` now, and at the same position of every replay.
  void run_live(const std::function<void()>& work);
  /// Adds a tensor into which the values of an input are copied.
  void add_input_buffer(const Tensor& buffer) { input_buffers_.push_back(buffer); }
  /// Ends the recording.
  void finish();

  /// Must be called before a replay: throws if tensors have changed since the recording.
  void check() const;
  /// Called next: counts in-buffer changes, and copies gradients out of the memory that the replay
  /// will overwrite.
  void begin_replay() const;

 private:
  struct Use {
    WeakPtr<TensorImpl> tensor;
    Shape shape;
    Strides strides;
    std::int64_t offset = 0;
    bool requires_grad = false;
    WeakPtr<Node> history;
    std::vector<std::shared_ptr<void>> hooks;
    /// The version from which changes are counted, and the number of changes counted before.
    std::uint32_t version = 0;
    std::uint32_t changes = 0;
  };
  struct Leaf {
    WeakPtr<TensorImpl> tensor;
    /// The gradient at the beginning of the recording.
    Tensor before;
    bool is_known = false;
    bool is_read = false;
    /// The gradient is replaced before anything has read it.
    bool is_dropped_first = false;
    /// There was no gradient, and additions are recorded until the next flush.
    bool is_first = false;
  };
  struct Change {
    Tensor tensor;
    std::uint32_t count;
  };
  enum class Kind : std::uint8_t {
    kSet,       ///< to this tensor, or cleared
    kSetCopy,   ///< to a copy of the tensor
    kSetOrAdd,  ///< to this tensor, or added if there is a gradient
    kAdd,
  };
  struct Transition {
    WeakPtr<TensorImpl> leaf;
    Kind kind;
    Tensor value;
  };

  /// Returns true for a tensor that was made in the recording or is an input.
  bool is_inner(const Tensor& t) const;
  bool is_input_buffer(const Tensor& t) const;
  Leaf& leaf_of(const Tensor& leaf);
  void add_value_of(const Tensor& leaf);
  void do_unrecorded(const std::function<void()>& work);
  void count_changes();
  void flush();
  void check_uses() const;

  Recording& recording_;
  std::mutex mutex_;  // device threads accumulate too, for the thread that calls backward
  std::unordered_map<TensorImpl*, Use> uses_;
  std::unordered_map<TensorImpl*, Leaf> leaves_;
  std::vector<Transition> pending_;
  std::vector<Change> changes_;
  TensorList input_buffers_;
  bool has_live_ = false;
  bool has_backward_ = false;
};

/// Marks a replay on this thread, during which gradients are read by the replay itself.
class ReplayGuard {
 public:
  ReplayGuard();
  ~ReplayGuard();
  ReplayGuard(const ReplayGuard&) = delete;
  ReplayGuard& operator=(const ReplayGuard&) = delete;
};

/// Returns a tensor's gradient for the user, or undefined: a tensor that no replay overwrites.
Tensor visible_grad(const Tensor& t);

}  // namespace eg
