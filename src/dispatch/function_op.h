#pragma once

// Ops that are not elementwise: reductions, views, matrix products, indexing, fused kernels,
// composites. Each is a struct:
//
//   struct IndexSelect {
//     static constexpr op::Doc doc{"index_select", "Slices of input along dim, picked by index."};
//     static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"index"}};
//     static constexpr std::array<std::string_view, 1> samples{"T([4, 3]), 0, I([3], 4)"};
//     static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index);
//     ... Attrs, saved_names, backward when it records itself (see record.h)
//   };
//
// `static constexpr bool in_place = true;` gives it an in-place form too, index_select_: the result
// written into the first argument. `in_place_view` makes the first argument the view that is the
// result (see in_place.h). `reads_apart` refuses arguments that share memory with the first, there.
//
// and a place in the TypeList at the end of its header. From that follow the binding, the
// TypeScript signature, its documentation and the derived tests: the types of the arguments are
// read off `call`, names and defaults off `args`.
//
// Argument types: const Tensor&, const std::optional<Tensor>&, const TensorList&, const Operand& (a
// tensor or a number), std::int64_t, double, bool, Scalar, const Dims&, std::optional<...> of
// these, std::optional<Operand>, std::optional<Numbers>, OutputSizes, Padding,
// std::optional<DType>, and enums described by `enum_names(Enum)`. Results: Tensor, TensorList (an
// array), or OneOrMore (one tensor, or an array when there are several). `results` names the
// elements of an array that always has the same number of them.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/scalar.h"
#include "base/small_vector.h"
#include "base/type_list.h"
#include "dispatch/elementwise.h"
#include "dispatch/record.h"
#include "formulas/vocabulary.h"
#include "tensor/tensor.h"

namespace eg {

/// One argument of a function op.
struct Arg {
  std::string_view name;
  /// The default as JavaScript spells it; empty for a required argument.
  std::string_view default_value = {};
};

/// Who an op is for.
enum class Audience : std::uint8_t {
  kPublic,
  kFactory,   ///< public, and takes {dtype, device, requiresGrad} in JavaScript
  kInternal,  ///< for the package's own code
};

/// Whether an in-place form of a function op changes not values but what the tensor shows.
template <class Op>
inline constexpr bool kIsViewInPlace = requires { requires Op::in_place_view; };

/// Whether a function op has an in-place form beside it.
template <class Op>
inline constexpr bool kHasInPlaceForm = kIsViewInPlace<Op> || requires { requires Op::in_place; };

/// Whether finite differences of a function op tell nothing about its gradient.
template <class Op>
inline constexpr bool kHasGradientOfItsOwn = requires { requires Op::has_gradient_of_its_own; };

/// The results of ops that pick elements.
inline constexpr std::array<std::string_view, 2> kValuesAndIndices{"values", "indices"};

/// A result that is one tensor or several, by an argument: max(x), max(x, dim). The op names it:
/// `static constexpr std::string_view several_with = "dim";`.
struct OneOrMore {
  TensorList tensors;
};

// What a law allows an op is said on the op. `static constexpr bool ignores_nan = true;`: a result
// that depends on an element need not be NaN because the element is (sort, nansum). `spreads_nan`:
// a result that does not depend on the element, because of a factor of zero or a comparison that it
// loses, may be NaN all the same. `has_gradient_of_its_own`: what it draws moves with its arguments
// otherwise than its gradient says, which is that of a distribution, 0 or an error.
//
// `static constexpr bool takes_generator = true;`: in JavaScript it takes { generator } too.
//
// `samples` are argument lists in JavaScript syntax for the derived tests. T(shape[, low, high]) is
// a float64 tensor that requires grad (values in [-2, 2] by default), C() a complex128 one,
// I(shape, n) int64 indices below n, B(shape) a mask; the rest is literal.

/// A list of numbers that need not be whole.
using Numbers = SmallVector<double, 5>;

/// The padding of a convolution: sizes, or none, or what keeps the size of the input.
struct Padding {
  enum class Kind : std::uint8_t { kSizes, kValid, kSame };
  Kind kind = Kind::kSizes;
  Dims sizes;
};

/// Sizes of a result; none for a dimension that keeps that of the input.
using OutputSizes = SmallVector<std::optional<std::int64_t>, 5>;

/// How a loss combines its elements.
enum class Reduction : std::uint8_t { kNone, kMean, kSum };
constexpr std::array<std::string_view, 3> enum_names(Reduction) { return {"none", "mean", "sum"}; }

}  // namespace eg
