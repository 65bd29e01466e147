#pragma once

// Largest and smallest elements. If one of the elements is NaN, so is the result.
//
// amax and amin divide the gradient evenly among elements that tie; max and min along a dimension
// pass it to the element whose index they return.

#include "dispatch/function_op.h"
#include "ops/reduce/reduce.h"

namespace eg {

/// What the gradients of amax and amin need.
struct ExtremumAttrs {
  ReducedDims reduced;
  /// True for max(x): the elements equal to the result, NaN included, share its gradient, and the
  /// others have none. False for amax: the others get the share times 0, so that NaN and infinity
  /// propagate to them.
  bool is_chosen;
};

struct Amax {
  static constexpr op::Doc doc{"amax",
                               "Largest element, of all or along dim; ties share the gradient."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "null"}, Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 4> samples{"T([2, 3, 4])", "T([2, 3, 4]), 1",
                                                           "T([2, 3, 4]), [0, -1], true", "T([])"};
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {},
                     bool keepdim = false);

  using Attrs = ExtremumAttrs;
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Amax>& b);
};

struct Amin {
  static constexpr op::Doc doc{"amin",
                               "Smallest element, of all or along dim; ties share the gradient."};
  static constexpr std::array args = Amax::args;
  static constexpr std::array samples = Amax::samples;
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {},
                     bool keepdim = false);

  using Attrs = ExtremumAttrs;
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Amin>& b);
};

/// What the gradients of max and min along a dimension need.
struct SelectedAttrs {
  Shape input_shape;
  std::int64_t dim;
  bool keepdim;
};

struct Max {
  static constexpr op::Doc doc{
      "max", "Largest element; with dim, [values, indices]; of two tensors, their maximum."};
  static constexpr std::string_view several_with = "dim";
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "null"}, Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 5> samples{
      "T([2, 3, 4])", "T([2, 3, 4]), 1", "T([3, 4]), -1, true", "T([]), 0", "T([2, 3]), T([3])"};
  static constexpr std::array results = kValuesAndIndices;
  static OneOrMore call(const Tensor& input, const std::optional<Operand>& dim = {},
                        bool keepdim = false);

  using Attrs = SelectedAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Max>& b);
};

struct Min {
  static constexpr op::Doc doc{
      "min", "Smallest element; with dim, [values, indices]; of two tensors, their minimum."};
  static constexpr std::string_view several_with = "dim";
  static constexpr std::array args = Max::args;
  static constexpr std::array samples = Max::samples;
  static constexpr std::array results = kValuesAndIndices;
  static OneOrMore call(const Tensor& input, const std::optional<Operand>& dim = {},
                        bool keepdim = false);

  using Attrs = SelectedAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Min>& b);
};

struct Argmax {
  static constexpr op::Doc doc{"argmax",
                               "Index of the first largest element, of all or along dim."};
  static constexpr std::array args = Max::args;
  static constexpr std::array<std::string_view, 4> samples{"T([2, 3, 4])", "T([2, 3, 4]), 1",
                                                           "T([3, 4]), -1, true", "T([]), 0"};
  static Tensor call(const Tensor& input, std::optional<std::int64_t> dim = {},
                     bool keepdim = false);
};

struct Argmin {
  static constexpr op::Doc doc{"argmin",
                               "Index of the first smallest element, of all or along dim."};
  static constexpr std::array args = Max::args;
  static constexpr std::array samples = Argmax::samples;
  static Tensor call(const Tensor& input, std::optional<std::int64_t> dim = {},
                     bool keepdim = false);
};

using MinmaxOps = TypeList<Amax, Amin, Max, Min, Argmax, Argmin>;

}  // namespace eg
