#include "ops/reduce/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/infinity.h"
#include "base/warning.h"
#include "dispatch/factories.h"
#include "dispatch/precision.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

double effective_correction(double correction, std::optional<bool> unbiased) {
  if (!unbiased.has_value()) return correction;
  return *unbiased ? 1 : 0;
}

double degrees_of_freedom(const ReducedDims& reduced, const Shape& shape, double correction) {
  return static_cast<double>(reduced.count(shape)) - correction;
}

Tensor mean_in(DType compute, const Tensor& input, const ReducedDims& reduced) {
  const auto count = static_cast<double>(reduced.count(input.shape()));
  return run_reduction({.fold = kernel::Fold::kSum, .compute = compute, .divisor = count}, input,
                       reduced);
}

// A second pass around the mean: subtracting sums of squares would lose digits to cancellation.
Tensor variance_around(const Tensor& mean, const Tensor& input, const ReducedDims& reduced,
                       double correction, bool root) {
  return run_reduction(
      {.fold = kernel::Fold::kSumCenteredSquares,
       .compute = mean.dtype(),
       .divisor = std::max(0.0, degrees_of_freedom(reduced, input.shape(), correction)),
       .root = root},
      input, reduced, mean);
}

Tensor variance_in(DType compute, const Tensor& input, const ReducedDims& reduced,
                   double correction, bool root) {
  return variance_around(mean_in(compute, input, reduced), input, reduced, correction, root);
}

// The limits of a float32 variance, or of its root: below, or with an infinite result, its squares
// may have left the range of float32; with a larger mean, the rounding of that counts.
constexpr float kLeastVariance = 1e-30F;
constexpr float kLeastDeviation = 1e-15F;
constexpr float kLargestMean = 256;

// Whether some result is beyond the limits. Not known while recording, because the answer may
// differ in each replay.
bool may_be_inexact(const Tensor& result, const Tensor& mean, bool root) {
  if (recording() != nullptr) return true;
  const float least = root ? kLeastDeviation : kLeastVariance;
  const float* const values = result.data_as<float>();
  const float* const means = mean.data_as<float>();
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    const float deviation = root ? values[i] : std::sqrt(values[i]);
    const bool is_exact = values[i] > least && std::isfinite(values[i]) &&
                          std::abs(means[i]) <= deviation * kLargestMean;
    if (!is_exact) return true;
  }
  return false;
}

// Replaces the results that are beyond the limits.
Tensor with_exact(const Var& result, const Var& mean, const Tensor& exact, bool root) {
  const Var deviation = root ? result : sqrt(result);
  const Var is_exact = (result > (root ? kLeastDeviation : kLeastVariance)) &
                       (result - result == 0) & (abs(mean) <= deviation * kLargestMean);
  return where(is_exact, result, ToDType::call(exact, DType::kFloat32));
}

Tensor run_variance(const Tensor& input, const ReducedDims& reduced, double correction, bool root,
                    std::string_view op) {
  check(is_floating(input.dtype()), ErrorCode::kDtypeMismatch, op,
        "expected floating-point or complex numbers, got ", input.dtype(), '.');
  if (degrees_of_freedom(reduced, input.shape(), correction) <= 0) {
    static WarnOnce degrees;
    degrees.warn(
        "std() and var(): the correction should be less than the number of elements, so that at "
        "least one degree of freedom is left.");
  }
  const DType dtype = input.dtype();
  const Tensor mean = mean_in(dtype, input, reduced);
  // A device would have to be waited for to see whether the mean is large. Once it is subtracted,
  // the mean of what is left is small.
  if (dtype == DType::kFloat32 && !input.device().is_cpu()) {
    const Var centered = detach(input) - unreduce(mean, reduced, input.shape());
    return variance_in(dtype, centered, reduced, correction, root);
  }
  Tensor result = variance_around(mean, input, reduced, correction, root);
  if (dtype != DType::kFloat32 || !may_be_inexact(result, mean, root)) return result;
  // PyTorch always sums in float64. Here that is only done where it matters, because the conversion
  // costs time.
  return with_exact(result, mean, variance_in(DType::kFloat64, input, reduced, correction, root),
                    root);
}

