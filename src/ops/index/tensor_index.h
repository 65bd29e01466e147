#pragma once

// Elements and slices that index tensors name: x[rows, :, columns], x[mask] and writing to them.
//
// The index tensors are broadcast together. Each of their elements names one row of the input, in
// which the indexed dimensions are merged into one. The dimensions of the indices stand where the
// indexed ones stood, or in front when these are not side by side. A mask is the list of the places
// where it is true, for all its dimensions merged into one.

#include "dispatch/function_op.h"

namespace eg {

/// Where the dimensions of index tensors go, and those they replace.
struct IndexedDims {
  Dims order;  ///< the dimensions of the input, the indexed ones side by side
  std::size_t first = 0;
  std::size_t count = 0;
  Shape index_shape;
};

struct Index {
  static constexpr op::Doc doc{"index", "The elements of input that indices name along dims."};
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
      "Writes values, broadcast, to the elements of input that indices name, or adds them."};
  static constexpr std::array args{Arg{"input"}, Arg{"indices"}, Arg{"values"},
                                   Arg{"accumulate", "false"}, Arg{"dims", "null"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([4, 3]), [I([1], 4)], T([3])", "T([4, 3]), [I([5], 4)], T([5, 1]), true",
      "T([2, 3, 2]), [B([3, 2])], T([]), false, [1]"};
  /// `dims` has the first dimension of each index, ascending; they are the leading ones without it.
  static Tensor call(const Tensor& input, const TensorList& indices, const Operand& values,
                     bool accumulate = false, const std::optional<Dims>& dims = {});

  struct Attrs {
    IndexedDims where;
    Tensor rows;  ///< made by the call, so nobody else can change it
    bool accumulate;
  };
  static GradList backward(const Backward<IndexPutInPlace>& b);
};

struct IndexPut {
  static constexpr op::Doc doc{
      "index_put", "A copy of input with values, broadcast, at the elements that indices name."};
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
