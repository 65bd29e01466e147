#include "ops/reduce/reduction.h"

#include "dispatch/elementwise.h"
#include "dispatch/factories.h"
#include "formulas/selection.h"
#include "ops/create/copy.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse_shape.h"

namespace eg {
namespace {

Tensor to_requested(const Tensor& input, std::optional<DType> dtype) {
  return dtype.has_value() ? ToDType::call(input, *dtype) : input;
}

// Sums and products of integers are computed in int64, which is also the dtype of the result unless
// the caller chooses another.
Tensor accumulate(kernel::Fold fold, const Tensor& x, const ReducedDims& reduced,
                  std::optional<DType> dtype) {
  const DType compute = is_integral(x.dtype()) ? DType::kInt64 : x.dtype();
  const Tensor result = run_reduction({.fold = fold, .compute = compute}, x, reduced);
  return to_requested(result, dtype);
}

// The number of nonzero elements for each result, exact for any count.
Tensor count_nonzero(const Tensor& input, const ReducedDims& reduced) {
  // Floats are counted in float64, which a device may not have.
  const bool is_float_elsewhere = is_floating(input.dtype()) && !input.device().is_cpu();
  if (is_complex(input.dtype()) || is_float_elsewhere) return count_nonzero(input != 0, reduced);
  const DType compute = is_floating(input.dtype()) ? DType::kFloat64 : DType::kInt64;
  return run_reduction({.fold = kernel::Fold::kCountNonzero, .compute = compute}, input, reduced);
}

bool has_zeros(const Tensor& x) {
  const Tensor count = count_nonzero(x, reduced_dims({}, false, x.ndim(), Prod::doc.name));
  return ToDType::call(count, DType::kFloat64).data_as<double>()[0] !=
         static_cast<double>(x.numel());
}

// For every element the product of all others along dim, by multiplying elements in pairs, pairs of
// pairs and so on. There is no division, so zeros and all orders of derivatives are correct.
Tensor products_of_others(const Tensor& x, std::int64_t dim) {
  const std::int64_t size = x.size(dim);
  // Not a plain 1: the product has derivatives of every order, whichever formula computes them.
  if (size <= 1) return eg::call<op::MaskedFill>(x, full({}, 1, DType::kBool, x.device()), 1);
  const std::int64_t half = size / 2;
  const auto part = [&](const Tensor& t, std::int64_t start, std::int64_t length) {
    return Narrow::call(t, dim, start, length);
  };
  const Var a = part(x, 0, half);
  const Var b = part(x, half, half);
  TensorList pairs{a * b};
  if (size % 2 != 0) pairs.push_back(part(x, size - 1, 1));
  const Tensor others = products_of_others(Cat::call(pairs, dim), dim);
  const Var of_pairs = part(others, 0, half);
  TensorList result{of_pairs * b, of_pairs * a};
  if (size % 2 != 0) result.push_back(part(others, half, 1));
  return Cat::call(result, dim);
}

// The product along dim, by multiplying elements in pairs, pairs of pairs and so on.
Tensor product_by_pairs(const Tensor& x, std::int64_t dim) {
  const std::int64_t size = x.size(dim);
  if (size == 1) return x;
  // The sum of nothing is 0 too, and is recorded.
  if (size == 0) return Sum::call(x, Dims{dim}, true) + 1;
  const std::int64_t half = size / 2;
  const Var product = Narrow::call(x, dim, 0, half) * Narrow::call(x, dim, half, half);
  if (size % 2 == 0) return product_by_pairs(product, dim);
  return product_by_pairs(Cat::call({product, Narrow::call(x, dim, size - 1, 1)}, dim), dim);
}

// There is no fold for products of complex numbers.
Tensor complex_product(const Tensor& x, const std::optional<std::int64_t>& dim, bool keepdim) {
  const std::int64_t d = dim.has_value() ? wrap_dim(*dim, x.ndim(), Prod::doc.name) : 0;
  if (x.ndim() == 0) return Clone::call(x);
  const Tensor product = product_by_pairs(dim.has_value() ? x : Reshape::call(x, {-1}), d);
  // A copy, because the product of one element is that element.
  return Clone::call(keepdim && dim.has_value() ? product : Squeeze::call(product, Dims{d}));
}

// As in PyTorch, only any() and all() tell an empty list of dimensions from none.
bool reduces_nothing(const std::optional<Dims>& dim) { return dim.has_value() && dim->empty(); }

// As in PyTorch, the result for uint8 is uint8, which was once used for truth values.
Tensor to_truth(const Var& mask, const Tensor& input) {
  return input.dtype() == DType::kUInt8 ? ToDType::call(mask, DType::kUInt8) : mask.tensor();
}

}  // namespace

Tensor Sum::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim,
                 std::optional<DType> dtype) {
  if (input.is_sparse()) return sum_sparse(input, dim, keepdim, dtype);
  const Tensor x = to_requested(input, dtype);
  const ReducedDims reduced = reduced_dims(dim, keepdim, x.ndim(), doc.name);
  return record<Sum>(accumulate(kernel::Fold::kSum, x, reduced, dtype), {x}, {x.shape(), reduced});
}