Tensor variance_gradient(const Var& g, const Tensor& x, const Variance::Attrs& attrs) {
  const double freedom = degrees_of_freedom(attrs.reduced, x.shape(), attrs.correction);
  const Var centered = x - Mean::call(x, attrs.reduced.dims, true);
  if (freedom <= 0 && attrs.is_of_all) {
    const Var slope = where(centered == 0, std::numeric_limits<double>::quiet_NaN(), kInfinity);
    return unreduce(g, attrs.reduced, x.shape()) * slope;
  }
  const Var scaled = g * (2 / freedom);
  return unreduce(scaled, attrs.reduced, x.shape()) * centered;
}

// For divisors whose quotient is not used where they are zero. A quotient by zero would be NaN in
// its derivatives, of either mode, even where it is not selected.
Var nonzero(const Var& x) { return where(x == 0, 1, x); }

// The reduction that computes the p-norm, if there is a fold for this p.
std::optional<kernel::Reduction> norm_reduction(double p, DType dtype) {
  if (p == 0) return kernel::Reduction{.fold = kernel::Fold::kCountNonzero, .compute = dtype};
  if (p == 1) return kernel::Reduction{.fold = kernel::Fold::kSumAbs, .compute = dtype};
  if (p == 2)
    return kernel::Reduction{.fold = kernel::Fold::kSumSquares, .compute = dtype, .root = true};
  if (p == kInfinity) return kernel::Reduction{.fold = kernel::Fold::kMaxAbs, .compute = dtype};
  if (p == -kInfinity) return kernel::Reduction{.fold = kernel::Fold::kMinAbs, .compute = dtype};
  return std::nullopt;
}

// Shifted by the largest real part where that is finite.
Tensor complex_logsumexp(const Tensor& input, const Dims& dim, bool keepdim) {
  const Var largest = Amax::call(Real::call(detach(input)), dim, true);
  const Var shift = where(abs(largest) == kInfinity, 0, largest);
  const Var sum = Sum::call(exp(input - shift), dim, keepdim);
  const ReducedDims reduced = reduced_dims(dim, keepdim, input.ndim(), Logsumexp::doc.name);
  return log(sum) + Reshape::call(shift, reduced.result_shape(input.shape()));
}

}  // namespace

Tensor Variance::call(const Tensor& input, const std::optional<Dims>& dim, double correction,
                      bool keepdim, std::optional<bool> unbiased) {
  if (is_complex(input.dtype())) {
    const Var of_real = call(Real::call(input), dim, correction, keepdim, unbiased);
    return of_real + call(Imag::call(input), dim, correction, keepdim, unbiased);
  }
  const Attrs attrs{reduced_dims(dim, keepdim, input.ndim(), doc.name),
                    effective_correction(correction, unbiased),
                    !dim.has_value() || input.ndim() == 0};
  const Tensor result = run_variance(input, attrs.reduced, attrs.correction, false, doc.name);
  return record<Variance>(result, {input}, attrs, {{input}});
}

GradList Variance::backward(const Backward<Variance>& b) {
  return {variance_gradient(b.grad(), b.saved(0), b.attrs())};
}

Tensor Std::call(const Tensor& input, const std::optional<Dims>& dim, double correction,
                 bool keepdim, std::optional<bool> unbiased) {
  if (is_complex(input.dtype())) {
    return sqrt(Variance::call(input, dim, correction, keepdim, unbiased));
  }
  const Attrs attrs{reduced_dims(dim, keepdim, input.ndim(), doc.name),
                    effective_correction(correction, unbiased),
                    !dim.has_value() || input.ndim() == 0};
  const Tensor result = run_variance(input, attrs.reduced, attrs.correction, true, doc.name);
  return record<Std>(result, {input}, attrs, {{input}, {result, true}});
}

