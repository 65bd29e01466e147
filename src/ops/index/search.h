#pragma once

// Binary search in sorted sequences.

#include "dispatch/function_op.h"

namespace eg {

/// The side of equal elements on which a value is inserted; by default `right` determines it.
enum class SearchSide : std::uint8_t { kDefault, kLeft, kRight };
constexpr std::array<std::string_view, 3> enum_names(SearchSide) {
  return {"null", "left", "right"};
}

struct Searchsorted {
  static constexpr op::Doc doc{
      "searchsorted",
      "The index along the last dimension of sortedSequence at which each "
      "element of input would be inserted: before equal elements, or with "
      "right after them. sorter is the argsort() of an unsorted sequence."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args{Arg{"sorted_sequence"},    Arg{"input"},
                                   Arg{"out_int32", "false"}, Arg{"right", "false"},
                                   Arg{"side", "null"},       Arg{"sorter", "null"}};
  static constexpr std::array<std::string_view, 2> samples{"T([5]), T([2, 3])",
                                                           "T([2, 4]), T([2, 3]), false, true"};
  static Tensor call(const Tensor& sorted_sequence, const Operand& input, bool out_int32 = false,
                     bool right = false, SearchSide side = SearchSide::kDefault,
                     const std::optional<Tensor>& sorter = {});
};

struct Bucketize {
  static constexpr op::Doc doc{"bucketize",
                               "The bucket of each element of input between boundaries, an "
                               "ascending vector: searchsorted() with one sequence."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args{Arg{"input"}, Arg{"boundaries"}, Arg{"out_int32", "false"},
                                   Arg{"right", "false"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3]), T([4])"};
  static Tensor call(const Operand& input, const Tensor& boundaries, bool out_int32 = false,
                     bool right = false);
};

using SearchOps = TypeList<Searchsorted, Bucketize>;

}  // namespace eg
