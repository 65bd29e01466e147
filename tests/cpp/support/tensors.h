#pragma once

// Small tensors for tests, and functions that read them.

#include <vector>

#include "autograd/graph/variable.h"
#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "ops/complex/complex.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"
#include "support/test_device.h"
#include "tensor/tensor.h"

namespace eg::testing {

/// Tensors on the default device.
inline Tensor empty(const Shape& shape, DType dtype) {
  return Tensor::empty(shape, dtype, default_device());
}
inline Tensor full(const Shape& shape, Scalar value, DType dtype) {
  return eg::full(shape, value, dtype, default_device());
}

template <class T = float>
Tensor tensor(const std::vector<T>& values, const Shape& shape, Device device = default_device()) {
  const Tensor t = Tensor::empty(shape, dtype_of<T>());
  std::copy(values.begin(), values.end(), t.data_as<T>());
  return moved(t, device);
}
template <class T = float>
Tensor tensor(const std::vector<T>& values) {
  return tensor<T>(values, {static_cast<std::int64_t>(values.size())});
}

/// Returns a tensor whose element i, in row-major order, is element(i).
template <class T, class Element>
Tensor generated(const Shape& shape, Element&& element, Device device = default_device()) {
  const Tensor t = Tensor::empty(shape, dtype_of<T>());
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data_as<T>()[i] = static_cast<T>(element(i));
  return moved(t, device);
}

/// A leaf that requires grad.
template <class T = float>
Tensor leaf(const std::vector<T>& values, const Shape& shape, Device device = default_device()) {
  Tensor t = tensor<T>(values, shape, device);
  set_requires_grad(t, true);
  return t;
}
template <class T = float>
Tensor leaf(const std::vector<T>& values) {
  return leaf<T>(values, {static_cast<std::int64_t>(values.size())});
}
inline Tensor leaf(float value) { return leaf<float>({value}, {}); }

/// The elements in row-major order, as doubles; for complex ones both parts.
inline std::vector<double> values(const Tensor& t) {
  if (is_complex(t.dtype())) return values(parts_of(t));
  const Tensor packed = contiguous_copy(on_host(detach(t)));
  std::vector<double> result;
  visit_dtype(packed.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < packed.numel(); ++i) {
      result.push_back(static_cast<double>(packed.data_as<T>()[i]));
    }
  });
  return result;
}
inline double value(const Tensor& t) { return values(t).at(0); }

inline Tensor sum(const Tensor& t) { return Sum::call(t, std::nullopt, false, std::nullopt); }

}  // namespace eg::testing
