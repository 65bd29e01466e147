#include "ops/complex/fft.h"

#include <cmath>

#include "dispatch/factories.h"
#include "dispatch/precision.h"
#include "dispatch/var.h"
#include "kernels/fft.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/nn/softmax_rows.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"

namespace eg {
namespace {

// The recorded transform of all rows along a dimension.
struct Transform {
  static constexpr std::string_view node_name = "FftC2CBackward0";
  struct Attrs {
    std::int64_t dim;
    bool inverse;
    double scale;
  };
  static Tensor call(const Tensor& input, const Attrs& attrs) {
    const Tensor result = Tensor::empty(input.shape(), input.dtype(), input.device());
    copy_data(result, input);
    run(kernel::Fft{rows_along(result, attrs.dim), attrs.inverse, attrs.scale, result.memory()});
    return record<Transform>(result, {input}, attrs);
  }
  static GradList backward(const Backward<Transform>& b) {
    Attrs attrs = b.attrs();
    attrs.inverse = !attrs.inverse;
    return {call(b.grad(), attrs)};
  }
};

// The first n elements along dim, followed by zeros if there are fewer.
Tensor resized(const Tensor& input, std::int64_t dim, std::int64_t n) {
  const std::int64_t size = input.size(dim);
  if (n == size) return input;
  if (n < size) return Narrow::call(input, dim, 0, n);
  Shape rest = input.shape();
  rest[static_cast<std::size_t>(dim)] = n - size;
  return Cat::call({input, full(rest, 0, input.dtype(), input.device())}, dim);
}

struct HalfAttrs {
  std::int64_t dim;
  std::int64_t size;
  double scale;
};

// Multiplies half a spectrum along dim by `factor`, except for the two ends, which have no mirror
// image in the other half.
Tensor times_between_ends(const Tensor& half, const HalfAttrs& attrs, double factor) {
  Shape shape(half.shape().size(), 1);
  const Tensor end = full(shape, 1, half.dtype(), half.device());
  shape[static_cast<std::size_t>(attrs.dim)] = attrs.size / 2 - 1;
  const Tensor between = full(shape, factor, half.dtype(), half.device());
  return half * Cat::call({end, between, end}, attrs.dim);
}

// The recorded transform of real rows of even size. It computes the first half of the spectrum,
// which the second half mirrors.
struct RealTransform {
  static constexpr std::string_view node_name = "FftR2CBackward0";
  using Attrs = HalfAttrs;
  static Tensor call(const Tensor& input, const Attrs& attrs);
  static GradList backward(const Backward<RealTransform>& b);
};

// The inverse of RealTransform, except for the scale.
struct InverseRealTransform {
  static constexpr std::string_view node_name = "FftC2RBackward0";
  using Attrs = HalfAttrs;
  static Tensor call(const Tensor& input, const Attrs& attrs);
  static GradList backward(const Backward<InverseRealTransform>& b);
};

Tensor sized(const Tensor& like, std::int64_t dim, std::int64_t size, DType dtype) {
  Shape shape = like.shape();
  shape[static_cast<std::size_t>(dim)] = size;
  return Tensor::empty(shape, dtype, like.device());
}

Tensor RealTransform::call(const Tensor& input, const Attrs& attrs) {
  const Tensor x = packed(input);
  const Tensor result = sized(x, attrs.dim, attrs.size / 2 + 1, complex_dtype(x.dtype()));
  run(kernel::RealFft{rows_along(x, attrs.dim), attrs.scale, x.memory(), result.memory()});
  return record<RealTransform>(result, {input}, attrs);
}

GradList RealTransform::backward(const Backward<RealTransform>& b) {
  return {InverseRealTransform::call(times_between_ends(b.grad(), b.attrs(), 0.5), b.attrs())};
}

Tensor InverseRealTransform::call(const Tensor& input, const Attrs& attrs) {
  const Tensor x = packed(input);
  const Tensor result = sized(x, attrs.dim, attrs.size, real_dtype(x.dtype()));
  run(kernel::InverseRealFft{rows_along(result, attrs.dim), attrs.scale, x.memory(),
                             result.memory()});
  return record<InverseRealTransform>(result, {input}, attrs);
}

GradList InverseRealTransform::backward(const Backward<InverseRealTransform>& b) {
  return {times_between_ends(RealTransform::call(b.grad(), b.attrs()), b.attrs(), 2)};
}

std::int64_t checked_dim(const Tensor& input, std::int64_t dim, std::string_view op) {
  check(input.ndim() > 0, ErrorCode::kIndexOutOfRange, op, "a 0-dim tensor has no dimension ", dim,
        '.');
  return wrap_dim(dim, input.ndim(), op);
}

void check_size(std::int64_t n, std::string_view op) {
  check(n >= 1, ErrorCode::kInvalidArgument, op, "the size n must be at least 1, got ", n, '.');
}

// The dtype of the parts of the result for a real input.
DType dtype_of_parts(const Tensor& input) {
  return is_floating(input.dtype()) ? input.dtype() : default_dtype();
}

Tensor to_complex(const Tensor& input) {
  if (is_complex(input.dtype())) return input;
  return ToDType::call(input, complex_dtype(dtype_of_parts(input)));
}

double scale_of(FftNorm norm, std::int64_t n, bool inverse) {
  const auto size = static_cast<double>(n);
  if (norm == FftNorm::kOrtho) return 1 / std::sqrt(size);
  return (norm == FftNorm::kBackward) == inverse ? 1 / size : 1;
}

Tensor transform(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim, FftNorm norm,
                 bool inverse, std::string_view op) {
  const std::int64_t d = checked_dim(input, dim, op);
  const std::int64_t size = n.value_or(input.size(d));
  check_size(size, op);
  return Transform::call(resized(to_complex(input), d, size),
                         {d, inverse, scale_of(norm, size, inverse)});
}

}  // namespace

Tensor Fft::call(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
                 FftNorm norm) {
  return transform(input, n, dim, norm, false, doc.name);
}

Tensor Ifft::call(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
                  FftNorm norm) {
  return transform(input, n, dim, norm, true, doc.name);
}

Tensor Rfft::call(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
                  FftNorm norm) {
  check(!is_complex(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected a real input, got ", input.dtype(), '.');
  const std::int64_t d = checked_dim(input, dim, doc.name);
  const std::int64_t size = n.value_or(input.size(d));
  if (size % 2 == 0 && size > 0 && input.device().is_cpu()) {
    return RealTransform::call(resized(ToDType::call(input, dtype_of_parts(input)), d, size),
                               {d, size, scale_of(norm, size, false)});
  }
  const Tensor whole = transform(input, n, d, norm, false, doc.name);
  return Narrow::call(whole, d, 0, whole.size(d) / 2 + 1);
}

Tensor Irfft::call(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
                   FftNorm norm) {
  const std::int64_t d = checked_dim(input, dim, doc.name);
  const std::int64_t size = n.value_or(2 * (input.size(d) - 1));
  check_size(size, doc.name);
  const Tensor half = resized(to_complex(input), d, size / 2 + 1);
  if (size % 2 == 0 && half.device().is_cpu())
    return InverseRealTransform::call(half, {d, size, scale_of(norm, size, true)});
  // The frequencies above the middle are those below it, mirrored and conjugated.
  const std::int64_t mirrored = (size - 1) / 2;
  const Tensor rest = Flip::call(Conj::call(Narrow::call(half, d, 1, mirrored)), {d});
  return Real::call(transform(Cat::call({half, rest}, d), size, d, norm, true, doc.name));
}

}  // namespace eg
