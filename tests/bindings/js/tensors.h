#pragma once

// Tensors and operations on them, implemented as in JavaScript: with handles and words in the call
// frame.

#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "js/native.h"

namespace eg::testing::js {

/// Owns a handle and releases it, like `using`.
class Owned {
 public:
  Owned() = default;
  explicit Owned(double handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(other.take()) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { dispose(); }

  double handle() const { return handle_; }
  bool is_there() const { return handle_ != 0; }
  void dispose() {
    if (handle_ != 0) native::release(take());
  }
  /// Transfers ownership of the handle to the caller.
  double take() { return std::exchange(handle_, 0); }

 private:
  double handle_ = 0;
};

struct Tensor : Owned {
  using Owned::Owned;
};
struct Node : Owned {
  using Owned::Owned;
};

/// Returns the words of `count` results in this thread's frame.
Words results(double count);
void write(const Words& words);

/// Returns a one-dimensional float32 tensor on the default device.
Tensor tensor(const std::vector<float>& values);
Tensor leaf(const std::vector<float>& values);
std::vector<double> values(const Tensor& tensor);
std::vector<double> values(double handle);

/// Calls an op by name, with the words of its arguments.
Tensor call(std::string_view op, const Words& words);
/// call() for an op with several results.
std::vector<Tensor> call_for_list(std::string_view op, const Words& words);
Tensor add(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, double number);
Tensor exp(const Tensor& a);
Tensor sum(const Tensor& a);
/// a += b
void add_(const Tensor& a, const Tensor& b);

Tensor grad_of(const Tensor& leaf);
void set_grad(const Tensor& leaf, double value);
void backward(const Tensor& root, int flags = 0);

/// The outcome of an asynchronous call: settled once it has a value or an error.
struct Outcome {
  bool is_settled = false;
  ValuePtr error;
  std::vector<Tensor> results;
};
using OutcomePtr = std::shared_ptr<Outcome>;

OutcomePtr backward_async(const Tensor& root, int flags = 0);
OutcomePtr grad_async(const Tensor& root, const std::vector<const Tensor*>& inputs, int flags = 0);
/// Runs this thread's event loop until all are settled.
void settle(std::initializer_list<OutcomePtr> outcomes);
void settle(const std::vector<OutcomePtr>& outcomes);

using GradHook = std::function<Tensor(Tensor grad)>;

/// A hook that is registered in C++, like RegisteredHook; remove() removes it.
struct Hook {
  double id = 0;
  void remove() const { native::removeHook(id); }
};

/// Registers a hook; if it returns a tensor, that replaces the gradient.
Hook register_hook(const Tensor& tensor, GradHook hook);
Hook register_post_accumulate_grad_hook(const Tensor& leaf, std::function<void(Tensor)> hook);

/// Saved-tensor hooks that store the elements as a JavaScript value and create the tensor again
/// from it.
class PackedElsewhere {
 public:
  /// `meanwhile` is called in both functions.
  explicit PackedElsewhere(std::function<void()> meanwhile = [] {});
  /// Pushes the hooks on this thread; native::popSavedTensorHooks() removes them.
  void push() const;
  int packed() const { return *packed_; }

 private:
  std::function<void()> meanwhile_;
  std::shared_ptr<int> packed_ = std::make_shared<int>(0);
};

/// The context that forward and backward of a custom Function share.
class Context {
 public:
  explicit Context(double id) : id_(id) {}
  void save_for_backward(std::initializer_list<const Tensor*> tensors) const;
  std::vector<Tensor> saved_tensors() const;

 private:
  double id_;
};

using Forward = std::function<Tensor(const Context&)>;
using Backward = std::function<std::vector<Tensor>(const Context&, Tensor grad)>;

/// Applies an autograd.Function with one result.
Tensor apply_function(const std::vector<const Tensor*>& inputs, const Forward& forward,
                      Backward backward);

/// Ends the forward of the Function `id`, whose result is `raw`; returns the result for the caller.
Tensor end_function(double id, Tensor raw);

/// Computes x * x with a Function that saves x twice.
Tensor square(const Tensor& x);

/// Runs `body` and returns the error that it throws; fails the test if it throws none.
ErrorValue error_of(const std::function<void()>& body);

}  // namespace eg::testing::js
