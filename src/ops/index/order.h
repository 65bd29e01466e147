#pragma once

// Sorted elements, and running maxima and minima. NaN counts as larger than every number; equal
// elements keep their order. Gradients go to the elements that were chosen, except that the median
// of all elements shares its gradient among the elements equal to it.

#include "dispatch/function_op.h"
#include "ops/index/selection.h"

namespace eg {

struct Sort {
  static constexpr op::Doc doc{"sort", "[values, indices]: the elements along dim in order."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "-1"}, Arg{"descending", "false"},
                                   Arg{"stable", "false"}};
  static constexpr std::array<std::string_view, 4> samples{"T([5])", "T([4, 3]), 0, true",
                                                           "T([2, 3, 2]), -2", "T([])"};
  static constexpr std::array results = kValuesAndIndices;
  static TensorList call(const Tensor& input, std::int64_t dim = -1, bool descending = false,
                         bool stable = false);

  using Attrs = ChosenAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Sort>& b);
};

struct Argsort {
  static constexpr op::Doc doc{"argsort", "The indices that put the elements along dim in order."};
  static constexpr std::array args = Sort::args;
  static constexpr std::array<std::string_view, 1> samples{"T([4, 3]), 0, true"};
  static Tensor call(const Tensor& input, std::int64_t dim = -1, bool descending = false,
                     bool stable = false);
};

struct Topk {
  static constexpr op::Doc doc{
      "topk", "[values, indices]: the k largest, or smallest, elements along dim, in order."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args{Arg{"input"}, Arg{"k"}, Arg{"dim", "-1"}, Arg{"largest", "true"},
                                   Arg{"sorted", "true"}};
  static constexpr std::array<std::string_view, 4> samples{"T([5]), 2", "T([4, 3]), 3, 0, false",
                                                           "T([2, 3]), 0", "T([]), 1"};
  static constexpr std::array results = kValuesAndIndices;
  static TensorList call(const Tensor& input, std::int64_t k, std::int64_t dim = -1,
                         bool largest = true, bool sorted = true);

  using Attrs = ChosenAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Topk>& b);
};

struct Msort {
  static constexpr op::Doc doc{"msort", "The elements along the first dimension in order."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 1> samples{"T([4, 3])"};
  static Tensor call(const Tensor& input);
};

struct Kthvalue {
  static constexpr op::Doc doc{
      "kthvalue", "[values, indices]: the k-th smallest element along dim, counted from one."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args{Arg{"input"}, Arg{"k"}, Arg{"dim", "-1"},
                                   Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 3> samples{"T([5]), 2", "T([4, 3]), 4, 0, true",
                                                           "T([]), 1"};
  static constexpr std::array results = kValuesAndIndices;
  static TensorList call(const Tensor& input, std::int64_t k, std::int64_t dim = -1,
                         bool keepdim = false);

  using Attrs = ChosenAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Kthvalue>& b);
};

struct Median {
  static constexpr op::Doc doc{
      "median", "The middle element, the lower one of two; along dim, [values, indices]."};
  static constexpr std::string_view several_with = "dim";
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "null"}, Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 5> samples{"T([7])", "T([2, 3])", "T([2, 4, 2]), 1",
                                                           "T([3, 4]), -1, true", "T([]), 0"};
  static constexpr std::array results = kValuesAndIndices;
  static OneOrMore call(const Tensor& input, std::optional<std::int64_t> dim = {},
                        bool keepdim = false);

  using Attrs = ChosenAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Median>& b);
};

struct Nanmedian {
  static constexpr op::Doc doc{
      "nanmedian", "The median of the elements that are not NaN; along dim, [values, indices]."};
  static constexpr std::string_view several_with = "dim";
  static constexpr bool ignores_nan = true;
  static constexpr std::array args = Median::args;
  static constexpr std::array samples = Median::samples;
  static constexpr std::array results = kValuesAndIndices;
  static OneOrMore call(const Tensor& input, std::optional<std::int64_t> dim = {},
                        bool keepdim = false);

  using Attrs = ChosenAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Nanmedian>& b);
};

struct Mode {
  static constexpr op::Doc doc{
      "mode",
      "[values, indices]: the most frequent element along dim, or the smallest of those, and the "
      "index of its last occurrence."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "-1"}, Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 3> samples{"T([5])", "T([4, 3]), 0, true", "T([])"};
  static constexpr std::array results = kValuesAndIndices;
  static TensorList call(const Tensor& input, std::int64_t dim = -1, bool keepdim = false);

  using Attrs = ChosenAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Mode>& b);
};

struct Cummax {
  static constexpr op::Doc doc{
      "cummax", "[values, indices]: running maxima along dim; of equal elements, the last."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}};
  static constexpr std::array<std::string_view, 4> samples{"T([5]), 0", "T([4, 3]), -2",
                                                           "T([2, 3]), 1", "T([]), 0"};
  static constexpr std::array results = kValuesAndIndices;
  static TensorList call(const Tensor& input, std::int64_t dim);

  using Attrs = ChosenAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Cummax>& b);
};

struct Cummin {
  static constexpr op::Doc doc{
      "cummin", "[values, indices]: running minima along dim; of equal elements, the last."};
  static constexpr std::array args = Cummax::args;
  static constexpr std::array samples = Cummax::samples;
  static constexpr std::array results = kValuesAndIndices;
  static TensorList call(const Tensor& input, std::int64_t dim);

  using Attrs = ChosenAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Cummin>& b);
};

using OrderOps =
    TypeList<Sort, Argsort, Msort, Topk, Kthvalue, Median, Nanmedian, Mode, Cummax, Cummin>;

}  // namespace eg