GradList Sum::backward(const Backward<Sum>& b) {
  return {unreduce(b.grad(), b.attrs().reduced, b.attrs().input_shape)};
}

Tensor Mean::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim,
                  std::optional<DType> dtype) {
  const Tensor x = to_requested(input, dtype);
  check(!is_integral(x.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected floating-point or complex numbers, got ", x.dtype(),
        ". Convert with to('float32').");
  const ReducedDims reduced = reduced_dims(dim, keepdim, x.ndim(), doc.name);
  const auto count = static_cast<double>(reduced.count(x.shape()));
  const Tensor result = run_reduction(
      {.fold = kernel::Fold::kSum, .compute = x.dtype(), .divisor = count}, x, reduced);
  return record<Mean>(result, {x}, {x.shape(), reduced});
}

GradList Mean::backward(const Backward<Mean>& b) {
  const auto& [shape, reduced] = b.attrs();
  const Var share = b.grad() / static_cast<double>(reduced.count(shape));
  return {unreduce(share, reduced, shape)};
}

Tensor Prod::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim,
                  std::optional<DType> dtype) {
  const Tensor x = to_requested(input, dtype);
  if (is_complex(x.dtype())) return complex_product(x, dim, keepdim);
  const std::optional<Dims> dims = dim.has_value() ? std::optional(Dims{*dim}) : std::nullopt;
  const ReducedDims reduced = reduced_dims(dims, keepdim && dim.has_value(), x.ndim(), doc.name);
  const Tensor result = accumulate(kernel::Fold::kProd, x, reduced, dtype);
  return record<Prod>(result, {x}, {reduced}, {{x}, {result, true}});
}

GradList Prod::backward(const Backward<Prod>& b) {
  const ReducedDims& reduced = b.attrs().reduced;
  const Tensor x = b.saved(0);
  const Var g = unreduce(b.grad(), reduced, x.shape());
  // Only on the CPU, because looking for zeros on a device would mean waiting for it.
  if (x.device().is_cpu() && !has_zeros(x))
    return {g * unreduce(b.saved(1), reduced, x.shape()) / x};
  const Var others = reduced.dims.size() == 1
                         ? products_of_others(x, reduced.dims[0])
                         : Reshape::call(products_of_others(Reshape::call(x, {-1}), 0), x.shape());
  return {g * others};
}

Tensor Any::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim) {
  if (reduces_nothing(dim)) return to_truth(input != 0, input);
  const ReducedDims reduced = reduced_dims(dim, keepdim, input.ndim(), doc.name);
  return to_truth(count_nonzero(input, reduced) != 0, input);
}

Tensor All::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim) {
  if (reduces_nothing(dim)) return to_truth(input != 0, input);
  const ReducedDims reduced = reduced_dims(dim, keepdim, input.ndim(), doc.name);
  const auto count = static_cast<double>(reduced.count(input.shape()));
  return to_truth(count_nonzero(input, reduced) == count, input);
}

Tensor sum_to_shape(const Tensor& t, const Shape& shape) {
  if (t.shape() == shape) return t;
  if (is_stored(t.dtype())) {
    const Tensor wide = ToDType::call(t, computed_dtype(t.dtype()));
    return ToDType::call(sum_to_shape(wide, shape), t.dtype());
  }
  const std::size_t added = t.shape().size() - shape.size();
  Dims leading;
  for (std::size_t d = 0; d < added; ++d) leading.push_back(static_cast<std::int64_t>(d));
  const Tensor tail = leading.empty() ? t : Sum::call(t, leading);
  Dims repeated;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1 && tail.shape()[d] != 1) repeated.push_back(static_cast<std::int64_t>(d));
  }
  return repeated.empty() ? tail : Sum::call(tail, repeated, true);
}

}  // namespace eg
