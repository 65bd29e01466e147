// compile: engine

#include "dispatch/promotion.h"

#include <optional>

#include "dispatch/precision.h"

namespace eg {
namespace {

using MaybeDType = std::optional<DType>;

MaybeDType join(MaybeDType a, MaybeDType b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return promote_types(*a, *b);
}

// PyTorch's combine_categories: `higher` comes from operands of higher rank.
MaybeDType combine(MaybeDType higher, MaybeDType lower) {
  if (!higher.has_value() || !lower.has_value()) return higher.has_value() ? higher : lower;
  if (is_complex(*higher)) return higher;
  if (is_floating(*higher)) return is_complex(*lower) ? complex_dtype(*higher) : higher;
  if (*higher == DType::kBool || is_differentiable(*lower)) return join(higher, lower);
  return higher;
}

// A plain number has a category, not a width.
DType number_dtype(DType dtype) {
  if (is_complex(dtype)) return complex_dtype(default_dtype());
  return is_floating(dtype) ? default_dtype() : dtype;
}

}  // namespace

DType promote(std::span<const Tensor> operands) {
  const DType first = operands[0].dtype();
  if (operands.size() == 1) return first;
  MaybeDType with_dims;
  MaybeDType zero_dim;
  MaybeDType numbers;
  for (const Tensor& t : operands) {
    if (t.is_wrapped_number())
      numbers = join(numbers, number_dtype(t.dtype()));
    else if (t.ndim() == 0)
      zero_dim = join(zero_dim, t.dtype());
    else
      with_dims = join(with_dims, t.dtype());
  }
  return *combine(with_dims, combine(zero_dim, numbers));
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integral(to)) return false;
  return !(from != DType::kBool && to == DType::kBool);
}

}  // namespace eg
