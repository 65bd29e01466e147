#pragma once

// Between complex and real tensors.
//
// A complex tensor is a real one with a last dimension of two, and may be viewed as that: real()
// and imag() are then selections, and kernels without a complex form can run on the parts.

#include "dispatch/function_op.h"

namespace eg {

struct ViewAsReal {
  static constexpr op::Doc doc{"view_as_real",
                               "A view of a complex tensor with a last dimension of size two: the "
                               "real and the imaginary parts."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"C([2, 3])", "C([])"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static GradList backward(const Backward<ViewAsReal>& b);
};

struct ViewAsComplex {
  static constexpr op::Doc doc{"view_as_complex",
                               "A view of a real tensor, whose last dimension of size two holds "
                               "real and imaginary parts, as a complex one."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 2])", "T([2])"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static GradList backward(const Backward<ViewAsComplex>& b);
};

struct Real {
  static constexpr op::Doc doc{"real", "A view of the real parts; of a real tensor, itself."};
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
  static constexpr op::Doc doc{"conj",
                               "The complex conjugate of every element; a real tensor is its own."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"C([2, 3])", "T([2])"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static GradList backward(const Backward<Conj>& b);
};

struct Angle {
  static constexpr op::Doc doc{"angle",
                               "The argument of every element in radians, in [-pi, pi]; of a real "
                               "one 0 or, below zero, pi."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"C([2, 3], 0.5, 2)", "T([2], 0.5, 2)"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static constexpr std::array<std::string_view, 1> saved_names{"self"};
  static GradList backward(const Backward<Angle>& b);
};

struct ToComplex {
  static constexpr op::Doc doc{"complex", "The numbers real + i imag, with broadcasting."};
  static constexpr std::array args{Arg{"real"}, Arg{"imag"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3]), T([2, 3])",
                                                           "T([2, 1]), T([3])"};
  static Tensor call(const Tensor& real, const Tensor& imag);

  struct Attrs {};
  static GradList backward(const Backward<ToComplex>& b);
};

struct Polar {
  static constexpr op::Doc doc{"polar",
                               "The numbers of magnitude abs and argument angle, in radians."};
  static constexpr std::array args{Arg{"abs"}, Arg{"angle"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3], 0.5, 2), T([3])"};
  static Tensor call(const Tensor& abs, const Tensor& angle);
};

/// The geometry of a complex tensor's parts: one more dimension, of two, and twice the steps.
struct PairGeometry {
  PairGeometry(Shape of_shape, Strides of_strides);
  Shape shape;
  Strides strides;
};
/// The memory of a complex tensor as that of its parts, not recorded.
Tensor parts_of(const Tensor& t);
/// The memory of parts, two side by side, as a complex tensor, not recorded.
Tensor joined_parts(const Tensor& parts);

using ComplexOps = TypeList<ViewAsReal, ViewAsComplex, Real, Imag, Conj, Angle, ToComplex, Polar>;

}  // namespace eg
