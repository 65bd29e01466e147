#pragma once

// Half precision: float16 and bfloat16 are how numbers are stored, and float32 is what they are
// computed in. Elementwise ops convert on the way through their tiles. All other ops meet halves in
// one place, where their arguments are read: there a tensor of halves becomes one of float32, as a
// recorded cast, results go back to what the operands promote to, and what the op has changed is
// written to the tensor it was made from. So no op but those that move elements knows of these
// dtypes.
//
// Autocast is the same place with another question: in which dtype an op wants its operands.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "autograd/graph/node.h"
#include "base/dtype.h"
#include "base/small_vector.h"
#include "tensor/autograd_state.h"
#include "tensor/tensor.h"

namespace eg {

/// What an op makes of operands of half precision, and of autocast.
enum class Precision : std::uint8_t {
  kFloat32,  ///< computes them in float32
  kMoves,    ///< takes them as they are, for it computes nothing or converts by itself
  kLower,    ///< like kFloat32; under autocast its operands are rounded to half precision
  kFull,     ///< like kFloat32; under autocast its result stays float32
  kFirst,    ///< like kFloat32; its result has the dtype of its first operand
};

/// What a thread takes for granted about dtypes; autocast is in AutogradState.
struct DTypeModes {
  /// What floats without a dtype become.
  DType of_floats = DType::kFloat32;
};

namespace detail {
inline constinit thread_local DTypeModes thread_dtype_modes;
}  // namespace detail

/// The modes of this thread.
inline DTypeModes& dtype_modes() { return detail::thread_dtype_modes; }

/// Sets them for a scope.
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

/// The dtype of new tensors of floats, and of results where integers give fractions.
inline DType default_dtype() { return dtype_modes().of_floats; }

namespace detail {
constexpr std::uint32_t dtype_bit(DType dtype) { return 1U << static_cast<unsigned>(dtype); }
inline constexpr std::uint32_t kHalfBits = dtype_bit(DType::kFloat16) | dtype_bit(DType::kBFloat16);
}  // namespace detail

/// The operands of one call of an op, in the dtypes that it computes in.
class CallOperands {
 public:
  explicit CallOperands(Precision precision) : precision_(precision) {}
  ~CallOperands();
  CallOperands(const CallOperands&) = delete;
  CallOperands& operator=(const CallOperands&) = delete;

  /// What the op gets for a tensor that it was given; undefined for none.
  Tensor prepared(const Tensor& given) {
    if (!given.defined()) return given;
    const bool counts = precision_ != Precision::kFirst || seen_[0] + seen_[1] == 0;
    const DType dtype = operand_dtype(given.dtype());
    if (counts) seen_[given.ndim() == 0 ? 1 : 0] |= detail::dtype_bit(dtype);
    return is_half(dtype) ? cast(given, dtype) : given;
  }
  /// What it gets for a dtype that it was asked for.
  DType prepared(DType wanted) {
    wanted_ = wanted;
    return computed_dtype(wanted);
  }

  /// False when nothing of this call is of half precision.
  bool has_half() const {
    return !casts_.empty() || ((seen_[0] | seen_[1]) & detail::kHalfBits) != 0 ||
           (wanted_.has_value() && is_half(*wanted_));
  }
  /// Writes what the op has changed of its operands to what it was given, and makes of its results
  /// what the caller gets.
  void finish(std::span<Tensor> results) const;

 private:
  // The dtype that an operand counts as.
  DType operand_dtype(DType given) const {
    if (precision_ != Precision::kLower || computed_dtype(given) != DType::kFloat32) return given;
    const DType autocast = autograd_state().autocast;
    return is_half(autocast) ? autocast : given;
  }
  Tensor cast(const Tensor& given, DType dtype);
  void write_back() const;
  DType result_dtype() const;
  Tensor finished(const Tensor& result, DType dtype) const;

  struct Cast {
    Tensor given;
    Tensor prepared;
    std::uint32_t version;
    /// Where `prepared` was in the graph.
    Node* history;
  };

  Precision precision_;
  SmallVector<Cast, 1> casts_;
  /// The dtypes of operands with dimensions and of those without, a bit each.
  std::array<std::uint32_t, 2> seen_{};
  std::optional<DType> wanted_;
};

}  // namespace eg
