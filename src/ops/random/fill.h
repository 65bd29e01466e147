#pragma once

// Writes random numbers into tensors; shared by the random ops.

#include <algorithm>
#include <mutex>
#include <span>

#include "dispatch/factories.h"
#include "dispatch/record.h"
#include "dispatch/transfer.h"
#include "runtime/random.h"
#include "tensor/tensor.h"

namespace eg {

/// The elements of a tensor that is dense and on the host, in memory order.
template <class T>
std::span<T> elements(const Tensor& t) {
  return {t.data_as<T>(), static_cast<std::size_t>(t.numel())};
}

/// Calls `fill` on all elements in memory order, the order in which PyTorch draws them. If the
/// tensor is not dense or not on the host, a temporary is filled and copied.
template <class T, class Fill>
void fill_elements(const Tensor& t, Fill&& fill) {
  const bool is_dense = is_non_overlapping_and_dense(t.shape(), t.strides());
  if (is_dense && t.device().is_cpu()) {
    fill(elements<T>(t));
    return;
  }
  Tensor drawn = Tensor::empty(t.shape(), t.dtype());
  if (is_dense) drawn = drawn.alias(t.shape(), t.strides(), 0);
  fill(elements<T>(drawn));
  copy_data(t, drawn);
}

/// Changes `input` by calling `write`, recorded as `Op`.
template <class Op, class Write>
Tensor draw_in_place(const Tensor& input, Write&& write) {
  return change_in_place<Op>(input, std::span<const Tensor>(&input, 1), {}, write);
}

/// The values of a tensor on any device, packed on the host.
inline Tensor host_values(const Tensor& t) { return packed(on_host(t)); }

/// A tensor of the shape and dtype of `input` whose elements are draw(element, generator), drawn in
/// row-major order.
template <class T, class Draw>
Tensor draw_each(const Tensor& input, Draw draw) {
  const Tensor values = host_values(input);
  const Tensor result = Tensor::empty(input.shape(), input.dtype());
  Generator& generator = active_generator();
  const std::lock_guard lock(generator.mutex());
  std::ranges::transform(elements<T>(values), elements<T>(result).begin(),
                         [&](T value) { return draw(value, generator); });
  return moved(result, input.device());
}

}  // namespace eg
