#include "ops/index/scatter_reduce.h"

#include "autograd/grad_mode.h"
#include "dispatch/factories.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/index/index_args.h"
#include "ops/index/order.h"
#include "ops/shape/join.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

struct DimAttrs {
  std::int64_t dim;
};

Var as_number(const Var& mask, const Tensor& like) { return ToDType::call(mask, like.dtype()); }

// For every element of src the product of those before it with the same index, by multiplying
// elements at distances 1, 2, 4, ... `index` is sorted along dim.
Var products_before(const Tensor& index, const Tensor& src, std::int64_t dim) {
  const std::int64_t size = src.size(dim);
  // The products over `step` elements before each one; none of them if there are fewer.
  const auto from = [&](const Var& products, std::int64_t step) -> Var {
    const auto part = [&](const Tensor& t, std::int64_t start) {
      return Narrow::call(t, dim, start, size - step);
    };
    const Var is_same = part(index, step) == part(index, 0);
    const Tensor earlier = where(is_same, part(products, 0), 1);
    return Cat::call({full_like(Narrow::call(src, dim, 0, step), 1), earlier}, dim);
  };
  if (size <= 1) return full_like(src, 1);
  Var products = src;
  for (std::int64_t step = 1; step < size; step *= 2) products = products * from(products, step);
  return from(products, 1);
}

// For every element of src the product of all others with the same index. There is no division, so
// zeros and all orders of derivatives are correct.
Var products_of_others(const Tensor& index, const Tensor& src, std::int64_t dim) {
  if (src.ndim() == 0) return full_like(src, 1);
  const Tensor order = Argsort::call(index, dim, false, true);
  const Tensor sorted = Gather::call(index, dim, order);
  const Tensor factors = Gather::call(src, dim, order);
  const auto reversed = [&](const Tensor& t) { return Flip::call(t, Dims{dim}); };
  const Var before = products_before(sorted, factors, dim);
  const Var after = products_before(reversed(sorted), reversed(factors), dim);
  const Tensor others = before * reversed(after);
  return Gather::call(others, dim, Argsort::call(order, dim));
}

// The product of each element of input and all elements of src for its position.
struct ScatterProduct {
  static constexpr op::Doc doc{"scatter_reduce", "Products of the elements for each position."};
  using Attrs = DimAttrs;
  static constexpr std::array<std::string_view, 4> saved_names{"self", "index", "src", "result"};

  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Tensor& src) {
    const Tensor result = contiguous_copy(input);
    run(kernel::MultiplyElements{elements_along(result.strides(), dim, index), packed(src).memory(),
                                 result.memory()});
    return record<ScatterProduct>(result, {input, src}, {dim},
                                  {{input}, {index}, {src}, {result, true}});
  }

  // The derivative by a factor is the product divided by that factor. Where the factor is the only
  // zero, it is the product with 1 instead of that factor.
  static GradList backward(const Backward<ScatterProduct>& b) {
    const std::int64_t dim = b.attrs().dim;
    const Var self = b.saved(0);
    const Tensor index = b.saved(1);
    const Var src = b.saved(2);
    const Var g = b.grad();
    const auto product = [&](const Var& input, const Var& factors) -> Var {
      return call(input, dim, index, factors);
    };
    const auto gather = [&](const Var& t) -> Var { return Gather::call(t, dim, index); };
    GradList grads(2);
    if (b.needs(0)) {
      const Var others = where(self == 0, 1, self);
      grads[0] = g * conj(product(others, src) / others);
    }
    if (b.needs(1) && ops_are_differentiated()) {
      const Var others = products_of_others(index, src, dim);
      grads[1] = gather(g) * conj(gather(self) * others);
    } else if (b.needs(1)) {
      const Var is_zero = src == 0;
      const Tensor none = full_like(self, 0);
      const Var zeros = gather(ScatterAdd::call(none, dim, index, as_number(is_zero, src)));
      const Var is_only_zero = is_zero & (zeros == 1);
      const Var without = gather(g * conj(product(self, where(is_only_zero, 1, src))));
      const Var rest = gather(g * conj(b.saved(3))) / conj(where(is_zero, 1, src));
      grads[1] = where(is_only_zero, without, rest);
    }
    return grads;
  }
};

// The largest, or smallest, of the elements of src for each position, and of input unless it is
// excluded. Equal elements share the gradient; as in PyTorch, an excluded input is counted too.
struct ScatterExtreme {
  static constexpr op::Doc doc{"scatter_reduce", "Extremes of the elements for each position."};
  struct Attrs {
    std::int64_t dim;
    bool include_self;
  };
  static constexpr std::array<std::string_view, 4> saved_names{"self", "index", "src", "result"};

