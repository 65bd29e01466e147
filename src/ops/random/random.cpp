#include "ops/random/random.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

#include "autograd/grad_mode.h"
#include "dispatch/factories.h"
#include "dispatch/precision.h"
#include "dispatch/transfer.h"
#include "dispatch/var.h"
#include "kernels/dropout.h"
#include "kernels/random.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/index/order.h"
#include "ops/random/fill.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "runtime/random.h"

namespace eg {
namespace {

template <class T>
void draw_uniform(const Tensor& t, double from, double to) {
  fill_elements<T>(t, DeviceDraw{kernel::RandomKind::kUniform, from, to},
                   [&](std::span<T> out) { fill_uniform(out, from, to); });
}

template <class T>
void draw_normal(const Tensor& t, double mean, double std, bool is_contiguous) {
  const DeviceDraw on_device{kernel::RandomKind::kNormal, mean, std};
  // As in PyTorch, a contiguous tensor of 16 or more elements is drawn in a different order.
  if (is_contiguous)
    fill_elements<T>(t, on_device, [&](std::span<T> out) { fill_normal(out, mean, std); });
  else
    fill_elements<T>(t, on_device, [&](std::span<T> out) { fill_normal_singly(out, mean, std); });
}

template <class T>
void draw_bernoulli(const Tensor& t, double p) {
  fill_elements<T>(t, DeviceDraw{kernel::RandomKind::kBernoulli, p},
                   [&](std::span<T> out) { fill_bernoulli(out, p); });
}

template <class T>
void draw_integers(const Tensor& t, std::int64_t low, std::int64_t high) {
  fill_elements<T>(t, integers_on_device(low, high, t.dtype()),
                   [&](std::span<T> out) { fill_randint(out, low, high); });
}

// The range of fill_random().
template <class T>
std::optional<DeviceDraw> all_integers_on_device(DType dtype) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  if constexpr (kDigits > 32)
    return std::nullopt;
  else
    return integers_on_device(0, (std::int64_t{1} << kDigits) + (is_floating(dtype) ? 1 : 0),
                              dtype);
}

// Numbers in [0, 1) with the precision of a half-precision dtype. As in PyTorch they consist of the
// last bits that were drawn; rounding would turn some numbers into 1.
Tensor with_fewer_digits(const Tensor& drawn, DType dtype) {
  const float factor = dtype == DType::kFloat16 ? 0x1p13F : 0x1p16F;
  if (draws_itself(drawn.device())) {
    const Var scaled = drawn * factor;
    return ToDType::call(scaled - floor(scaled), dtype);
  }
  const Tensor host = on_host(drawn);
  for (float& number : elements<float>(host)) {
    number *= factor;
    number -= std::floor(number);
  }
  return moved(ToDType::call(host, dtype), drawn.device());
}

// Numbers in [0, 1) of a half-precision dtype, in the layout of `like`.
Tensor uniform_in_half(const Tensor& like) {
  const Tensor drawn = empty_with_layout_of(like, DType::kFloat32);
  draw_uniform<float>(drawn, 0, 1);
  return with_fewer_digits(drawn, like.dtype());
}

// From `low` to `high`, which are rounded first, as is the distance between them. Not inlined: that
// would put it into the core of the download.
[[gnu::noinline]] Tensor uniform_in_half(const Tensor& like, double low, double high) {
  fill_uniform(std::span<float>(), low, high);  // checks the arguments
  const Var from = full({}, low, like.dtype());
  const Var width = full({}, high, like.dtype()) - from;
  const auto wide = [](const Var& x) { return ToDType::call(x, DType::kFloat32); };
  const Var drawn = wide(uniform_in_half(like)) * wide(width) + wide(from);
  return ToDType::call(drawn, like.dtype());
}

constexpr std::int64_t kNormalBlock = 16;

// Normal numbers from blocks of 16 uniform ones, rounded after every operation.
Tensor box_muller(const Tensor& uniform, const Var& mean, const Var& std) {
  const Tensor blocks = Reshape::call(uniform, {-1, 2, kNormalBlock / 2});
  const Var radius = sqrt(log(1 - Select::call(blocks, 1, 0)) * -2);
  const Var angle = Select::call(blocks, 1, 1) * (2 * std::numbers::pi);
  const TensorList halves{radius * cos(angle), radius * sin(angle)};
  return Reshape::call(Stack::call(halves, 1) * std + mean, {-1});
}

// As in PyTorch, 16 or more contiguous numbers are computed in half precision throughout.
Tensor normal_in_half(const Tensor& like, double mean, double std) {
  const bool is_contiguous = like.is_contiguous();
  const std::int64_t count = like.numel();
  if (!is_contiguous || count < kNormalBlock || draws_itself(like.device())) {
    const Tensor wide = empty_with_layout_of(like, DType::kFloat32);
    draw_normal<float>(wide, mean, std, is_contiguous);
    return ToDType::call(wide, like.dtype());
  }
  fill_normal(std::span<float>(), mean, std);  // checks the arguments
  const Tensor center = full({}, mean, like.dtype());
  const Tensor spread = full({}, std, like.dtype());
  const Tensor uniform = Reshape::call(uniform_in_half(like), {-1});
  const std::int64_t whole = count / kNormalBlock * kNormalBlock;
  Tensor result = box_muller(Narrow::call(uniform, 0, 0, whole), center, spread);
  if (whole != count) {
    // An incomplete block has consumed its words; the last 16 elements are then drawn again.
    const Tensor again = uniform_in_half(Narrow::call(uniform, 0, 0, kNormalBlock));
    result = Cat::call(
        {Narrow::call(result, 0, 0, count - kNormalBlock), box_muller(again, center, spread)}, 0);
  }
  return Reshape::call(result, Dims(like.shape()));
}

// Forward of dropout and, when `input` is a gradient, its backward. Elements are processed in the
// memory order of the mask.
Tensor apply_mask(const Tensor& input, const Tensor& mask, double keep) {
  const Tensor result = empty_with_layout_of(mask, input.dtype());
  Tensor source = input;
  if (input.strides() != mask.strides()) {
    source = empty_with_layout_of(mask, input.dtype());
    copy_data(source, input);
  }
  run(kernel::Dropout{input.numel(), keep, source.memory(), mask.memory(), result.memory()});
  return record<Dropout>(result, {input}, {keep}, {{mask}});
}

// Dropout with a mask that the device draws.
Tensor dropout_on_device(const Tensor& input, double keep) {
  const bool is_dense = is_non_overlapping_and_dense(input.shape(), input.strides());
  const Tensor source = is_dense ? input : contiguous_copy(input);
  const Tensor mask = empty_with_layout_of(source, DType::kBool);
  const Tensor result = empty_with_layout_of(source, input.dtype());
  const std::int64_t count = input.numel();
  run(kernel::DrawDropout{count, keep, next_numbers(count), source.memory(), mask.memory(),
                          result.memory()});
  return record<Dropout>(result, {input}, {keep}, {{mask}});
}

// Sorts random words. Two of them are equal so rarely (once in 2^33 pairs) that the bias of the
// order of equal ones does not matter.
Tensor permutation_on_device(std::int64_t n, DType dtype) {
  const Tensor keys = Tensor::empty({n}, DType::kInt32, default_device());
  draw_on_device(keys, {kernel::RandomKind::kInteger});
  return ToDType::call(Argsort::call(keys), dtype);
}

// Samples with probabilities that the device has. One that is out of range gives NaN: an error at
// the call would have to wait for the device.
Tensor bernoulli_on_device(const Tensor& chances) {
  const GradModeGuard no_grad(false);
  const Tensor drawn = Tensor::empty(chances.shape(), chances.dtype(), chances.device());
  draw_on_device(drawn, {kernel::RandomKind::kUniform, 0, 1});
  const Var p = detach(chances);
  const Tensor samples = ToDType::call(drawn < p, chances.dtype());
  return where((p >= 0) & (p <= 1), samples, std::nan(""));
}

// The variances of the parts of a complex number add up to one.
constexpr double kPartDeviation = std::numbers::sqrt2 / 2;

// Fills a new tensor with uniform numbers in [0, 1).
Tensor uniform_in(const Tensor& t, std::string_view name) {
  if (is_half(t.dtype())) return uniform_in_half(t);
  const Tensor parts = is_complex(t.dtype()) ? parts_of(t) : t;
  if (is_half(parts.dtype())) {
    copy_data(parts, uniform_in_half(parts));
    return t;
  }
  visit_floating(parts.dtype(), name, [&]<class T>() { draw_uniform<T>(parts, 0, 1); });
  return t;
}

// Fills a new tensor with normal numbers.
Tensor normal_in(const Tensor& t, std::string_view name) {
  if (is_half(t.dtype())) return normal_in_half(t, 0, 1);
  const Tensor parts = is_complex(t.dtype()) ? parts_of(t) : t;
  const double std = is_complex(t.dtype()) ? kPartDeviation : 1;
  if (is_half(parts.dtype())) {
    copy_data(parts, normal_in_half(parts, 0, std));
    return t;
  }
  visit_floating(parts.dtype(), name,
                 [&]<class T>() { draw_normal<T>(parts, 0, std, t.is_contiguous()); });
  return t;
}

// Throws unless [low, high) is in the range of `dtype`, if that is a stored integer.
void check_stored_range(std::int64_t low, std::int64_t high, DType dtype, std::string_view op) {
  if (!is_stored_integer(dtype) || low >= high) return;
  check_integer_factor(op, "low", low, dtype);
  check_integer_factor(op, "high - 1", high - 1, dtype);
}

// The end of the default range of random_(), which contains only integers that the stored dtype
// represents exactly.
std::int64_t default_end(DType dtype) {
  if (is_half(dtype)) return dtype == DType::kFloat16 ? 2049 : 257;
  if (is_float8(dtype)) return dtype == DType::kFloat8E4m3fn ? 17 : 9;
  if (is_wide_unsigned(dtype)) return dtype == DType::kUInt16 ? 0x10000 : 0x100000000;
  return dtype == DType::kInt8 ? 0x80 : 0x8000;
}

std::int64_t whole(Scalar end, std::string_view name) {
  const bool is_whole = end.is_int() || (end.is_float() && end.to<double>() == 0);
  check(is_whole, ErrorCode::kInvalidArgument, RandomInPlace::doc.name, name,
        ": expected a whole number of 64 bits, got ", end.to<double>(), '.');
  return end.to<std::int64_t>();
}

}  // namespace

