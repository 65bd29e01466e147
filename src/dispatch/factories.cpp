#include "dispatch/factories.h"

#include <algorithm>

#include "backend/cpu/strided.h"
#include "runtime/thread_pool.h"

namespace eg {

Tensor scalar_tensor(Scalar value) {
  const DType dtype = value.is_float() ? DType::kFloat64 : value.dtype();
  Tensor t = full({}, value, dtype);
  t.set_wrapped_number();
  return t;
}

Tensor full(const Shape& shape, Scalar value, DType dtype, Device device) {
  Tensor t = Tensor::empty(shape, dtype, device);
  fill_dense(t, value);
  return t;
}

void fill_dense(const Tensor& t, Scalar value) {
  visit_any_dtype(t.dtype(), [&]<class T>() {
    T* data = t.data_as<T>();
    const T element = value.to<T>();
    parallel_for(0, t.numel(), kMinElementsPerTask, [&](std::int64_t begin, std::int64_t end) {
      std::fill(data + begin, data + end, element);
    });
  });
}

Tensor empty_like(const Tensor& t) { return empty_with_layout_of(t, t.dtype()); }

Tensor empty_with_layout_of(const Tensor& t, DType dtype) {
  Tensor result = Tensor::empty(t.shape(), dtype, t.device());
  if (t.is_contiguous() || !is_non_overlapping_and_dense(t.shape(), t.strides())) return result;
  return result.alias(t.shape(), t.strides(), 0);
}

Tensor full_like(const Tensor& t, Scalar value) {
  return full(t.shape(), value, t.dtype(), t.device());
}

Tensor contiguous_copy(const Tensor& t) {
  Tensor copy = Tensor::empty(t.shape(), t.dtype(), t.device());
  copy_data(copy, t);
  return copy;
}

Tensor packed(const Tensor& t) {
  return !t.defined() || t.is_contiguous() ? t : contiguous_copy(t);
}

void copy_data(const Tensor& destination, const Tensor& source) {
  const Strides strides =
      source.shape() == destination.shape()
          ? source.strides()
          : broadcast_strides(source.shape(), source.strides(), destination.shape());
  cpu::copy(destination.shape(), {destination.data(), destination.dtype(), destination.strides()},
            {source.data(), source.dtype(), strides});
}

}  // namespace eg
