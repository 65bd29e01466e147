#include "ops/reduce/scan.h"

#include "base/infinity.h"
#include "dispatch/factories.h"
#include "kernels/scan.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/elementwise/overload.h"
#include "ops/nn/softmax_rows.h"
#include "ops/shape/join.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/slice.h"

namespace eg {
namespace {

using kernel::ScanKind;

Tensor run_scan(ScanKind kind, const Tensor& input, std::int64_t dim) {
  const Tensor x = packed(input);
  if (x.ndim() == 0) return contiguous_copy(x);
  // The only complex scan is the sum, which is the sum of the parts.
  if (is_complex(x.dtype())) return joined_parts(run_scan(kind, parts_of(x), dim));
  const Tensor result = Tensor::empty(x.shape(), x.dtype(), x.device());
  run(kernel::Scan{kind, rows_along(x, dim), x.memory(), result.memory()});
  return result;
}

// Integers are accumulated in int64, which is also the dtype of the result unless the caller
// chooses another.
template <class Op>
Tensor accumulate(ScanKind kind, const Tensor& input, std::int64_t dim, std::optional<DType> dtype,
                  auto&& record_result) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), Op::doc.name);
  const Tensor asked = dtype.has_value() ? ToDType::call(input, *dtype) : input;
  if (!is_integral(asked.dtype())) return record_result(run_scan(kind, asked, d), asked, d);
  const Tensor result = run_scan(kind, ToDType::call(asked, DType::kInt64), d);
  return dtype.has_value() ? ToDType::call(result, *dtype) : result;
}

bool is_single(const Tensor& t, std::int64_t dim) {
  return t.numel() == 0 || t.ndim() == 0 || t.size(dim) == 1;
}

// Shifts `t` by one element along dim; the first element becomes `value`.
Tensor delayed(const Tensor& t, std::int64_t dim, double value) {
  Shape first = t.shape();
  first[static_cast<std::size_t>(dim)] = 1;
  return Cat::call(
      {full(first, value, t.dtype(), t.device()), Narrow::call(t, dim, 0, t.size(dim) - 1)}, dim);
}

// s[i] = input[i] + factor[i] s[i - 1]. Its gradient is a recurrence of this form from the end.
struct Recurrence {
  static constexpr op::Doc doc{"recurrence", "A linear recurrence along a dimension."};
  using Attrs = ScanAttrs;
  static constexpr std::array<std::string_view, 2> saved_names{"factor", "result"};
  static Tensor call(const Tensor& input, const Tensor& factor, std::int64_t dim) {
    const Tensor terms = packed(input);
    const Tensor result = Tensor::empty(terms.shape(), terms.dtype(), terms.device());
    run(kernel::Recurrence{rows_along(terms, dim), terms.memory(), packed(factor).memory(),
                           result.memory()});
    return record<Recurrence>(result, {input, factor}, {dim}, {{factor}, {result, true}});
  }
  static GradList backward(const Backward<Recurrence>& b);
};

// s[i] = input[i] + factor[i + 1] s[i + 1].
Tensor from_the_end(const Tensor& input, const Tensor& factor, std::int64_t dim) {
  const Tensor reversed = Flip::call(factor, {dim});
  return Flip::call(Recurrence::call(Flip::call(input, {dim}), delayed(reversed, dim, 0), dim),
                    {dim});
}

GradList Recurrence::backward(const Backward<Recurrence>& b) {
  const std::int64_t dim = b.attrs().dim;
  const Tensor grad_input = from_the_end(b.grad(), b.saved(0), dim);
  GradList grads(2);
  if (b.needs(0)) grads[0] = grad_input;
  if (b.needs(1)) grads[1] = grad_input * delayed(b.saved(1), dim, 0);
  return grads;
}

// Combines elements at distances 1, 2, 4, ..., because the only scan kernel for complex numbers is
// the sum.
Tensor complex_scan(Tensor x, std::int64_t dim, Tensor (*join)(const Operand&, const Operand&)) {
  if (x.ndim() == 0) return Clone::call(x);
  const std::int64_t size = x.size(dim);
  for (std::int64_t step = 1; step < size; step *= 2) {
    const Tensor rest = Narrow::call(x, dim, step, size - step);
    const Tensor before = Narrow::call(x, dim, 0, size - step);
    x = Cat::call({Narrow::call(x, dim, 0, step), join(rest, before)}, dim);
  }
  return size <= 1 ? Clone::call(x) : x;
}

}  // namespace

