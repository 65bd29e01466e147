#pragma once

// Which values a tensor has.

#include "dispatch/function_op.h"

namespace eg {

struct DistinctElements {
  static constexpr op::Doc doc{
      "distinct_elements",
      "The distinct values of all elements in ascending order, or of runs of equal ones as they "
      "come: where each is first, which of them each element has, if asked for, and how often."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"input"}, Arg{"consecutive"}, Arg{"with_inverse"}};
  static constexpr std::array<std::string_view, 3> results{"firsts", "inverse", "counts"};
  static TensorList call(const Tensor& input, bool consecutive, bool with_inverse);
};

using DistinctOps = TypeList<DistinctElements>;

}  // namespace eg
