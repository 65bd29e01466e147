#pragma once

// Views with explicit geometry: as_strided and its gradient, which other views use.

#include "dispatch/function_op.h"

namespace eg {

struct AsStrided {
  static constexpr op::Doc doc{"as_strided", "A view with the given size, strides and offset."};
  static constexpr std::array args{Arg{"input"}, Arg{"size"}, Arg{"stride"},
                                   Arg{"storage_offset", "null"}};
  static constexpr std::array<std::string_view, 2> samples{"T([12]), [3, 2], [4, 1], 1",
                                                           "T([6]), [2, 3], [1, 1]"};
  static Tensor call(const Tensor& input, const Dims& size, const Dims& stride,
                     std::optional<std::int64_t> storage_offset);

  /// Geometry of input and view; offsets are relative to the input's first element.
  struct Attrs {
    Shape input_shape;
    Strides input_strides;
    Shape shape;
    Strides strides;
    std::int64_t offset;
    /// Set when only one of input and view is complex: that one is then described by its real and
    /// imaginary parts.
    bool input_is_complex = false;
    bool view_is_complex = false;
  };
  static GradList backward(const Backward<AsStrided>& b);
};

/// The gradient of a view with this geometry: a tensor with the input's layout that has `grad` at
/// the elements of the view, summed where an element is in the view twice, and zero elsewhere.
Tensor as_strided_gradient(const Tensor& grad, const AsStrided::Attrs& geometry);

using StrideOps = TypeList<AsStrided>;

}  // namespace eg