Tensor Cumsum::call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return accumulate<Cumsum>(ScanKind::kSum, input, dim, dtype,
                            [](const Tensor& result, const Tensor& x, std::int64_t d) {
                              return record<Cumsum>(result, {x}, {d});
                            });
}

GradList Cumsum::backward(const Backward<Cumsum>& b) {
  if (is_single(b.grad(), b.attrs().dim)) return {b.grad()};
  const Dims dims{b.attrs().dim};
  return {Flip::call(call(Flip::call(b.grad(), dims), b.attrs().dim), dims)};
}

Tensor Cumprod::call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  if (is_complex(dtype.value_or(input.dtype()))) {
    const Tensor x = dtype.has_value() ? ToDType::call(input, *dtype) : input;
    const auto multiply = [](const Operand& a, const Operand& b) {
      return eg::call<op::Mul>(a, b);
    };
    return complex_scan(x, wrap_dim(dim, x.ndim(), doc.name), multiply);
  }
  return accumulate<Cumprod>(ScanKind::kProd, input, dim, dtype,
                             [](const Tensor& result, const Tensor& x, std::int64_t d) {
                               return record<Cumprod>(result, {x}, {d}, {{x}, {result, true}});
                             });
}

// The gradient of an element is the product of the elements before it, times a sum over the results
// from that element on: the gradient of each, times the product of the elements in between.
GradList Cumprod::backward(const Backward<Cumprod>& b) {
  const std::int64_t dim = b.attrs().dim;
  if (is_single(b.grad(), dim)) return {b.grad()};
  const Var before = delayed(b.saved(1), dim, 1);
  return {before * from_the_end(b.grad(), b.saved(0), dim)};
}

Tensor Logcumsumexp::call(const Tensor& input, std::int64_t dim) {
  check(is_differentiable(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected floating-point or complex numbers, got ", input.dtype(), '.');
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  if (is_complex(input.dtype())) return complex_scan(input, d, Overload<op::Logaddexp>::call);
  const Tensor result = run_scan(ScanKind::kLogSumExp, input, d);
  return record<Logcumsumexp>(result, {input}, {d}, {{input}, {result, true}});
}

// Sums g[j] exp(x[i] - y[j]) over j >= i. The results y never decrease, so exp(y[i] - y[i + 1]),
// the factor of the recurrence, is at most one.
GradList Logcumsumexp::backward(const Backward<Logcumsumexp>& b) {
  const std::int64_t dim = b.attrs().dim;
  if (is_single(b.grad(), dim)) return {b.grad()};
  const Var x = b.saved(0);
  const Var y = b.saved(1);
  // Where a running sum is zero, its logarithm -infinity would turn differences into NaN.
  const Var sums = where(y == -kInfinity, 0, y);
  const Tensor ratio = exp(delayed(y, dim, 0) - sums);
  return {exp(x - sums) * from_the_end(b.grad(), ratio, dim)};
}

Tensor Diff::call(const Tensor& input, std::int64_t n, std::int64_t dim,
                  const std::optional<Tensor>& prepend, const std::optional<Tensor>& append) {
  check(input.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
        "expected an input of at least 1 dimension, got a 0-dim tensor.");
  check(n >= 0, ErrorCode::kInvalidArgument, doc.name, "n must not be negative, got ", n, '.');
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  TensorList parts;
  if (prepend) parts.push_back(*prepend);
  parts.push_back(input);
  if (append) parts.push_back(*append);
  Tensor result = parts.size() == 1 ? input : Cat::call(parts, d);
  // With n = 0, `prepend` and `append` are ignored as well.
  if (n == 0) return Clone::call(input);
  std::int64_t left = n;
  for (; left > 0 && result.numel() > 0; --left) {
    const std::int64_t count = result.size(d) - 1;
    const Var next = Narrow::call(result, d, 1, count);
    const Var own = Narrow::call(result, d, 0, count);
    result = result.dtype() == DType::kBool ? next != own : next - own;
  }
  if (left == 0) return result;
  // Once the result is empty, the remaining differences only reduce its size.
  const std::int64_t size = std::max<std::int64_t>(0, result.size(d) - left);
  return Clone::call(Narrow::call(result, d, 0, size));
}

}  // namespace eg
