#pragma once

// Places in sequences that rise, found by halving.

#include "dispatch/function_op.h"

namespace eg {

/// On which side of equal elements a value goes; null where `right` says it.
enum class SearchSide : std::uint8_t { kUnsaid, kLeft, kRight };
constexpr std::array<std::string_view, 3> enum_names(SearchSide) {
  return {"null", "left", "right"};
}

struct Searchsorted {
  static constexpr op::Doc doc{"searchsorted",
                               "Where along the last dimension of sorted_sequence every element of "
                               "input would be put: before "
                               "elements equal to it, or with right after them. sorter is the "
                               "order of a sequence that is not "
                               "sorted."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args{Arg{"sorted_sequence"},    Arg{"input"},
                                   Arg{"out_int32", "false"}, Arg{"right", "false"},
                                   Arg{"side", "null"},       Arg{"sorter", "null"}};
  static constexpr std::array<std::string_view, 2> samples{"T([5]), T([2, 3])",
                                                           "T([2, 4]), T([2, 3]), false, true"};
  static Tensor call(const Tensor& sorted_sequence, const Operand& input, bool out_int32 = false,
                     bool right = false, SearchSide side = SearchSide::kUnsaid,
                     const std::optional<Tensor>& sorter = {});
};

struct Bucketize {
  static constexpr op::Doc doc{"bucketize",
                               "searchsorted() for one sequence: the bucket of every element of "
                               "input between the boundaries, a vector that rises."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args{Arg{"input"}, Arg{"boundaries"}, Arg{"out_int32", "false"},
                                   Arg{"right", "false"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3]), T([4])"};
  static Tensor call(const Operand& input, const Tensor& boundaries, bool out_int32 = false,
                     bool right = false);
};

using SearchOps = TypeList<Searchsorted, Bucketize>;

}  // namespace eg
