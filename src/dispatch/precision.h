#pragma once

// Stored dtypes: float16, bfloat16 and the 8-bit floats are computed in float32, complex32 in
// complex64, int8, int16 and uint16 in int32, uint32 and uint64 in int64. Elementwise ops convert
// tile by tile. For all other ops, these dtypes are handled in one place, where arguments are read:
// a tensor is converted to the computed dtype by a recorded cast, results are converted back to the
// dtype the operands promote to, and operands that the op changed are written back to the tensors
// they came from. So only ops that move elements know of these dtypes.
//
// Autocast is handled in the same place: it selects the dtype in which an op receives its operands.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "autograd/graph/node.h"
#include "base/dtype.h"
#include "base/scalar.h"
#include "base/small_vector.h"
#include "tensor/autograd_state.h"
#include "tensor/tensor.h"

namespace eg {

/// How an op treats operands of stored dtypes, and autocast.
enum class Precision : std::uint8_t {
  kComputed,   ///< receives them in the computed dtype
  kMoves,      ///< takes them unchanged: it computes nothing, or converts them itself
  kLower,      ///< like kComputed; under autocast its operands are rounded to half precision
  kFull,       ///< like kComputed; under autocast its result stays float32
  kFirst,      ///< like kComputed; its result has the dtype of its first operand
  kIndexed,    ///< like kFirst; its second operand has positions or a mask and stays unchanged
  kPositions,  ///< like kComputed; its results stay unchanged
};

/// The default dtypes of a thread; autocast is in AutogradState.
struct DTypeModes {
  /// The dtype of floating-point numbers for which none is given.
  DType of_floats = DType::kFloat32;
};

namespace detail {
inline constinit thread_local DTypeModes thread_dtype_modes;
}  // namespace detail

/// The modes of this thread.
inline DTypeModes& dtype_modes() { return detail::thread_dtype_modes; }

/// Sets the modes for a scope.
class DTypeModesGuard {
 public:
  explicit DTypeModesGuard(const DTypeModes& modes)
      : previous_(std::exchange(dtype_modes(), modes)) {}
  ~DTypeModesGuard() { dtype_modes() = previous_; }
  DTypeModesGuard(const DTypeModesGuard&) = delete;
  DTypeModesGuard& operator=(const DTypeModesGuard&) = delete;

 private:
  DTypeModes previous_;
};

/// The dtype of new floating-point tensors, and of fractions computed from integers.
inline DType default_dtype() { return dtype_modes().of_floats; }

namespace detail {
constexpr std::uint32_t dtype_bit(DType dtype) { return 1U << static_cast<unsigned>(dtype); }
inline constexpr std::uint32_t kStoredBits = ~(dtype_bit(DType{kComputedDTypeCount}) - 1);
}  // namespace detail

/// The operands of one call of an op, in the dtypes that it computes in.
class CallOperands {
 public:
  explicit CallOperands(Precision precision) : precision_(precision) {}
  ~CallOperands();
  CallOperands(const CallOperands&) = delete;
  CallOperands& operator=(const CallOperands&) = delete;

  /// The tensor that the op receives for `given`; undefined if `given` is.
  Tensor prepared(const Tensor& given) {
    if (!given.defined()) return given;
    const std::size_t place = operand_count_++;
    if (place == 0) first_ = given.dtype();
    if (precision_ == Precision::kIndexed && place > 0) {
      if (place == 1) return given;
      check_source(given);
    }
    const bool is_of_first = precision_ == Precision::kFirst || precision_ == Precision::kIndexed;
    const DType dtype = operand_dtype(given.dtype());
    if (!is_of_first || place == 0) seen_[given.ndim() == 0 ? 1 : 0] |= detail::dtype_bit(dtype);
    return is_stored(dtype) ? cast(given, dtype) : given;
  }
  /// The dtype that the op receives when the caller asks for `wanted`.
  DType prepared(DType wanted) {
    wanted_ = wanted;
    return computed_dtype(wanted);
  }

  /// True if a list of tensors has positions, which the op receives unchanged; the list is then the
  /// second operand.
  bool has_positions_in_list() {
    if (precision_ == Precision::kIndexed) operand_count_ = 2;
    return precision_ == Precision::kIndexed;
  }
  /// Throws if the dtype of the first operand cannot hold a number. Computing needs the check,
  /// because it happens in a wider dtype.
  void check_number(Scalar number) const {
    if (is_stored_integer(first_)) check_stored_number(number);
  }

  /// True when an operand or the requested dtype of this call is a stored one.
  bool has_stored() const {
    return !casts_.empty() || ((seen_[0] | seen_[1]) & detail::kStoredBits) != 0 ||
           (wanted_.has_value() && is_stored(*wanted_));
  }
  /// Writes operands that the op has changed back to the given tensors, and converts the results to
  /// the dtypes that the caller receives.
  void finish(std::span<Tensor> results) const;

 private:
  // The dtype that an operand counts as.
  DType operand_dtype(DType given) const {
    if (precision_ != Precision::kLower || computed_dtype(given) != DType::kFloat32) return given;
    const DType autocast = autograd_state().autocast;
    return is_half(autocast) ? autocast : given;
  }
  void check_source(const Tensor& given) const;
  void check_computes(DType dtype) const;
  void check_stored_number(Scalar number) const;
  Tensor cast(const Tensor& given, DType dtype);
  void write_back() const;
  DType result_dtype() const;
  std::optional<DType> promoted(bool (*counts)(DType)) const;
  Tensor finished(const Tensor& result, DType dtype) const;

  struct Cast {
    Tensor given;
    Tensor prepared;
    std::uint32_t version;
    /// The grad_fn of `prepared` when it was made.
    Node* history;
  };

  Precision precision_;
  std::size_t operand_count_ = 0;
  DType first_ = DType::kFloat32;
  SmallVector<Cast, 1> casts_;
  /// The dtypes of operands with dimensions and of 0-dim operands, one bit for each dtype.
  std::array<std::uint32_t, 2> seen_{};
  std::optional<DType> wanted_;
};

}  // namespace eg
