#pragma once

// Writes random numbers into tensors; shared by the random ops.
//
// A device may draw numbers itself (Accelerator::draws). Ops without a DeviceDraw are drawn on the
// host for every device.

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>

#include "dispatch/factories.h"
#include "dispatch/record.h"
#include "dispatch/transfer.h"
#include "kernels/random.h"
#include "runtime/random.h"
#include "tensor/tensor.h"

namespace eg {

/// The elements of a tensor that is dense and on the host, in memory order.
template <class T>
std::span<T> elements(const Tensor& t) {
  return {t.data_as<T>(), static_cast<std::size_t>(t.numel())};
}

/// What a device draws instead of a fill.
struct DeviceDraw {
  kernel::RandomKind kind;
  double a = 0;
  double b = 0;
};

/// Whether the device of a tensor draws random numbers itself.
bool draws_itself(Device device);
/// Whether its device draws for each element of a tensor of real numbers, in float32.
bool draws_for_each(const Tensor& t);
/// The position from which a device draws `count` numbers.
PhiloxPosition next_numbers(std::int64_t count);
/// Sets the elements of a tensor to numbers that its device draws, in memory order.
void draw_on_device(const Tensor& t, const DeviceDraw& draw);
/// The draw of integers in [low, high) in a tensor of this dtype, if devices have it.
std::optional<DeviceDraw> integers_on_device(std::int64_t low, std::int64_t high, DType dtype);

/// Calls `fill` on all elements in memory order, the order in which PyTorch draws them. If the
/// tensor is not dense or not on the host, a temporary is filled and copied. A device that draws
/// itself draws `on_device` instead, if there is one.
template <class T, class Fill>
void fill_elements(const Tensor& t, const std::optional<DeviceDraw>& on_device, Fill&& fill) {
  if (on_device && draws_itself(t.device())) {
    fill(std::span<T>());  // checks the arguments
    return draw_on_device(t, *on_device);
  }
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
