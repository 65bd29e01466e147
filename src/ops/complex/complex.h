#pragma once

// Conversions between complex and real tensors.
//
// A complex tensor can be viewed as a real one with an added last dimension of size two, its parts.
// real() and imag() are selections from that view, and kernels without a complex form run on it.

#include "dispatch/function_op.h"

namespace eg {

struct ViewAsReal {
  static constexpr op::Doc doc{"view_as_real",
                               "A real view of a complex tensor, with a last dimension of size two "
                               "for the real and imaginary parts."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"C([2, 3])", "C([])"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static GradList backward(const Backward<ViewAsReal>& b);
};

struct ViewAsComplex {
  static constexpr op::Doc doc{"view_as_complex",
                               "A complex view of a real tensor whose last dimension, of size two, "
                               "holds real and imaginary parts."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 2])", "T([2])"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static GradList backward(const Backward<ViewAsComplex>& b);
};

struct Real {
  static constexpr op::Doc doc{"real", "A view of the real parts; for a real tensor, itself."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"C([2, 3])", "T([2])"};
  static Tensor call(const Tensor& input);
};

struct Imag {
  static constexpr op::Doc doc{"imag", "A view of the imaginary parts of a complex tensor."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 1> samples{"C([2, 3])"};
  static Tensor call(const Tensor& input);
};

struct Conj {
  static constexpr op::Doc doc{
      "conj", "The complex conjugate of every element; for a real tensor, itself."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"C([2, 3])", "T([2])"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static GradList backward(const Backward<Conj>& b);
};

struct Angle {
  static constexpr op::Doc doc{"angle",
                               "The argument of every element in radians, in [-pi, pi]; for real "
                               "numbers 0 or, if negative, pi."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"C([2, 3], 0.5, 2)", "T([2], 0.5, 2)"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static constexpr std::array<std::string_view, 1> saved_names{"self"};
  static GradList backward(const Backward<Angle>& b);
};

struct ToComplex {
  static constexpr op::Doc doc{"complex", "The complex numbers real + i imag, with broadcasting."};
  static constexpr std::array args{Arg{"real"}, Arg{"imag"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3]), T([2, 3])",
                                                           "T([2, 1]), T([3])"};
  static Tensor call(const Tensor& real, const Tensor& imag);

  struct Attrs {};
  static GradList backward(const Backward<ToComplex>& b);
};

struct Polar {
  static constexpr op::Doc doc{"polar",
                               "Complex numbers of magnitude abs and argument angle, in radians."};
  static constexpr std::array args{Arg{"abs"}, Arg{"angle"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3], 0.5, 2), T([3])"};
  static Tensor call(const Tensor& abs, const Tensor& angle);
};

/// The geometry of a complex tensor's parts: one more dimension, of size two, and doubled strides.
struct PairGeometry {
  PairGeometry(Shape of_shape, Strides of_strides);
  Shape shape;
  Strides strides;
};
/// The parts of a complex tensor as a view of its memory, not recorded.
Tensor parts_of(const Tensor& t);
/// A complex tensor as a view of the memory of its parts, not recorded.
Tensor joined_parts(const Tensor& parts);

using ComplexOps = TypeList<ViewAsReal, ViewAsComplex, Real, Imag, Conj, Angle, ToComplex, Polar>;

}  // namespace eg