GradList Std::backward(const Backward<Std>& b) {
  const Var std = b.saved(1);
  const Var grad_variance = where(std == 0, 0, b.grad() / (nonzero(std) * 2));
  return {variance_gradient(grad_variance, b.saved(0), b.attrs())};
}

Tensor Norm::call(const Tensor& input, double p, const std::optional<Dims>& dim, bool keepdim) {
  if (is_complex(input.dtype())) return call(abs(input), p, dim, keepdim);
  check(is_floating(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected floating-point or complex numbers, got ", input.dtype(), '.');
  const ReducedDims reduced = reduced_dims(dim, keepdim, input.ndim(), doc.name);
  check(reduced.count(input.shape()) != 0 || (p >= 0 && p != kInfinity),
        ErrorCode::kInvalidArgument, doc.name, "the norm of no elements is not defined for p = ", p,
        '.');
  Tensor result;
  if (const auto reduction = norm_reduction(p, input.dtype()); reduction.has_value()) {
    result = run_reduction(*reduction, input, reduced);
  } else {
    const Tensor powers = pow(abs(detach(input)), p);
    const Tensor sum =
        run_reduction({.fold = kernel::Fold::kSum, .compute = input.dtype()}, powers, reduced);
    result = pow(sum, 1 / p);
  }
  return record<Norm>(result, {input}, {p, reduced}, {{input}, {result, true}});
}

GradList Norm::backward(const Backward<Norm>& b) {
  return {norm_gradient(b.grad(), b.saved(0), b.saved(1), b.attrs())};
}

// The norm is not differentiable at zero; its subgradient of least length there is zero, and so are
// the derivatives of that.
Tensor norm_gradient(const Var& g, const Tensor& input, const Var& norm, const Norm::Attrs& attrs) {
  const auto& [p, reduced] = attrs;
  const Var x = input;
  const auto spread = [&](const Var& v) { return unreduce(v, reduced, input.shape()); };
  if (p == 0) return {};
  if (p == 1) return sign(x) * spread(g);
  if (std::isinf(p)) {
    const Var mask = (abs(x) == spread(norm)) | (x != x);
    const Var ties = Sum::call(mask, reduced.dims, reduced.keepdim);
    return sign(x) * (spread(g / ties) * mask);
  }
  // Where the vector is zero, the gradient is multiplied by 0, so that NaN and infinity propagate.
  if (p == 2) return x * spread(where(norm == 0, g * 0, g / nonzero(norm)));
  const Var scale = where(norm == 0, 0, g * pow(nonzero(norm), 1 - p));
  // Below 1 the slope is infinite where an element is zero, and counts as zero too.
  const Var size = p < 1 ? nonzero(abs(x)) : where(spread(norm == 0), 1, abs(x));
  return sign(x) * pow(size, p - 1) * spread(scale);
}

Tensor Logsumexp::call(const Tensor& input, const Dims& dim, bool keepdim) {
  if (is_integral(input.dtype()))
    return call(ToDType::call(input, computed_dtype(default_dtype())), dim, keepdim);
  if (is_complex(input.dtype())) return complex_logsumexp(input, dim, keepdim);
  const ReducedDims reduced = reduced_dims(dim, keepdim, input.ndim(), doc.name);
  const Var largest =
      run_reduction({.fold = kernel::Fold::kMax, .compute = input.dtype()}, input, reduced);
  // Infinity minus infinity would be NaN.
  const Var shift = where(abs(largest) == kInfinity, 0, largest);
  const Tensor sum = run_reduction({.fold = kernel::Fold::kSumExp, .compute = input.dtype()}, input,
                                   reduced, shift);
  const Tensor result = log(sum) + shift;
  return record<Logsumexp>(result, {input}, {reduced}, {{input}, {result, true}});
}

GradList Logsumexp::backward(const Backward<Logsumexp>& b) {
  const ReducedDims& reduced = b.attrs().reduced;
  const Tensor x = b.saved(0);
  const Var softmax = exp(x - unreduce(b.saved(1), reduced, x.shape()));
  return {unreduce(b.grad(), reduced, x.shape()) * softmax};
}

}  // namespace eg