Tensor Rand::call(const Dims& size, std::optional<DType> dtype) {
  return uniform_in(Tensor::empty(size, dtype.value_or(default_dtype()), default_device()),
                    doc.name);
}

Tensor Randn::call(const Dims& size, std::optional<DType> dtype) {
  return normal_in(Tensor::empty(size, dtype.value_or(default_dtype()), default_device()),
                   doc.name);
}

Tensor Randint::call(std::int64_t low, const Dims& high, const std::optional<Dims>& size,
                     std::optional<DType> dtype) {
  if (!size.has_value()) return call(0, {low}, high, dtype);
  check(high.size() == 1, ErrorCode::kInvalidArgument, doc.name, "high must be a number, got ",
        high, '.');
  check(low < high[0], ErrorCode::kInvalidArgument, doc.name, "low must be less than high, got ",
        low, " and ", high[0], '.');
  const DType wanted = dtype.value_or(DType::kInt64);
  check_stored_range(low, high[0], wanted, doc.name);
  const Tensor t = Tensor::empty(*size, computed_dtype(wanted), default_device());
  visit_dtype(t.dtype(), [&]<class T>() { draw_integers<T>(t, low, high[0]); });
  return ToDType::call(t, wanted);
}

Tensor Randperm::call(std::int64_t n, std::optional<DType> dtype) {
  check(n >= 0, ErrorCode::kInvalidArgument, doc.name, "n must not be negative, got ", n, '.');
  const DType wanted = dtype.value_or(DType::kInt64);
  if (draws_itself(default_device()) && (wanted == DType::kInt64 || wanted == DType::kInt32))
    return permutation_on_device(n, wanted);
  const Tensor t = Tensor::empty({n}, computed_dtype(wanted));
  check_stored_range(0, n, wanted, doc.name);
  visit_dtype(t.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>)
      fail(ErrorCode::kDtypeMismatch, "[randperm] not implemented for bool.");
    else
      fill_randperm(elements<T>(t));
  });
  return moved(ToDType::call(t, wanted), default_device());
}

