#pragma once

// The `samples` of function ops: argument lists in JavaScript syntax, parsed and turned into calls.
//
// T(shape[, low, high]) is a float64 leaf that requires grad, I(shape, n) are int64 indices below
// n, B(shape) is a mask; arguments may also be lists, numbers, strings, true, false and null.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace eg::testing {

/// One argument of a sample.
struct SampleValue {
  enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kTensor, kList };
  Kind kind = Kind::kNull;
  double number = 0;
  std::string text;
  Tensor tensor;
  std::vector<SampleValue> list;
};

/// Parses the arguments of a sample; throws on a syntax error.
std::vector<SampleValue> parse_sample(std::string_view text);

/// The declaration of one argument of a function op.
struct ArgumentInfo {
  std::string_view kind;
  std::string_view default_value;
  std::vector<std::string_view> choices;
};

/// A sample bound to an op, which can be called with other values for the tensors that require
/// grad.
class SampleCall {
 public:
  SampleCall(std::size_t op_id, std::vector<ArgumentInfo> arguments, std::string_view sample);

  /// The tensors of the sample that require grad, in order.
  TensorList leaves() const;
  /// Runs the op, or its in-place form, with `leaves` instead of leaves(), and returns its
  /// floating-point results. Random ops draw the same numbers each time.
  TensorList operator()(const TensorList& leaves, bool in_place = false) const;

  /// The distinct sizes in the shapes of all tensors of the sample.
  std::vector<std::int64_t> sizes() const;
  /// The same call with every dimension of this size made empty, in all tensors.
  SampleCall without(std::int64_t size) const;
  /// The same call with 0-dim tensors.
  SampleCall with_scalars() const;
  /// The same call with dimensions of size `empty` made empty, and one of size `other` enlarged to
  /// `huge`.
  SampleCall without_but_huge(std::int64_t empty, std::int64_t other, std::int64_t huge) const;
  /// Returns calls in which one number is replaced by `value`, for each number, and one in which
  /// all are; this includes numbers in lists and arguments that the sample leaves out.
  std::vector<SampleCall> with_number(double value) const;

 private:
  template <class Reshape>
  SampleCall reshaped(Reshape&& reshape) const;
  SampleCall with_argument(std::size_t i, const SampleValue& value) const;

  std::size_t op_id_;
  std::vector<ArgumentInfo> arguments_;
  std::vector<SampleValue> values_;
};

}  // namespace eg::testing
