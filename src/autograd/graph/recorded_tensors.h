#pragma once

// What a recorded thread does to tensors, besides to their memory (runtime/recording.h): tensors that
// it finds outside have shapes, flags and versions, and leaves have gradients, which come, go and
// are replaced.
//
// Tensors from outside are noted as they are used. They have to be the same whenever the recording
// is played, and their versions rise as they did. What becomes of the `.grad` of a leaf is a list of
// transitions, made again when it is played:
//
//  - A gradient that the function has set (also to none) is *known* from then on: what is added to
//    it is recorded like any calculation.
//  - A gradient that was there before, or was not, may be another one each time. What is added to
//    it is added anew each time, to what is there then.
//  - Once the function has looked at such a gradient, it has to be the same one each time.
//
// A gradient that a recording leaves behind lies in its memory, which it writes to again the next
// time. Nobody but the leaf has such a tensor: whoever asks for it gets a copy, which takes its
// place (visible_grad).

#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/intrusive_ptr.h"
#include "runtime/recording.h"
#include "tensor/tensor.h"

namespace eg {

class RecordedTensors {
 public:
  explicit RecordedTensors(Recording& recording) : recording_(recording) {}

  /// A tensor is used.
  void note_use(const Tensor& t);
  /// A backward call is made.
  void note_backward() { has_backward_ = true; }
  bool has_backward() const { return has_backward_; }
  /// True when something that is used requires a gradient.
  bool uses_gradients() const;

  /// The gradient of `leaf` is going to be looked at.
  void note_read(const Tensor& leaf);
  /// The gradient of `leaf` has been set.
  void note_set(const Tensor& leaf);
  /// Has `grad` added to the gradient of `leaf` by `add`.
  void accumulate(const Tensor& leaf, const Tensor& grad, const std::function<void()>& add);
  /// Has `work` done now and, in its place, each time.
  void run_live(const std::function<void()>& work);
  /// A tensor that the values of an input are copied to.
  void add_place(const Tensor& place) { places_.push_back(place); }
  /// The recording is over.
  void finish();

  /// Before it is played: throws where tensors are not what they were.
  void check() const;
  /// Then: counts changes in place, and lets nothing that is needed lie where it will write.
  void begin_to_play() const;

 private:
  struct Use {
    WeakPtr<TensorImpl> tensor;
    Shape shape;
    Strides strides;
    std::int64_t offset = 0;
    bool requires_grad = false;
    bool is_leaf = true;
    std::vector<std::shared_ptr<void>> hooks;
    /// From which changes are counted, and those that were counted before.
    std::uint32_t version = 0;
    std::uint32_t changes = 0;
  };
  struct Leaf {
    WeakPtr<TensorImpl> tensor;
    /// Its gradient at the beginning.
    Tensor before;
    bool is_known = false;
    bool is_read = false;
    /// Its gradient goes before anybody has looked at it.
    bool is_dropped_first = false;
    /// It had none, and what is added is recorded, until the next flush.
    bool is_first = false;
  };
  struct Change {
    Tensor tensor;
    std::uint32_t count;
  };
  enum class Kind : std::uint8_t {
    kSet,       ///< to this very tensor, or to none
    kSetCopy,   ///< to a copy of it
    kSetOrAdd,  ///< or to be added where there is a gradient
    kAdd,
  };
  struct Transition {
    WeakPtr<TensorImpl> leaf;
    Kind kind;
    Tensor value;
  };

  /// True for a tensor that is not from outside: it was made in the recording, or is an input.
  bool is_inner(const Tensor& t) const;
  bool is_place(const Tensor& t) const;
  Leaf& leaf_of(const Tensor& leaf);
  void add_value_of(const Tensor& leaf);
  void do_unrecorded(const std::function<void()>& work);
  void count_changes();
  void flush();
  void check_uses() const;

  Recording& recording_;
  std::mutex mutex_;  // threads of devices accumulate for the thread that calls backward
  std::unordered_map<TensorImpl*, Use> uses_;
  std::unordered_map<TensorImpl*, Leaf> leaves_;
  std::vector<Transition> pending_;
  std::vector<Change> changes_;
  TensorList places_;
  bool has_live_ = false;
  bool has_backward_ = false;
};

/// While a recording is played: gradients are asked for by the step itself.
class PlayGuard {
 public:
  PlayGuard();
  ~PlayGuard();
  PlayGuard(const PlayGuard&) = delete;
  PlayGuard& operator=(const PlayGuard&) = delete;
};

/// The gradient of a tensor for whoever asks for it, or undefined: one that no recording will write
/// to.
Tensor visible_grad(const Tensor& t);

}  // namespace eg