Tensor RandLike::call(const Tensor& input, std::optional<DType> dtype) {
  return uniform_in(empty_with_layout_of(input, dtype.value_or(input.dtype())), doc.name);
}

Tensor RandnLike::call(const Tensor& input, std::optional<DType> dtype) {
  return normal_in(empty_with_layout_of(input, dtype.value_or(input.dtype())), doc.name);
}

Tensor UniformInPlace::call(const Tensor& input, double from, double to) {
  if (is_complex(input.dtype())) {
    call(ViewAsReal::call(input), from, to);
    return input;
  }
  if (is_half(input.dtype())) return CopyInPlace::call(input, uniform_in_half(input, from, to));
  return visit_floating(input.dtype(), doc.name, [&]<class T>() {
    return draw_in_place<UniformInPlace>(input, [&] { draw_uniform<T>(input, from, to); });
  });
}

Tensor NormalInPlace::call(const Tensor& input, double mean, double std) {
  if (is_complex(input.dtype())) {
    call(ViewAsReal::call(input), mean, std * kPartDeviation);
    return input;
  }
  if (is_half(input.dtype())) return CopyInPlace::call(input, normal_in_half(input, mean, std));
  return visit_floating(input.dtype(), doc.name, [&]<class T>() {
    return draw_in_place<NormalInPlace>(
        input, [&] { draw_normal<T>(input, mean, std, input.is_contiguous()); });
  });
}

