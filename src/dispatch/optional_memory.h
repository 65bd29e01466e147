#pragma once

#include "tensor/tensor.h"

namespace eg {

/// The memory of a tensor, or an empty MemoryView if the tensor is undefined.
inline MemoryView optional_memory(const Tensor& t) {
  return t.defined() ? t.memory() : MemoryView();
}

}  // namespace eg
