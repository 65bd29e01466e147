#pragma once

// The border to JavaScript. Arguments and results travel as float64 words in a frame that belongs
// to the calling thread; tensors travel as handles. An exception stops here: it is kept for
// takeError(), and the call returns kFailed.
//
// Functions of numbers are plain exports of the module (EG_EXPORT), those of strings go through
// Embind, both under a name that begins with "eg_". Embind could take them all, but would need 160
// ns for a call instead of 6 where no code may be generated, as under a strict content security
// policy.

#include <string>
#include <vector>

#include "base/error.h"
#include "dispatch/handle_table.h"
#include "tensor/tensor.h"

/// Makes the function that follows JavaScript's `native.NAME`. It takes and returns numbers. (In a
/// native build tests/bindings calls it under that name.)
#ifdef __EMSCRIPTEN__
#define EG_EXPORT(name) __attribute__((export_name("eg_" name)))
#else
#define EG_EXPORT(name)
#endif

namespace eg::bindings {

inline constexpr double kFailed = -1;

/// This thread's frame; with room for `words` when given, what was written before stays.
std::vector<double>& frame(std::size_t words = 0);

/// Handles of tensors, and of nodes.
inline HandleTable& handles() { return HandleTable::instance(); }

/// A new handle, or 0 for an undefined tensor. Throws DtypeMismatch for a tensor of what its device
/// lacks: the CPU, computing in its place, may use such numbers in between.
Handle return_tensor(Tensor tensor);

/// Appends a number as JavaScript writes it. No printf: what knows its formats is 5 kB of the
/// download.
void append_number(std::string& out, double value);

/// Keeps the current exception for takeError(). Called inside a catch block.
void keep_error();

/// Runs `body`, which returns a number; an exception becomes kFailed.
template <class Body>
double guard(Body&& body) {
  try {
    return static_cast<double>(body());
  } catch (...) {
    keep_error();
    return kFailed;
  }
}

/// Writes handles for the tensors to the front of the frame, 0 for undefined ones.
template <class Tensors>
double return_tensors(Tensors&& tensors) {
  std::vector<double>& words = frame(tensors.size());
  std::size_t count = 0;
  for (auto& t : tensors) {
    if constexpr (std::is_lvalue_reference_v<Tensors>)
      words[count++] = return_tensor(t);
    else
      words[count++] = return_tensor(std::move(t));
  }
  return static_cast<double>(count);
}

}  // namespace eg::bindings