Tensor RandomInPlace::call(const Tensor& input, std::optional<Scalar> from,
                           std::optional<Scalar> to) {
  if (from.has_value() && !to.has_value()) return call(input, 0, from);
  const std::int64_t low = from.has_value() ? whole(*from, "from") : 0;
  if (is_stored(input.dtype())) {
    const Scalar end = to.value_or(default_end(input.dtype()));
    check_stored_range(low, whole(end, "to"), input.dtype(), doc.name);
    const Tensor wide = empty_with_layout_of(input, computed_dtype(input.dtype()));
    return CopyInPlace::call(input, call(wide, low, end));
  }
  return visit_dtype(input.dtype(), [&]<class T>() {
    return draw_in_place<RandomInPlace>(input, [&] {
      if (to.has_value()) return draw_integers<T>(input, low, whole(*to, "to"));
      fill_elements<T>(input, all_integers_on_device<T>(input.dtype()),
                       [&](std::span<T> out) { fill_random(out); });
    });
  });
}

Tensor ExponentialInPlace::call(const Tensor& input, double lambd) {
  return visit_floating(input.dtype(), doc.name, [&]<class T>() {
    return draw_in_place<ExponentialInPlace>(input, [&] {
      fill_elements<T>(input, DeviceDraw{kernel::RandomKind::kExponential, lambd},
                       [&](std::span<T> out) { fill_exponential(out, lambd); });
    });
  });
}

Tensor BernoulliInPlace::call(const Tensor& input, double p) {
  return visit_dtype(input.dtype(), [&]<class T>() {
    return draw_in_place<BernoulliInPlace>(input, [&] { draw_bernoulli<T>(input, p); });
  });
}

Tensor Bernoulli::call(const Tensor& input) {
  const Tensor p = packed(input);
  const Tensor result = visit_floating(input.dtype(), doc.name, [&]<class T>() {
    if (draws_itself(input.device())) return bernoulli_on_device(p);
    const Tensor chances = on_host(p);
    Tensor samples = Tensor::empty(input.shape(), input.dtype(), input.device());
    fill_elements<T>(samples, std::nullopt, [&](std::span<T> out) {
      fill_bernoulli(out, std::span<const T>(elements<T>(chances)));
    });
    return samples;
  });
  return record<Bernoulli>(result, {input}, {});
}

Tensor Dropout::call(const Tensor& input, double p, bool training) {
  check(p >= 0 && p <= 1, ErrorCode::kInvalidArgument, doc.name, "p must be in [0, 1], got ", p,
        '.');
  if (p == 0 || !training || input.numel() == 0) return input;
  check(is_floating(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected float32 or float64, got ", input.dtype(), '.');
  if (p < 1 && draws_itself(input.device())) return dropout_on_device(input, 1 - p);
  // As in PyTorch, the mask has the layout of the input and is drawn in memory order.
  const Tensor mask = empty_with_layout_of(input, DType::kBool);
  if (p == 1) {
    fill_dense(mask, false);
    return apply_mask(input, mask, 1);
  }
  draw_bernoulli<bool>(mask, 1 - p);
  return apply_mask(input, mask, 1 - p);
}

GradList Dropout::backward(const Backward<Dropout>& b) {
  return {apply_mask(b.grad(), b.saved(0), b.attrs().keep)};
}

}  // namespace eg
