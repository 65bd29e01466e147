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
// The op is added to the TypeList at the end of its header. The binding, the TypeScript signature,
// its documentation and the derived tests follow from the declaration: argument types are taken
// from `call`, names and defaults from `args`.
//
// `static constexpr bool in_place = true;` adds an in-place form, index_select_, which writes the
// result into the first argument. `in_place_view` adds one that turns the first argument into the
// view that is the result (see in_place.h). `reads_apart` makes the in-place form refuse arguments
// that share memory with the first.
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

/// Whether the in-place form of a function op changes the tensor's geometry and not its values.
template <class Op>
inline constexpr bool kIsViewInPlace = requires { requires Op::in_place_view; };

/// Whether a function op has an in-place form.
template <class Op>
inline constexpr bool kHasInPlaceForm = kIsViewInPlace<Op> || requires { requires Op::in_place; };

/// Whether the gradient of a function op cannot be checked by finite differences.
template <class Op>
inline constexpr bool kHasGradientOfItsOwn = requires { requires Op::has_gradient_of_its_own; };

/// Whether a function op takes sparse tensors. One that does not never gets any.
template <class Op>
inline constexpr bool kTakesSparse = requires { requires Op::takes_sparse; };

/// The result names of ops that pick elements.
inline constexpr std::array<std::string_view, 2> kValuesAndIndices{"values", "indices"};

/// A result that is one tensor or several, depending on an argument: max(x), max(x, dim). The op
/// names that argument: `static constexpr std::string_view several_with = "dim";`.
struct OneOrMore {
  TensorList tensors;
};

// Exceptions from the laws that the derived tests check are declared on the op.
// `static constexpr bool ignores_nan = true;`: a result that depends on an element need not be NaN
// when the element is (sort, nansum). `spreads_nan`: a result that does not depend on an element,
// because of a factor of zero or a lost comparison, may be NaN when the element is.
// `has_gradient_of_its_own`: the op draws random numbers, and its gradient is that of their
// distribution, 0 or an error, not that of the numbers drawn; or it rounds, and has none.
//
// `static constexpr bool takes_generator = true;`: in JavaScript it takes { generator } too.
//
// `samples` are argument lists in JavaScript syntax for the derived tests. T(shape[, low, high]) is
// a float64 tensor that requires grad (values in [-2, 2] by default), C() a complex128 one,
// I(shape, n) int64 indices below n, B(shape) a mask, Q(shape) random bytes; the rest is literal.

/// A list of numbers that need not be integers.
using Numbers = SmallVector<double, 5>;

/// The padding of a convolution: explicit sizes, "valid" (none) or "same" (keeps the input size).
struct Padding {
  enum class Kind : std::uint8_t { kSizes, kValid, kSame };
  Kind kind = Kind::kSizes;
  Dims sizes;
};

/// Sizes of a result; nullopt for a dimension that keeps the size of the input.
using OutputSizes = SmallVector<std::optional<std::int64_t>, 5>;

/// How a loss combines its elements.
enum class Reduction : std::uint8_t { kNone, kMean, kSum };
constexpr std::array<std::string_view, 3> enum_names(Reduction) { return {"none", "mean", "sum"}; }

}  // namespace eg
