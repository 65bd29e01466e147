#pragma once

// Views of a part of their input. The gradient of a part is the incoming gradient in a tensor of
// zeros; the gradients of several parts made by one call (split, unbind) are joined by one node.

#include "dispatch/function_op.h"

namespace eg {

struct Slice {
  static constexpr op::Doc doc{
      "slice", "A view of every step-th slice along dim, from start to before end."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "0"}, Arg{"start", "null"},
                                   Arg{"end", "null"}, Arg{"step", "1"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([5, 3]), 0, 1, 4", "T([2, 6]), -1, -5, null, 2", "T([3, 2]), 0, 2, 1"};
  static Tensor call(const Tensor& input, std::int64_t dim = 0,
                     std::optional<std::int64_t> start = {}, std::optional<std::int64_t> end = {},
                     std::int64_t step = 1);

  struct Attrs {
    Shape input_shape;
    std::int64_t dim;
    std::int64_t start;
    std::int64_t length;
    std::int64_t step;
  };
  static GradList backward(const Backward<Slice>& b);
};

struct Narrow {
  static constexpr op::Doc doc{"narrow", "A view of length slices along dim, from start."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"start"}, Arg{"length"}};
  static constexpr std::array<std::string_view, 2> samples{"T([5, 3]), 0, 1, 3",
                                                           "T([2, 4]), -1, -3, 2"};
  static Tensor call(const Tensor& input, std::int64_t dim, std::int64_t start,
                     std::int64_t length);
};

struct Select {
  static constexpr op::Doc doc{"select",
                               "A view of the slice at index along dim, without that dimension."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"index"}};
  static constexpr std::array<std::string_view, 3> samples{"T([3, 4]), 1, 2", "T([3, 4]), 0, -1",
                                                           "T([3]), 0, 1"};
  static Tensor call(const Tensor& input, std::int64_t dim, std::int64_t index);

  struct Attrs {
    Shape input_shape;
    std::int64_t dim;
    std::int64_t index;
  };
  static GradList backward(const Backward<Select>& b);
};

struct SplitWithSizes {
  static constexpr op::Doc doc{"split_with_sizes",
                               "Views of consecutive parts of the given sizes along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"split_sizes"}, Arg{"dim", "0"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 7]), [3, 0, 4], -1"};
  static TensorList call(const Tensor& input, const Dims& split_sizes, std::int64_t dim = 0);

  struct Attrs {
    Shape input_shape;
    std::int64_t dim;
    Dims sizes;
  };
  static GradList backward(const Backward<SplitWithSizes>& b);
};

struct Split {
  static constexpr op::Doc doc{
      "split", "Views of consecutive parts along dim: of one size, or of the given sizes."};
  static constexpr std::array args{Arg{"input"}, Arg{"split_size"}, Arg{"dim", "0"}};
  static constexpr std::array<std::string_view, 3> samples{"T([7, 2]), 3", "T([7, 2]), [3, 4], 0",
                                                           "T([2, 4]), 2, -1"};
  static TensorList call(const Tensor& input, const Dims& split_size, std::int64_t dim = 0);

  using Attrs = SplitWithSizes::Attrs;
  static GradList backward(const Backward<Split>& b);
};

struct Chunk {
  static constexpr op::Doc doc{
      "chunk", "Views of at most chunks parts along dim, of one size; the last may be smaller."};
  static constexpr std::array args{Arg{"input"}, Arg{"chunks"}, Arg{"dim", "0"}};
  static constexpr std::array<std::string_view, 1> samples{"T([6, 2]), 4"};
  static TensorList call(const Tensor& input, std::int64_t chunks, std::int64_t dim = 0);
};

struct Unbind {
  static constexpr op::Doc doc{"unbind", "Views of all slices along dim, without that dimension."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "0"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 2])", "T([2, 3]), -1"};
  static TensorList call(const Tensor& input, std::int64_t dim = 0);

  struct Attrs {
    Shape shape;  ///< of one output
    std::int64_t dim;
    std::size_t count;
  };
  static GradList backward(const Backward<Unbind>& b);
};

struct Diagonal {
  static constexpr op::Doc doc{
      "diagonal", "A view of the diagonals of the planes of dim1 and dim2, as last dimension."};
  static constexpr std::array args{Arg{"input"}, Arg{"offset", "0"}, Arg{"dim1", "0"},
                                   Arg{"dim2", "1"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([3, 4])", "T([3, 4]), 1", "T([3, 2]), -1", "T([2, 3, 3]), 0, -2, -1"};
  static Tensor call(const Tensor& input, std::int64_t offset = 0, std::int64_t dim1 = 0,
                     std::int64_t dim2 = 1);

  struct Attrs {
    Shape input_shape;
    std::int64_t offset;
    std::int64_t dim1;
    std::int64_t dim2;
  };
  static GradList backward(const Backward<Diagonal>& b);
};

struct Unfold {
  static constexpr op::Doc doc{
      "unfold", "A view of windows of size slices along dimension, step apart, as last dimension."};
  static constexpr std::array args{Arg{"input"}, Arg{"dimension"}, Arg{"size"}, Arg{"step"}};
  static constexpr std::array<std::string_view, 3> samples{"T([7]), 0, 3, 2", "T([5, 2]), -2, 2, 1",
                                                           "T([]), 0, 1, 1"};
  static Tensor call(const Tensor& input, std::int64_t dimension, std::int64_t size,
                     std::int64_t step);

  struct Attrs {
    Shape input_shape;
    std::int64_t dim;
    std::int64_t size;
    std::int64_t step;
  };
  static GradList backward(const Backward<Unfold>& b);
};

using SliceOps =
    TypeList<Slice, Narrow, Select, SplitWithSizes, Split, Chunk, Unbind, Diagonal, Unfold>;

}  // namespace eg
