#include "ops/random/fill.h"

#include <limits>

#include "runtime/accelerator.h"

namespace eg {

bool draws_itself(Device device) { return !device.is_cpu() && accelerator(device).draws(); }

bool draws_for_each(const Tensor& t) {
  return draws_itself(t.device()) && t.dtype() != DType::kFloat64 && t.numel() > 0;
}

PhiloxPosition next_numbers(std::int64_t count) {
  return active_generator().draw_on_device((count + 3) / 4);
}

void draw_on_device(const Tensor& t, const DeviceDraw& draw) {
  const std::int64_t count = t.numel();
  if (count == 0) return;
  const bool is_dense = is_non_overlapping_and_dense(t.shape(), t.strides());
  const Tensor drawn = is_dense ? t : Tensor::empty(t.shape(), t.dtype(), t.device());
  run(kernel::DrawRandom{draw.kind, count, next_numbers(count), draw.a, draw.b, drawn.memory()});
  if (!is_dense) copy_data(t, drawn);
}

std::optional<DeviceDraw> integers_on_device(std::int64_t low, std::int64_t high, DType dtype) {
  // Integers that floats represent exactly, and others that have 32 bits.
  const std::int64_t most = is_floating(dtype)
                                ? std::int64_t{1} << 24
                                : std::int64_t{std::numeric_limits<std::int32_t>::max()};
  const std::int64_t least = is_floating(dtype) ? -most : -most - 1;
  if (low < least || low >= high || high - 1 > most) return std::nullopt;
  const auto range = static_cast<double>(high - low);
  return DeviceDraw{kernel::RandomKind::kInteger, static_cast<double>(low),
                    range == 0x1p32 ? 0 : range};
}

}  // namespace eg
