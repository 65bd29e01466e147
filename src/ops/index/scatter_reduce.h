#pragma once

// Reductions of the elements that indices assign to the same position.

#include "dispatch/function_op.h"

namespace eg {

/// How the elements for one position are combined.
enum class ScatterReduction : std::uint8_t { kSum, kProd, kMean, kAmax, kAmin };
constexpr std::array<std::string_view, 5> enum_names(ScatterReduction) {
  return {"sum", "prod", "mean", "amax", "amin"};
}

struct ScatterReduce {
  static constexpr op::Doc doc{
      "scatter_reduce",
      "A copy of input in which the elements of src with the same index along dim are reduced to "
      "one, together with the old element unless includeSelf is false."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"},    Arg{"index"},
                                   Arg{"src"},   Arg{"reduce"}, Arg{"include_self", "true"}};
  static constexpr std::array<std::string_view, 7> samples{
      "T([3, 4]), 1, I([3, 2], 4), T([3, 2]), 'sum'",
      "T([3, 4], 0, 2), 0, I([4, 2], 3), T([4, 3], 0, 2), 'mean'",
      "T([3, 4]), 1, I([3, 6], 4), T([3, 6]), 'prod'",
      "T([3, 4]), 1, I([3, 6], 4), T([3, 6]), 'amax'",
      "T([3, 4]), 1, I([3, 6], 4), T([3, 6]), 'amin', false",
      "T([3, 2], 0, 2), 0, I([5, 2], 3), T([5, 2], 0, 2), 'mean', false",
      "T([3, 2]), 0, I([5, 2], 3), T([5, 2]), 'prod', false"};
  static constexpr bool in_place = true;
  static constexpr bool reads_apart = true;
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src,
                     ScatterReduction reduce, bool include_self = true);
};

struct IndexReduce {
  static constexpr op::Doc doc{
      "index_reduce",
      "A copy of input in which the slices of source with the same index along dim are reduced to "
      "one, together with the old slice unless includeSelf is false. For sums use indexAdd()."};
  static constexpr std::array args{Arg{"input"},  Arg{"dim"},    Arg{"index"},
                                   Arg{"source"}, Arg{"reduce"}, Arg{"include_self", "true"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([4, 3]), 0, I([3], 4), T([3, 3]), 'amax'",
      "T([2, 3], 0, 2), 1, I([4], 3), T([2, 4], 0, 2), 'mean', false"};
  static constexpr bool in_place = true;
  static constexpr bool reads_apart = true;
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Tensor& source, ScatterReduction reduce, bool include_self = true);
};

using ScatterReduceOps = TypeList<ScatterReduce, IndexReduce>;

}  // namespace eg
