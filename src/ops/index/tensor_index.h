#pragma once

// Reading and writing the elements that index tensors select: x[rows, :, columns], x[mask].
//
// The index tensors are broadcast together. The indexed dimensions of the input are merged into
// one, and each element of the indices selects one row along it. In the result the dimensions of
// the indices replace the indexed dimensions, or come first if those are not adjacent. A mask is an
// index for all of its dimensions merged into one: the list of the positions where it is true.

#include "dispatch/function_op.h"

namespace eg {

/// Where the dimensions of the index tensors are inserted, and which dimensions they replace.
struct IndexedDims {
  Dims order;  ///< the dimensions of the input, with the indexed ones adjacent
  std::size_t first = 0;
  std::size_t count = 0;
  Shape index_shape;
};

struct Index {
  static constexpr op::Doc doc{"index", "The elements of input that indices select along dims."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"input"}, Arg{"indices"}, Arg{"dims"}};
  static constexpr std::array<std::string_view, 6> samples{
      "T([4, 3]), [I([5], 4)], [0]",
      "T([2, 3, 4]), [I([2, 1], 3), I([3], 4)], [1, 2]",
      "T([2, 3, 4]), [I([3], 2), I([3], 4)], [0, 2]",
      "T([2, 3, 2]), [B([2, 3])], [0]",
      "T([2, 3]), [B([2]), I([1], 3)], [0, 1]",
      "T([0, 2]), [I([0], 1)], [1]"};
  /// `dims` has the first dimension of each index, ascending.
  static Tensor call(const Tensor& input, const TensorList& indices, const Dims& dims);

  struct Attrs {
    Shape input_shape;
    IndexedDims where;
  };
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Index>& b);
};

struct IndexPutInPlace {
  static constexpr op::Doc doc{
      "index_put_",
      "Writes values, broadcast, to the elements of input that indices select, or adds them."};
  static constexpr std::array args{Arg{"input"}, Arg{"indices"}, Arg{"values"},
                                   Arg{"accumulate", "false"}, Arg{"dims", "null"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([4, 3]), [I([1], 4)], T([3])", "T([4, 3]), [I([5], 4)], T([5, 1]), true",
      "T([2, 3, 2]), [B([3, 2])], T([]), false, [1]"};
  /// `dims` has the first dimension of each index, ascending; without it, the indices are for the
  /// leading dimensions.
  static Tensor call(const Tensor& input, const TensorList& indices, const Operand& values,
                     bool accumulate = false, const std::optional<Dims>& dims = {});

  struct Attrs {
    IndexedDims where;
    Tensor rows;  ///< made by the call, so no other code can change it
    bool accumulate;
  };
  static GradList backward(const Backward<IndexPutInPlace>& b);
};

struct IndexPut {
  static constexpr op::Doc doc{
      "index_put", "A copy of input with values, broadcast, at the elements that indices select."};
  static constexpr std::array args{Arg{"input"}, Arg{"indices"}, Arg{"values"},
                                   Arg{"accumulate", "false"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([4, 3]), [I([1], 4)], T([3])", "T([4, 3]), [I([5], 4)], T([5, 1]), true",
      "T([2, 3, 2]), [B([2, 3])], T([2])"};
  static Tensor call(const Tensor& input, const TensorList& indices, const Operand& values,
                     bool accumulate = false);
};

using TensorIndexOps = TypeList<Index, IndexPut, IndexPutInPlace>;

}  // namespace eg
