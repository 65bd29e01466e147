#pragma once

// The boundary between C++ and JavaScript. Arguments and results are passed as float64 words in a
// frame that belongs to the calling thread; tensors are passed as handles. Exceptions do not cross
// the boundary: they are stored for takeError(), and the call returns kFailed. native_call.h says
// what happens to a call that cannot return.
//
// Functions of numbers are plain exports of the module (EG_EXPORT), functions of strings use
// Embind; the names of both begin with "eg_". Embind could be used for all of them, but where code
// must not be generated, as under a strict content security policy, a call would take 160 ns
// instead of 6.

#include <string>
#include <vector>

#include "base/error.h"
#include "base/small_vector.h"
#include "dispatch/handles/handle_table.h"
#include "native_call.h"
#include "tensor/tensor.h"

namespace eg::bindings {

inline constexpr double kFailed = -1;

/// Returns this thread's frame. With `words`, first extends it to that size; earlier content is
/// preserved.
std::vector<double>& frame(std::size_t words = 0);

/// Saves the content of this thread's frame for a scope, without needing memory. At most one exists
/// per thread.
class FrameGuard {
 public:
  FrameGuard();
  ~FrameGuard();
  FrameGuard(const FrameGuard&) = delete;
  FrameGuard& operator=(const FrameGuard&) = delete;
};

/// The handles of tensors and nodes.
inline HandleTable& handles() { return HandleTable::instance(); }

/// Returns a new handle, or 0 for an undefined tensor. Throws DtypeMismatch if the tensor's device
/// does not support its dtype: when the CPU computes for a device, intermediate tensors may have
/// such dtypes.
Handle return_tensor(Tensor tensor);

/// Like return_tensor(), but returns the negated handle if this thread has another one of the
/// tensor.
Handle return_result(Tensor tensor);

/// Appends a number in JavaScript's format. printf is avoided because it would add 5 kB to the
/// download.
void append_number(std::string& out, double value);

/// Stores the current exception for takeError(). Must be called inside a catch block.
void store_error();

/// Runs `body`, which returns a number. If it throws, stores the exception and returns kFailed.
template <class Body>
double caught(Body&& body) {
  try {
    return static_cast<double>(body());
  } catch (...) {
    store_error();
    return kFailed;
  }
}

/// caught() in a call from JavaScript.
template <StackNeed need = StackNeed::kLittle, class Body>
double guard(Body&& body) {
  const NativeCall call(need);
  return caught(std::forward<Body>(body));
}

/// The handles that a call returns. They are released again unless the call gets as far as keep().
class NewHandles {
 public:
  /// For at most `count` handles.
  explicit NewHandles(std::size_t count) { handles_.reserve(count); }
  ~NewHandles();
  NewHandles(const NewHandles&) = delete;
  NewHandles& operator=(const NewHandles&) = delete;

  /// Adds a handle, which may be negated (return_result), or 0 for none.
  double add(Handle handle) {
    handles_.push_back(handle);
    return handle;
  }
  void keep() { handles_.clear(); }

 private:
  SmallVector<Handle, 8> handles_;
};

/// Writes a handle for each tensor to the front of the frame, as `make` returns it; returns their
/// number.
template <class Tensors, class Make>
double return_tensors(Tensors&& tensors, const Make& make) {
  std::vector<double>& words = frame(tensors.size());
  NewHandles made(tensors.size());
  std::size_t count = 0;
  for (auto& t : tensors) {
    if constexpr (std::is_lvalue_reference_v<Tensors>)
      words[count++] = made.add(make(t));
    else
      words[count++] = made.add(make(std::move(t)));
  }
  made.keep();
  return static_cast<double>(count);
}

/// Writes new handles for the tensors to the front of the frame, 0 for undefined ones; returns
/// their number.
template <class Tensors>
double return_tensors(Tensors&& tensors) {
  return return_tensors(std::forward<Tensors>(tensors), &return_tensor);
}

}  // namespace eg::bindings
