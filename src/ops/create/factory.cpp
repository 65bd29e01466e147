#include "ops/create/factory.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dispatch/factories.h"
#include "dispatch/precision.h"
#include "dispatch/transfer.h"
#include "kernels/copy.h"
#include "ops/create/copy.h"
#include "ops/shape/rearrange.h"
#include "ops/sparse/sparse_parts.h"

namespace eg {
namespace {

// A tensor whose element i is element(i). `formula` returns that function for an element type.
template <class Formula>
Tensor from_formula(std::int64_t count, DType dtype, Formula&& formula) {
  const Tensor t = Tensor::empty({count}, computed_dtype(dtype));
  visit_dtype(t.dtype(), [&]<class T>() {
    const auto element = formula.template operator()<T>();
    T* const data = t.data_as<T>();
    for (std::int64_t i = 0; i < count; ++i) data[i] = element(i);
  });
  return moved(ToDType::call(t, dtype), default_device());
}

// Throws unless the first and the last of several integers fit their dtype.
void check_ends(Scalar first, Scalar last, std::int64_t count, DType dtype) {
  if (count == 0 || !is_integral(dtype)) return;
  (void)full({}, first, dtype);
  (void)full({}, last, dtype);
}

// Numbers in equal steps on the default device, which computes them without an upload. nullopt if
// that is the CPU, or if they may have more than 32 bits.
std::optional<Tensor> ramp_on_device(std::int64_t count, double first, double step, DType dtype) {
  const double last = first + static_cast<double>(count) * step;
  const double most = is_floating(dtype) ? 0x1p24 : 0x1p31 - 1;
  const bool is_real = !is_complex(dtype) && !is_stored(dtype);
  if (default_device().is_cpu() || !is_real || count == 0 || std::abs(first) > most ||
      std::abs(last) > most)
    return std::nullopt;
  Tensor t = Tensor::empty({count}, dtype, default_device());
  run(kernel::Ramp{count, first, step, t.memory()});
  return t;
}

Tensor arange_of_integers(std::int64_t start, std::int64_t end, std::int64_t step, DType dtype) {
  const CheckedInt last = CheckedInt(end) - start + step - (step > 0 ? 1 : -1);
  const std::int64_t count = last.value() / step;
  check_ends(start, start + (count - 1) * step, count, dtype);
  if (const auto ramp =
          ramp_on_device(count, static_cast<double>(start), static_cast<double>(step), dtype))
    return *ramp;
  return from_formula(count, dtype, [=]<class T>() {
    return [=](std::int64_t i) { return static_cast<T>(start + i * step); };
  });
}

Tensor arange_of_reals(double start, double end, double step, DType dtype) {
  const double count = std::ceil((end - start) / step);
  check(std::isfinite(start) && std::isfinite(end), ErrorCode::kInvalidArgument, "arange",
        "start and end must be finite, got ", start, " and ", end, '.');
  check(count >= 0 && count <= 0x1p53, ErrorCode::kInvalidArgument, "arange",
        "cannot count the elements from ", start, " to ", end, " by ", step, '.');
  check_ends(start, start + (count - 1) * step, static_cast<std::int64_t>(count), dtype);
  if (const auto ramp = ramp_on_device(static_cast<std::int64_t>(count), start, step, dtype))
    return *ramp;
  return from_formula(static_cast<std::int64_t>(count), dtype, [=]<class T>() {
    return [=](std::int64_t i) { return Scalar(start + static_cast<double>(i) * step).to<T>(); };
  });
}

// float32 numbers from `first` to `last` on the default device, which computes them without an
// upload; each half is counted from its end. nullopt for other dtypes and on the CPU.
std::optional<Tensor> linspace_on_device(float first, float last, std::int64_t steps, DType dtype) {
  const float width = (last - first) / static_cast<float>(steps - 1);
  if (default_device().is_cpu() || dtype != DType::kFloat32 || steps < 2 || steps > 0x1000000 ||
      !std::isfinite(width))
    return std::nullopt;
  const std::int64_t half = steps / 2;
  Tensor result = Tensor::empty({steps}, dtype, default_device());
  const Tensor from_end = Tensor::empty({steps - half}, dtype, default_device());
  run(kernel::Ramp{half, first, width, result.memory()});
  run(kernel::Ramp{steps - half, last, -width, from_end.memory()});
  copy_data(result.alias({steps - half}, {1}, half), Flip::call(from_end, {0}));
  return result;
}

}  // namespace

Tensor Zeros::call(const Dims& size, std::optional<DType> dtype) {
  return full(size, 0, dtype.value_or(default_dtype()), default_device());
}

Tensor Ones::call(const Dims& size, std::optional<DType> dtype) {
  return full(size, 1, dtype.value_or(default_dtype()), default_device());
}

Tensor Full::call(const Dims& size, Scalar fill_value, std::optional<DType> dtype) {
  const DType own = fill_value.is_float() ? default_dtype() : fill_value.dtype();
  return full(size, fill_value, dtype.value_or(own), default_device());
}

Tensor Empty::call(const Dims& size, std::optional<DType> dtype) {
  return Tensor::empty(size, dtype.value_or(default_dtype()), default_device());
}

Tensor Arange::call(Scalar start, std::optional<Scalar> end, Scalar step,
                    std::optional<DType> dtype) {
  if (!end.has_value()) return call(0, start, step, dtype);
  const bool any_float = start.is_float() || end->is_float() || step.is_float();
  const double distance = end->to<double>() - start.to<double>();
  const auto width = step.to<double>();
  check(width != 0, ErrorCode::kInvalidArgument, doc.name, "step must be nonzero.");
  check(std::isnan(distance) || distance == 0 || (distance > 0) == (width > 0),
        ErrorCode::kInvalidArgument, doc.name, "step must be ",
        distance > 0 ? "positive" : "negative", " to get from ", start.to<double>(), " to ",
        end->to<double>(), ", got ", width, '.');
  const DType result = dtype.value_or(any_float ? default_dtype() : DType::kInt64);
  if (any_float) return arange_of_reals(start.to<double>(), end->to<double>(), width, result);
  return arange_of_integers(start.to<std::int64_t>(), end->to<std::int64_t>(),
                            step.to<std::int64_t>(), result);
}

Tensor Linspace::call(double start, double end, std::int64_t steps, std::optional<DType> dtype) {
  check(steps >= 0, ErrorCode::kInvalidArgument, doc.name, "steps must not be negative, got ",
        steps, '.');
  const DType wanted = dtype.value_or(default_dtype());
  check_ends(start, steps == 1 ? start : end, steps, wanted);
  if (const auto computed =
          linspace_on_device(static_cast<float>(start), static_cast<float>(end), steps, wanted))
    return *computed;
  return from_formula(steps, wanted, [=]<class T>() {
    // Counted from the nearer end, in the precision of the result, so that both ends are exact.
    using Real = std::conditional_t<std::is_floating_point_v<T>, T, double>;
    const auto first = static_cast<Real>(start);
    // With one step the end is ignored.
    const auto last = static_cast<Real>(steps == 1 ? start : end);
    const Real width = steps == 1 ? Real{0} : (last - first) / static_cast<Real>(steps - 1);
    return [=](std::int64_t i) {
      const Real value = i < steps / 2 ? first + width * static_cast<Real>(i)
                                       : last - width * static_cast<Real>(steps - 1 - i);
      return Scalar(static_cast<double>(value)).to<T>();
    };
  });
}

Tensor Eye::call(std::int64_t n, std::optional<std::int64_t> m, std::optional<DType> dtype) {
  const std::int64_t columns = m.value_or(n);
  check(n >= 0, ErrorCode::kInvalidArgument, doc.name, "n must not be negative, got ", n, '.');
  check(columns >= 0, ErrorCode::kInvalidArgument, doc.name, "m must not be negative, got ",
        columns, '.');
  Tensor t = full({n, columns}, 0, dtype.value_or(default_dtype()), default_device());
  const std::int64_t length = std::min(n, columns);
  copy_data(t.alias({length}, {columns + 1}, 0), full({}, 1, t.dtype(), t.device()));
  return t;
}

Tensor ZerosLike::call(const Tensor& input, std::optional<DType> dtype) {
  if (input.is_sparse()) return sparse_zeros_like(input, dtype.value_or(input.dtype()));
  return FullLike::call(input, 0, dtype);
}

Tensor OnesLike::call(const Tensor& input, std::optional<DType> dtype) {
  return FullLike::call(input, 1, dtype);
}

Tensor FullLike::call(const Tensor& input, Scalar fill_value, std::optional<DType> dtype) {
  Tensor t = EmptyLike::call(input, dtype);
  fill_dense(t, fill_value);
  return t;
}

Tensor EmptyLike::call(const Tensor& input, std::optional<DType> dtype) {
  if (input.is_sparse()) return ZerosLike::call(input, dtype);
  return empty_with_layout_of(input, dtype.value_or(input.dtype()));
}

}  // namespace eg