  static Tensor call(const Tensor& input, const Tensor& start, std::int64_t dim,
                     const Tensor& index, const Tensor& src, bool largest, bool include_self) {
    check(!is_complex(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
          "complex numbers cannot be ordered, got ", input.dtype(), '.');
    const Tensor result = contiguous_copy(start);
    run(kernel::ExtremeElements{largest, elements_along(result.strides(), dim, index),
                                packed(src).memory(), result.memory()});
    return record<ScatterExtreme>(result, {input, src}, {dim, include_self},
                                  {{input}, {index}, {src}, {result, true}});
  }

  static GradList backward(const Backward<ScatterExtreme>& b) {
    const std::int64_t dim = b.attrs().dim;
    const Tensor index = b.saved(1);
    const Tensor result = b.saved(3);
    const Var is_self = as_number(b.saved(0) == result, result);
    const Var is_src = as_number(b.saved(2) == Gather::call(result, dim, index), result);
    const Var count = ScatterAdd::call(is_self, dim, index, is_src);
    const Var share = b.grad() / count;
    GradList grads(2);
    if (b.needs(0)) {
      grads[0] = is_self * share;
      if (!b.attrs().include_self) grads[0] = Scatter::call(grads[0], dim, index, 0);
    }
    if (b.needs(1)) grads[1] = is_src * Gather::call(share, dim, index);
    return grads;
  }
};

// The input with neutral values at the positions in `index`. An extreme starts with one of the
// elements of src instead: not every integer type has a number that a scalar can express and that
// is neutral.
Tensor without_self(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src,
                    ScatterReduction reduce) {
  if (reduce == ScatterReduction::kAmax || reduce == ScatterReduction::kAmin)
    return Scatter::call(input, dim, index, src);
  return Scatter::call(input, dim, index, reduce == ScatterReduction::kProd ? 1 : 0);
}

// Divides the sums by the number of elements added, at least one.
Tensor mean(const Tensor& input, const Tensor& sums, std::int64_t dim, const Tensor& index,
            const Tensor& src, bool include_self) {
  const Tensor ones = full(index.shape(), 1, input.dtype(), input.device());
  const Tensor start = full_like(input, include_self ? 1 : 0);
  const Tensor added = ScatterAdd::call(start, dim, index, ones);
  const Tensor count = eg::call<op::MaskedFill>(added, eg::call<op::Eq>(added, 0), 1);
  if (is_integral(src.dtype())) return eg::call<op::FloorDivide>(sums, count);
  return eg::call<op::Div>(sums, count);
}

}  // namespace

Tensor ScatterReduce::call(const Tensor& input, std::int64_t dim, const Tensor& given,
                           const Tensor& src, ScatterReduction reduce, bool include_self) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const Tensor index = index_fitting(given, input);
  const Tensor part = fit_source(input, d, index, src, doc.name);
  const Tensor picks = checked_index(index, size_along(input, d), d, doc.name);
  const Tensor base = include_self ? input : without_self(input, d, picks, part, reduce);
  switch (reduce) {
    case ScatterReduction::kProd:
      return ScatterProduct::call(base, d, picks, part);
    case ScatterReduction::kAmax:
    case ScatterReduction::kAmin:
      return ScatterExtreme::call(input, base, d, picks, part, reduce == ScatterReduction::kAmax,
                                  include_self);
    case ScatterReduction::kMean:
      return mean(input, ScatterAdd::call(base, d, picks, part), d, picks, part, include_self);
    case ScatterReduction::kSum:
      break;
  }
  return ScatterAdd::call(base, d, picks, part);
}

Tensor IndexReduce::call(const Tensor& input, std::int64_t dim, const Tensor& index,
                         const Tensor& source, ScatterReduction reduce, bool include_self) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  check(reduce != ScatterReduction::kSum, ErrorCode::kInvalidArgument, doc.name,
        "reduce must be 'prod', 'mean', 'amax' or 'amin', got 'sum'. Use indexAdd() for sums.");
  const Tensor picks = check_sources(input, d, index, source, doc.name);
  Shape shape(source.shape().size(), 1);
  if (!shape.empty()) shape[static_cast<std::size_t>(d)] = picks.numel();
  const Tensor indices = Expand::call(Reshape::call(picks, shape), source.shape());
  return ScatterReduce::call(input, d, indices, source, reduce, include_self);
}

}  // namespace eg
