#include "ops/random/samples.h"

#include <cmath>

#include "dispatch/elementwise.h"
#include "dispatch/precision.h"
#include "dispatch/var.h"
#include "formulas/activation.h"
#include "formulas/arithmetic.h"
#include "ops/create/copy.h"
#include "ops/random/fill.h"
#include "ops/random/random.h"
#include "ops/reduce/minmax.h"
#include "ops/shape/view.h"
#include "runtime/random_samples.h"

namespace eg {
namespace {

// The slopes of rrelu() in training: random up to zero, 1 above.
template <class T>
Tensor random_slopes(const Tensor& input, double lower, double upper) {
  if (draws_itself(input.device())) {
    const Tensor slopes = Tensor::empty(input.shape(), input.dtype(), input.device());
    draw_on_device(slopes, {kernel::RandomKind::kUniform, lower, upper});
    return where(input <= 0, slopes, 1);
  }
  return draw_each<T>(input, [=](T x, Generator& generator) {
    return x <= 0 ? static_cast<T>(draw_uniform(generator) * (upper - lower) + lower) : T{1};
  });
}

void check_deviations(const Tensor& std) {
  if (std.numel() == 0) return;
  const Tensor least = Amin::call(ToDType::call(detach(std), computed_dtype(std.dtype())));
  check(is_true(least >= 0), ErrorCode::kInvalidArgument, Normal::doc.name,
        "std must not be negative.");
}

double number_of(const Tensor& t) { return *ToDType::call(t, DType::kFloat64).data_as<double>(); }

// The draw of geometric_(p). With smaller rates than this, numbers of trials would not fit into 32
// bits.
std::optional<DeviceDraw> trials_on_device(double p) {
  const double rate = -std::log1p(-p);
  if (!(rate > 0x1p-26)) return std::nullopt;
  return DeviceDraw{kernel::RandomKind::kGeometric, rate};
}

Tensor normal_of_numbers(const Tensor& mean, const Tensor& std, const std::optional<Dims>& size,
                         std::optional<DType> dtype) {
  check(size.has_value(), ErrorCode::kInvalidArgument, Normal::doc.name,
        "size is required when mean and std are numbers.");
  const DType wanted = dtype.value_or(default_dtype());
  const Tensor result = Tensor::empty(*size, wanted, default_device());
  return NormalInPlace::call(result, number_of(mean), number_of(std));
}

Tensor poisson_on_device(const Tensor& input) {
  const Tensor rates = packed(ToDType::call(detach(input), DType::kFloat32));
  const Tensor result = Tensor::empty(input.shape(), DType::kFloat32, input.device());
  const std::int64_t count = input.numel();
  run(kernel::DrawPoisson{Poisson::doc.name, count, next_numbers(4 * count), rates.memory(),
                          result.memory()});
  return ToDType::call(result, input.dtype());
}

}  // namespace

Tensor Poisson::call(const Tensor& input) {
  const Tensor result = visit_floating(input.dtype(), doc.name, [&]<class T>() {
    if (draws_for_each(input)) return poisson_on_device(input);
    const Tensor rates = host_values(input);
    for (const T rate : elements<T>(rates)) {
      check(rate >= 0, ErrorCode::kInvalidArgument, doc.name, "rates must not be negative, got ",
            rate, '.');
    }
    return draw_each<T>(input, [](T rate, Generator& generator) {
      return static_cast<T>(draw_poisson(static_cast<double>(rate), generator));
    });
  });
  return record<Poisson>(result, {input}, {});
}

Tensor Binomial::call(const Tensor& count, const Tensor& prob) {
  check(count.dtype() == prob.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "count and prob must have the same dtype, got ", count.dtype(), " and ", prob.dtype(), '.');
  check(is_expandable_to(prob.shape(), count.shape()), ErrorCode::kShapeMismatch, doc.name,
        "expected prob to broadcast to the shape of count, ", count.shape(), ", got ", prob.shape(),
        '.');
  const Tensor chances = host_values(Expand::call(detach(prob), Dims(count.shape())));
  const Tensor result = visit_floating(count.dtype(), doc.name, [&]<class T>() {
    const T* chance = elements<T>(chances).data();
    return draw_each<T>(count, [&](T trials, Generator& generator) {
      return draw_binomial(trials, *chance++, generator);
    });
  });
  return record<Binomial>(result, {count, prob}, {});
}

GradList Binomial::backward(const Backward<Binomial>&) {
  fail(ErrorCode::kNotDifferentiable, "[binomial] the samples are not differentiable.");
}

Tensor Normal::call(const Operand& mean, const Operand& std, const std::optional<Dims>& size,
                    std::optional<DType> dtype) {
  const Tensor& m = mean.tensor();
  const Tensor& s = std.tensor();
  if (m.is_wrapped_number() && s.is_wrapped_number()) return normal_of_numbers(m, s, size, dtype);
  check(!size.has_value() && !dtype.has_value(), ErrorCode::kInvalidArgument, doc.name,
        "a tensor mean or std determines size and dtype: omit these.");
  const Tensor& like = m.is_wrapped_number() ? s : m;
  const Shape shape = broadcast_shapes(m.shape(), s.shape(), doc.name);
  const Tensor result = Tensor::empty(shape, like.dtype(), like.device());
  const double spread = s.is_wrapped_number() ? number_of(s) : 1;
  if (!s.is_wrapped_number()) check_deviations(s);
  NormalInPlace::call(result, 0, spread);
  if (!s.is_wrapped_number()) call_in_place<op::Mul>(result, detach(s));
  call_in_place<op::Add>(result, detach(m));
  return record<Normal>(result, {m, s}, {});
}

GradList Normal::backward(const Backward<Normal>& b) {
  const Tensor zeros = full_like(b.grad(), 0);
  return {zeros, zeros};
}

Tensor Rrelu::call(const Tensor& input, double lower, double upper, bool training) {
  check(lower <= upper, ErrorCode::kInvalidArgument, doc.name,
        "lower must not be greater than upper, got ", lower, " and ", upper, '.');
  if (!training) return call_with<op::LeakyRelu>({.negative_slope = (lower + upper) / 2}, input);
  const Tensor slopes = visit_floating(input.dtype(), doc.name, [&]<class T>() {
    return random_slopes<T>(detach(input), lower, upper);
  });
  return input * slopes;
}

Tensor GeometricInPlace::call(const Tensor& input, double p) {
  return visit_dtype(input.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      fail(ErrorCode::kDtypeMismatch, "[geometric_] not implemented for bool.");
      return input;
    } else {
      return draw_in_place<GeometricInPlace>(input, [&] {
        fill_elements<T>(input, trials_on_device(p),
                         [&](std::span<T> out) { fill_geometric(out, p); });
      });
    }
  });
}

Tensor CauchyInPlace::call(const Tensor& input, double median, double sigma) {
  return visit_floating(input.dtype(), doc.name, [&]<class T>() {
    return draw_in_place<CauchyInPlace>(input, [&] {
      fill_elements<T>(input, DeviceDraw{kernel::RandomKind::kCauchy, median, sigma},
                       [&](std::span<T> out) { fill_cauchy(out, median, sigma); });
    });
  });
}

Tensor LogNormalInPlace::call(const Tensor& input, double mean, double std) {
  return visit_floating(input.dtype(), doc.name, [&]<class T>() {
    return draw_in_place<LogNormalInPlace>(input, [&] {
      fill_elements<T>(input, DeviceDraw{kernel::RandomKind::kLogNormal, mean, std},
                       [&](std::span<T> out) { fill_log_normal(out, mean, std); });
    });
  });
}

}  // namespace eg
