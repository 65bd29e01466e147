#pragma once

// Sums of products described by an equation: "ij,jk->ik" is the matrix product.
//
// Every operand is viewed with one dimension per letter. Then the operands are multiplied from left
// to right, each pair as one batched matrix product. A letter that neither a later operand nor the
// result has is summed over in that product. All steps are ordinary ops, which have gradients.

#include <string_view>

#include "dispatch/function_op.h"

namespace eg {

/// Evaluates an equation with the syntax of torch.einsum.
Tensor einsum(std::string_view equation, const TensorList& operands);

struct Einsum {
  static constexpr op::Doc doc{"einsum",
                               "Sum of products by an equation, given as character codes."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"equation"}, Arg{"operands"}};
  /// "ij,jk" and "b...i,ki->...bk".
  static constexpr std::array<std::string_view, 2> samples{
      "[105, 106, 44, 106, 107], [T([2, 3]), T([3, 4])]",
      "[98, 46, 46, 46, 105, 44, 107, 105, 45, 62, 46, 46, 46, 98, 107], [T([2, 3, 4]), T([2, "
      "4])]"};
  static Tensor call(const Dims& equation, const TensorList& operands);
};

using EinsumOps = TypeList<Einsum>;

}  // namespace eg
