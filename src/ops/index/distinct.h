#pragma once

// The distinct values of a tensor.

#include "dispatch/function_op.h"

namespace eg {

struct DistinctElements {
  static constexpr op::Doc doc{
      "distinct_elements",
      "The distinct values of all elements in ascending order, or of consecutive runs of equal "
      "elements: the index of the first element of each value, the value number of each element "
      "(only withInverse), and the number of elements of each value."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"input"}, Arg{"consecutive"}, Arg{"with_inverse"}};
  static constexpr std::array<std::string_view, 3> results{"firsts", "inverse", "counts"};
  static TensorList call(const Tensor& input, bool consecutive, bool with_inverse);
};

using DistinctOps = TypeList<DistinctElements>;

}  // namespace eg
