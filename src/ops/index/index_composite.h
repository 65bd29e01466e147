#pragma once

// Indexing ops that are composed of index_select, index_copy and gather.

#include "dispatch/function_op.h"

namespace eg {

struct TakeAlongDim {
  static constexpr op::Doc doc{
      "take_along_dim",
      "gather() with input and indices broadcast except along dim; both flattened without dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"indices"}, Arg{"dim", "null"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 4]), I([3, 1], 4), 1",
                                                           "T([2, 3]), I([4], 6)"};
  static Tensor call(const Tensor& input, const Tensor& indices,
                     std::optional<std::int64_t> dim = {});
};

struct Take {
  static constexpr op::Doc doc{"take", "The elements of the flattened input at index."};
  static constexpr std::array args{Arg{"input"}, Arg{"index"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3]), I([2, 2], 6)"};
  static Tensor call(const Tensor& input, const Tensor& index);
};

struct MaskedSelect {
  static constexpr op::Doc doc{"masked_select",
                               "The elements of input where mask holds, as a vector."};
  static constexpr std::array args{Arg{"input"}, Arg{"mask"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3]), B([2, 3])",
                                                           "T([2, 1]), B([3])"};
  static Tensor call(const Tensor& input, const Tensor& mask);
};

struct MaskedScatter {
  static constexpr op::Doc doc{
      "masked_scatter", "A copy of input with the elements of source, in order, where mask holds."};
  static constexpr std::array args{Arg{"input"}, Arg{"mask"}, Arg{"source"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3]), B([2, 3]), T([7])",
                                                           "T([2, 3]), B([3]), T([3, 2])"};
  static constexpr bool in_place = true;
  static Tensor call(const Tensor& input, const Tensor& mask, const Tensor& source);
};

struct Nonzero {
  static constexpr op::Doc doc{"nonzero",
                               "The indices of the nonzero elements, one row for each element."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3])", "B([2, 3])"};
  static Tensor call(const Tensor& input);
};

struct RepeatInterleave {
  static constexpr op::Doc doc{"repeat_interleave",
                               "Repeats every slice along dim; every element without dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"repeats"}, Arg{"dim", "null"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 3]), 2, 1", "T([2, 2]), 3",
                                                           "T([3, 2]), I([3], 3), 0"};
  static Tensor call(const Tensor& input, const Operand& repeats,
                     std::optional<std::int64_t> dim = {});
};

struct OneHot {
  static constexpr op::Doc doc{"one_hot", "For each class a row of zeros with a one at the class."};
  static constexpr std::array args{Arg{"input"}, Arg{"num_classes", "-1"}};
  static constexpr std::array<std::string_view, 1> samples{"I([3], 4), 4"};
  static Tensor call(const Tensor& input, std::int64_t num_classes = -1);
};

using IndexCompositeOps =
    TypeList<TakeAlongDim, Take, MaskedSelect, MaskedScatter, Nonzero, RepeatInterleave, OneHot>;

}  // namespace eg
