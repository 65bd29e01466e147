#pragma once

// Copies with rearranged elements, and the triangles and diagonals of matrices.

#include "dispatch/function_op.h"

namespace eg {

struct Flip {
  static constexpr op::Doc doc{"flip", "A copy with the order of elements reversed along dims."};
  static constexpr std::array args{Arg{"input"}, Arg{"dims"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 3]), [0, 1]", "T([2, 3]), -1",
                                                           "T([2]), []"};
  static Tensor call(const Tensor& input, const Dims& dims);

  struct Attrs {
    Dims dims;
  };
  static GradList backward(const Backward<Flip>& b);
};

struct Roll {
  static constexpr op::Doc doc{
      "roll", "A copy with elements shifted cyclically along dims; flattened first without dims."};
  static constexpr std::array args{Arg{"input"}, Arg{"shifts"}, Arg{"dims", "null"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 5]), 2, 1", "T([2, 3]), -1",
                                                           "T([3, 2]), [1, 1], [0, 1]"};
  static Tensor call(const Tensor& input, const Dims& shifts, const std::optional<Dims>& dims = {});

  struct Attrs {
    Dims shifts;
    Dims dims;
  };
  static GradList backward(const Backward<Roll>& b);
};

struct Rot90 {
  static constexpr op::Doc doc{"rot90", "A copy rotated k times by 90 degrees in the plane dims."};
  static constexpr std::array args{Arg{"input"}, Arg{"k", "1"}, Arg{"dims", "[0, 1]"}};
  static constexpr std::array<std::string_view, 4> samples{"T([2, 3])", "T([2, 3]), 2",
                                                           "T([2, 3]), -1, [1, 0]", "T([2, 3]), 4"};
  static Tensor call(const Tensor& input, std::int64_t k = 1, const Dims& dims = {0, 1});
};

struct Tril {
  static constexpr op::Doc doc{"tril",
                               "The lower triangle of matrices up to a diagonal, zero elsewhere."};
  static constexpr std::array args{Arg{"input"}, Arg{"diagonal", "0"}};
  static constexpr std::array<std::string_view, 2> samples{"T([4, 4]), -1", "T([2, 3, 2]), 1"};
  static constexpr bool in_place = true;
  static Tensor call(const Tensor& input, std::int64_t diagonal = 0);

  struct Attrs {
    std::int64_t diagonal;
  };
  static GradList backward(const Backward<Tril>& b);
};

struct Triu {
  static constexpr op::Doc doc{
      "triu", "The upper triangle of matrices from a diagonal on, zero elsewhere."};
  static constexpr std::array args{Arg{"input"}, Arg{"diagonal", "0"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 4]), 1", "T([2, 3, 2]), -1"};
  static constexpr bool in_place = true;
  static Tensor call(const Tensor& input, std::int64_t diagonal = 0);

  using Attrs = Tril::Attrs;
  static GradList backward(const Backward<Triu>& b);
};

struct Diag {
  static constexpr op::Doc doc{
      "diag", "A matrix with a vector on its diagonal, or the diagonal of a matrix."};
  static constexpr std::array args{Arg{"input"}, Arg{"diagonal", "0"}};
  static constexpr std::array<std::string_view, 4> samples{"T([3])", "T([3]), -1", "T([2]), 2",
                                                           "T([3, 4]), 1"};
  static Tensor call(const Tensor& input, std::int64_t diagonal = 0);
};

struct Trace {
  static constexpr op::Doc doc{"trace", "The sum of the diagonal of a matrix."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"T([4, 4])", "T([2, 3])"};
  static Tensor call(const Tensor& input);
};

struct FillDiagonalInPlace {
  static constexpr op::Doc doc{
      "fill_diagonal_",
      "Sets the diagonal of input to fillValue; with wrap, a tall matrix has further diagonals."};
  static constexpr std::array args{Arg{"input"}, Arg{"fill_value"}, Arg{"wrap", "false"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 3]), 0.5", "T([5, 2]), 1, true"};
  static Tensor call(const Tensor& input, Scalar fill_value, bool wrap = false);
};

using RearrangeOps = TypeList<Flip, Roll, Rot90, Tril, Triu, Diag, Trace, FillDiagonalInPlace>;

}  // namespace eg
