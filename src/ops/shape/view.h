#pragma once

// Views of all elements of their input in another shape or order.
//
// A view shares storage and version counter with its input, and its gradient is the inverse view.
// Views that leave elements out are in slice.h.

#include "dispatch/function_op.h"
#include "ops/shape/slice.h"

namespace eg {

struct View {
  static constexpr op::Doc doc{"view", "The same elements in another shape, without a copy."};
  static constexpr std::array args{Arg{"input"}, Arg{"shape"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([2, 6]), [4, 3]", "T([2, 6]), [3, -1, 2]", "T([]), [1, 1]", "T([1]), []"};
  static Tensor call(const Tensor& input, const Dims& shape);

  struct Attrs {
    Shape input_shape;
  };
  static GradList backward(const Backward<View>& b);
};

struct ViewDType {
  static constexpr op::Doc doc{"view_dtype",
                               "The same memory read as another dtype, without a graph."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"input"}, Arg{"dtype"}};
  static Tensor call(const Tensor& input, DType dtype);
};

struct Reshape {
  static constexpr op::Doc doc{"reshape",
                               "The elements in another shape: a view if possible, else a copy."};
  static constexpr std::array args{Arg{"input"}, Arg{"shape"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 6]), [3, 4]",
                                                           "T([2, 3, 2]), [-1]"};
  static Tensor call(const Tensor& input, const Dims& shape);
};

struct ViewAs {
  static constexpr op::Doc doc{"view_as", "A view of input in the shape of other."};
  static constexpr std::array args{Arg{"input"}, Arg{"other"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3]), B([3, 2])"};
  static Tensor call(const Tensor& input, const Tensor& other);
};

struct Flatten {
  static constexpr op::Doc doc{"flatten", "Merges the dimensions startDim to endDim into one."};
  static constexpr std::array args{Arg{"input"}, Arg{"start_dim", "0"}, Arg{"end_dim", "-1"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 3, 4]), 1", "T([2, 3, 4]), 0, -2",
                                                           "T([])"};
  static Tensor call(const Tensor& input, std::int64_t start_dim = 0, std::int64_t end_dim = -1);
};

struct Unflatten {
  static constexpr op::Doc doc{"unflatten",
                               "Splits dimension dim into dimensions of the given sizes."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"sizes"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 6]), 1, [2, 3]",
                                                           "T([6, 2]), -2, [-1, 2]"};
  static Tensor call(const Tensor& input, std::int64_t dim, const Dims& sizes);
};

struct Transpose {
  static constexpr op::Doc doc{"transpose", "A view with dimensions dim0 and dim1 exchanged."};
  static constexpr bool in_place_view = true;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dim0"}, Arg{"dim1"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 3, 4]), 0, 2", "T([2, 3]), -1, 0",
                                                           "T([]), 0, -1"};
  static Tensor call(const Tensor& input, std::int64_t dim0, std::int64_t dim1);

  struct Attrs {
    std::int64_t dim0;
    std::int64_t dim1;
  };
  static GradList backward(const Backward<Transpose>& b);
};

struct Swapaxes {
  static constexpr op::Doc doc{"swapaxes", "A view with dimensions axis0 and axis1 exchanged."};
  static constexpr bool in_place_view = true;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"axis0"}, Arg{"axis1"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3, 4]), 0, 2"};
  static Tensor call(const Tensor& input, std::int64_t axis0, std::int64_t axis1);
};

struct MatrixTranspose {
  static constexpr op::Doc doc{"t", "The transpose of a matrix; a vector stays as it is."};
  static constexpr bool in_place_view = true;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3])", "T([3])"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static GradList backward(const Backward<MatrixTranspose>& b);
};

struct Permute {
  static constexpr op::Doc doc{"permute", "A view with the dimensions in the order dims."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dims"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3, 4]), [2, 0, 1]",
                                                           "T([2, 3]), [-1, 0]"};
  static Tensor call(const Tensor& input, const Dims& dims);

  struct Attrs {
    Dims dims;
  };
  static GradList backward(const Backward<Permute>& b);
};

struct Movedim {
  static constexpr op::Doc doc{
      "movedim", "A view with the dimensions source moved to the positions destination."};
  static constexpr std::array args{Arg{"input"}, Arg{"source"}, Arg{"destination"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3, 4]), 0, 2",
                                                           "T([2, 3, 4]), [0, 1], [-1, 0]"};
  static Tensor call(const Tensor& input, const Dims& source, const Dims& destination);
};

struct Squeeze {
  static constexpr op::Doc doc{
      "squeeze", "A view without dimensions of size one: all of them, or those in dim."};
  static constexpr bool in_place_view = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "null"}};
  static constexpr std::array<std::string_view, 4> samples{"T([1, 2, 1])", "T([2, 1, 3]), 1",
                                                           "T([1, 2, 1]), [0, 1]", "T([]), -1"};
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {});

  struct Attrs {
    Shape input_shape;
  };
  static GradList backward(const Backward<Squeeze>& b);
};

struct Unsqueeze {
  static constexpr op::Doc doc{"unsqueeze", "A view with a dimension of size one inserted at dim."};
  static constexpr bool in_place_view = true;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 3]), 1", "T([2, 3]), -1",
                                                           "T([]), 0"};
  static Tensor call(const Tensor& input, std::int64_t dim);

  struct Attrs {
    std::int64_t dim;
  };
  static GradList backward(const Backward<Unsqueeze>& b);
};

struct Expand {
  static constexpr op::Doc doc{"expand",
                               "A view that repeats dimensions of size one; -1 keeps a size."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"size"}};
  static constexpr std::array<std::string_view, 3> samples{"T([3, 1]), [2, 3, 4]",
                                                           "T([1, 3]), [2, -1]", "T([]), [2]"};
  static Tensor call(const Tensor& input, const Dims& size);

  struct Attrs {
    Shape input_shape;
  };
  static GradList backward(const Backward<Expand>& b);
};

struct ExpandAs {
  static constexpr op::Doc doc{"expand_as", "input expanded to the shape of other."};
  static constexpr std::array args{Arg{"input"}, Arg{"other"}};
  static constexpr std::array<std::string_view, 1> samples{"T([3]), B([2, 3])"};
  static Tensor call(const Tensor& input, const Tensor& other);
};

struct BroadcastTo {
  static constexpr op::Doc doc{"broadcast_to", "input expanded to a shape."};
  static constexpr std::array args{Arg{"input"}, Arg{"shape"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 1]), [2, 3]"};
  static Tensor call(const Tensor& input, const Dims& shape);
};

struct Detach {
  static constexpr op::Doc doc{"detach", "The same values without a graph."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2])"};
  static Tensor call(const Tensor& input);
};

using ViewOps = Concat<TypeList<View, ViewDType, Reshape, ViewAs, Flatten, Unflatten, Transpose,
                                Swapaxes, MatrixTranspose, Permute, Movedim, Squeeze, Unsqueeze,
                                Expand, ExpandAs, BroadcastTo, Detach>,
                       SliceOps>;

}  // namespace eg
