#pragma once

// Converts rows of elements from one dtype to another, with the results of PyTorch's casts.

#include <cstdint>

#include "backend/cpu/elementwise/items.h"
#include "base/dtype.h"

namespace eg::cpu {

/// Converts rows of real elements.
class PartConversion {
 public:
  PartConversion(DType to, DType from);

  void operator()(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                  std::int64_t count) const;

 private:
  DType to_;
  DType from_;
  RowFunction convert_ = nullptr;
};

/// Converts rows of elements. Steps count elements on either side. A complex number is two adjacent
/// real ones, so complex rows are converted as rows of real parts, one or two elements apart.
class RowConversion {
 public:
  RowConversion(DType to, DType from)
      : to_(to),
        from_(from),
        copy_(to == from ? copy_of_items(item_size(to)) : nullptr),
        convert_parts_(real_dtype(to), real_dtype(from)) {}

  void operator()(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                  std::int64_t count) const {
    if (copy_ != nullptr)
      copy_(to, to_step, from, from_step, count);
    else
      convert(to, to_step, from, from_step, count);
  }

 private:
  void convert(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
               std::int64_t count) const;
  void add_imaginary_truth(bool* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                           std::int64_t count) const;

  DType to_;
  DType from_;
  RowFunction copy_;  ///< plain copy when both dtypes are the same; null otherwise
  PartConversion convert_parts_;
};

/// Converts a single row.
void convert_elements(void* to, DType to_dtype, std::int64_t to_step, const void* from,
                      DType from_dtype, std::int64_t from_step, std::int64_t count);

/// Returns the address of an element.
inline void* element_at(void* data, DType dtype, std::int64_t element) {
  return static_cast<char*>(data) + element * static_cast<std::int64_t>(item_size(dtype));
}
inline const void* element_at(const void* data, DType dtype, std::int64_t element) {
  return static_cast<const char*>(data) + element * static_cast<std::int64_t>(item_size(dtype));
}

}  // namespace eg::cpu
