#pragma once

// Reading elements and slices at given indices, and writing to given indices.
//
// Indices are int64 or int32 and are checked before anything is written. All ops are deterministic:
// values for the same position are added in the order of the index.

#include "dispatch/function_op.h"
#include "ops/index/index_composite.h"
#include "ops/index/scatter_reduce.h"
#include "ops/index/search.h"

namespace eg {

/// What the gradient of an op with indices along a dimension needs.
struct PickAttrs {
  Shape input_shape;
  std::int64_t dim;
};

struct IndexSelect {
  static constexpr op::Doc doc{"index_select", "The slices of input at index along dim."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"index"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([4, 3]), 0, I([3], 4)", "T([2, 3, 2]), -2, I([5], 3)", "T([2, 3]), 1, I([4], 3)",
      "T([]), 0, I([1], 1)"};
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index);

  using Attrs = PickAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"index"};
  static GradList backward(const Backward<IndexSelect>& b);
};

struct IndexAdd {
  static constexpr op::Doc doc{"index_add",
                               "A copy of input with alpha * source added to the slices at index."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"index"}, Arg{"source"},
                                   Arg{"alpha", "1"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([4, 3]), 0, I([3], 4), T([3, 3])", "T([2, 3]), 1, I([4], 3), T([2, 4]), 2.5"};
  static constexpr bool in_place = true;
  static constexpr bool reads_apart = true;
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Tensor& source, Scalar alpha = 1);

  using Attrs = PickAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"index"};
  static GradList backward(const Backward<IndexAdd>& b);
};

struct IndexCopy {
  static constexpr op::Doc doc{
      "index_copy", "A copy of input with the slices at index replaced by those of source."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"index"}, Arg{"source"}};
  static constexpr std::array<std::string_view, 1> samples{"T([4, 2]), 0, I([1], 4), T([1, 2])"};
  static constexpr bool in_place = true;
  static constexpr bool reads_apart = true;
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Tensor& source);

  using Attrs = PickAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"index"};
  static GradList backward(const Backward<IndexCopy>& b);
};

struct IndexFill {
  static constexpr op::Doc doc{"index_fill",
                               "A copy of input with the slices at index set to value."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"index"}, Arg{"value"}};
  static constexpr std::array<std::string_view, 2> samples{"T([4, 2]), 0, I([2], 4), 0.5",
                                                           "T([2, 3]), -1, I([1], 3), T([])"};
  static constexpr bool in_place = true;
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Operand& value);
};

struct Gather {
  static constexpr op::Doc doc{
      "gather",
      "For each element of index, the element of input there along dim; with "
      "sparseGrad, the gradient of input is sparse."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"index"},
                                   Arg{"sparse_grad", "false"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([3, 4]), 1, I([3, 2], 4)", "T([3, 4]), 0, I([5, 3], 3)",
      "T([2, 3, 2]), 1, I([2, 4, 2], 3)", "T([]), 0, I([], 1)"};
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index,
                     bool sparse_grad = false);

  struct Attrs {
    Shape input_shape;
    std::int64_t dim;
    bool is_sparse;  ///< whether the gradient is sparse
  };
  static constexpr std::array<std::string_view, 1> saved_names{"index"};
  static GradList backward(const Backward<Gather>& b);
};

/// How scatter combines a value with the old element.
enum class ScatterMode : std::uint8_t { kNone, kAdd, kMultiply };
constexpr std::array<std::string_view, 3> enum_names(ScatterMode) {
  return {"none", "add", "multiply"};
}

struct Scatter {
  static constexpr op::Doc doc{"scatter",
                               "A copy of input with the elements of src, or a number, written at "
                               "index along dim; with reduce, added to or multiplied with the old "
                               "elements."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"index"}, Arg{"src"},
                                   Arg{"reduce", "'none'"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([3, 4]), 0, I([1, 3], 3), T([2, 4])", "T([3, 4]), 1, I([3, 2], 4), 1.5",
      "T([3, 4]), 1, I([3, 2], 4), T([3, 2]), 'add'"};
  static constexpr bool in_place = true;
  static constexpr bool reads_apart = true;
  /// As in PyTorch, multiplying is not differentiable.
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index, const Operand& src,
                     ScatterMode reduce = ScatterMode::kNone);

  using Attrs = PickAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"index"};
  static GradList backward(const Backward<Scatter>& b);
};

struct ScatterAdd {
  static constexpr op::Doc doc{
      "scatter_add", "A copy of input with the elements of src added to those at index along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"index"}, Arg{"src"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 4]), 1, I([3, 2], 4), T([3, 2])",
                                                           "T([3, 4]), 0, I([4, 2], 3), T([4, 3])"};
  static constexpr bool in_place = true;
  static constexpr bool reads_apart = true;
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src);

  using Attrs = PickAttrs;
  static constexpr std::array<std::string_view, 1> saved_names{"index"};
  static GradList backward(const Backward<ScatterAdd>& b);
};

struct Embedding {
  static constexpr op::Doc doc{
      "embedding",
      "The rows of weight at the indices in input; row paddingIdx gets no gradient. "
      "With sparse, the gradient of weight is a sparse tensor of the chosen rows."};
  static constexpr std::array args{Arg{"input"}, Arg{"weight"}, Arg{"padding_idx", "null"},
                                   Arg{"sparse", "false"}};
  static constexpr std::array<std::string_view, 2> samples{"I([2, 2], 3), T([3, 4])",
                                                           "I([5], 3), T([4, 2]), -1"};
  static Tensor call(const Tensor& input, const Tensor& weight,
                     std::optional<std::int64_t> padding_idx = {}, bool sparse = false);

  struct Attrs {
    std::int64_t rows;
    std::int64_t padding;  ///< -1 for none
    bool is_sparse;        ///< whether the gradient is sparse
  };
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static GradList backward(const Backward<Embedding>& b);
};

using IndexOps =
    Concat<TypeList<IndexSelect, IndexAdd, IndexCopy, IndexFill, Gather, Scatter, ScatterAdd>,
           ScatterReduceOps, IndexCompositeOps, SearchOps, TypeList<Embedding>>;

}  // namespace eg
