#pragma once

// Matrix products. The two gradients of a product are products with transposed operands,
//
//   C = A B      dA = dC Bᵀ      dB = Aᵀ dC
//
// and a transposed operand is the same memory with exchanged strides, so derivatives of any order
// copy no matrix. Operands must have the same dtype; integer products wrap around.

#include "dispatch/function_op.h"

namespace eg {

struct Mm {
  static constexpr op::Doc doc{"mm", "Product of two matrices."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"mat2"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3]), T([3, 4])",
                                                           "T([1, 5]), T([5, 1])"};
  static Tensor call(const Tensor& input, const Tensor& mat2);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"self", "mat2"};
  static GradList backward(const Backward<Mm>& b);
};

struct Bmm {
  static constexpr op::Doc doc{"bmm", "Products of two batches of matrices, pair by pair."};
  static constexpr std::array args{Arg{"input"}, Arg{"mat2"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3, 4]), T([2, 4, 5])"};
  static Tensor call(const Tensor& input, const Tensor& mat2);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"self", "mat2"};
  static GradList backward(const Backward<Bmm>& b);
};

struct Mv {
  static constexpr op::Doc doc{"mv", "Product of a matrix and a vector."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"vec"}};
  static constexpr std::array<std::string_view, 1> samples{"T([3, 4]), T([4])"};
  static Tensor call(const Tensor& input, const Tensor& vec);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"self", "vec"};
  static GradList backward(const Backward<Mv>& b);
};

struct Dot {
  static constexpr op::Doc doc{"dot", "Sum of the products of the elements of two vectors."};
  static constexpr std::array args{Arg{"input"}, Arg{"tensor"}};
  static constexpr std::array<std::string_view, 1> samples{"T([5]), T([5])"};
  static Tensor call(const Tensor& input, const Tensor& tensor);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"self", "tensor"};
  static GradList backward(const Backward<Dot>& b);
};

struct Matmul {
  static constexpr op::Doc doc{
      "matmul",
      "Matrix product over the last two dims; leading dims broadcast, vectors are promoted."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"other"}};
  static constexpr std::array<std::string_view, 8> samples{
      "T([3, 4]), T([4, 2])",       "T([4]), T([4])",          "T([3, 4]), T([4])",
      "T([4]), T([4, 3])",          "T([2, 3, 4]), T([4, 5])", "T([2, 1, 3, 4]), T([5, 4, 2])",
      "T([3, 4]), T([2, 2, 4, 3])", "T([4]), T([2, 4, 3])"};
  static Tensor call(const Tensor& input, const Tensor& other);
};

/// The matrix product, as formulas write it.
inline Tensor matmul(const Tensor& a, const Tensor& b) { return Matmul::call(a, b); }

struct Addmm {
  static constexpr op::Doc doc{
      "addmm",
      "beta * input + alpha * (mat1 @ mat2); input broadcasts, and is not read when beta is 0."};
  static constexpr bool in_place = true;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"mat1"}, Arg{"mat2"}, Arg{"beta", "1"},
                                   Arg{"alpha", "1"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([2, 4]), T([2, 3]), T([3, 4])", "T([4]), T([2, 3]), T([3, 4]), 0.5, 2",
      "T([2, 1]), T([2, 3]), T([3, 4]), 1, -1"};
  static Tensor call(const Tensor& input, const Tensor& mat1, const Tensor& mat2, Scalar beta,
                     Scalar alpha);

  struct Attrs {
    Shape input_shape;
    Scalar beta;
    Scalar alpha;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"mat1", "mat2"};
  static GradList backward(const Backward<Addmm>& b);
};

struct Baddbmm {
  static constexpr op::Doc doc{"baddbmm", "addmm for every matrix of a batch."};
  static constexpr bool in_place = true;
  static constexpr std::array args{Arg{"input"}, Arg{"batch1"}, Arg{"batch2"}, Arg{"beta", "1"},
                                   Arg{"alpha", "1"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([2, 3, 5]), T([2, 3, 4]), T([2, 4, 5])", "T([3, 1]), T([2, 3, 4]), T([2, 4, 5]), 2, 0.5"};
  static Tensor call(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Scalar beta,
                     Scalar alpha);

  using Attrs = Addmm::Attrs;
  static constexpr std::array<std::string_view, 2> saved_names{"batch1", "batch2"};
  static GradList backward(const Backward<Baddbmm>& b);
};

struct Linear {
  static constexpr op::Doc doc{"linear",
                               "input @ weightᵀ + bias over the last dim, for any leading dims."};
  static constexpr std::array args{Arg{"input"}, Arg{"weight"}, Arg{"bias", "null"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([2, 3]), T([4, 3]), T([4])", "T([2, 5, 3]), T([4, 3])", "T([3]), T([4, 3]), T([4])",
      "T([2, 3]), T([3])"};
  static Tensor call(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias);
};

struct Bilinear {
  static constexpr op::Doc doc{"bilinear",
                               "input1 @ weight[o] @ input2 + bias[o] for every output o."};
  static constexpr std::array args{Arg{"input1"}, Arg{"input2"}, Arg{"weight"},
                                   Arg{"bias", "null"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([2, 3]), T([2, 4]), T([5, 3, 4]), T([5])", "T([2, 2, 3]), T([2, 2, 4]), T([5, 3, 4])"};
  static Tensor call(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                     const std::optional<Tensor>& bias);
};

struct Outer {
  static constexpr op::Doc doc{"outer",
                               "Every element of one vector times every element of another."};
  static constexpr std::array args{Arg{"input"}, Arg{"vec2"}};
  static constexpr std::array<std::string_view, 1> samples{"T([3]), T([4])"};
  static Tensor call(const Tensor& input, const Tensor& vec2);
};

using MatmulOps = TypeList<Mm, Bmm, Mv, Dot, Matmul, Addmm, Baddbmm, Linear, Bilinear, Outer>;

}  // namespace eg
