#pragma once

// The calling convention of the op table: arguments are float64 words in a frame, and each argument
// encodes its own length. ArgumentType<T> reads a T and names its kind for the schema.
//
//   tensor      handle                          tensor?    handle or 0
//   operand     kind, value (see read_operand)  operand?   -1, or operand
//   tensors     count, handles...
//   int number bool choice   value              int? ...   0, or 1 and value
//   ints        count, values...                ints?      -1, or count, values...
//   numbers?    -1, or count, values...         padding    ints, or -1 for valid, -2 for same
//   sizes       count, values, NaN for null...
//   dtype       code                            dtype?     -1 or code

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/checked_int.h"
#include "base/scalar.h"
#include "dispatch/elementwise.h"
#include "dispatch/function_op.h"
#include "dispatch/handles/handle_table.h"
#include "dispatch/precision.h"
#include "tensor/tensor.h"

namespace eg {

/// Whether the tensors of a call may be sparse.
enum class Sparse : std::uint8_t { kRefused, kTaken };

/// Reads words from a frame; throws InvalidArgument when there are too few.
class ArgumentReader {
 public:
  /// If `operands` is not null, tensors and dtypes are returned as it prepares them.
  ArgumentReader(const double* words, std::size_t count, Sparse sparse,
                 CallOperands* operands = nullptr)
      : next_(words), end_(words + count), operands_(operands), sparse_(sparse) {}

  double word();
  std::int64_t integer() { return checked_integer(word()); }
  Tensor tensor();
  Tensor optional_tensor();
  TensorList tensors();
  Scalar scalar();
  Operand operand();
  std::optional<Operand> optional_operand();
  DType dtype();
  std::optional<DType> optional_dtype();
  /// An index into a list of `count` names.
  std::size_t choice(std::size_t count);

 private:
  void check_takes_sparse() const;
  Scalar scalar_of_kind(std::int64_t kind);
  Scalar any_scalar(std::int64_t kind);
  Operand operand_of_kind(std::int64_t kind);

  Tensor prepared(const Tensor& given) {
    return operands_ == nullptr ? given : operands_->prepared(given);
  }

  const double* next_;
  const double* end_;
  CallOperands* operands_;
  Sparse sparse_;
};

template <class T>
struct ArgumentType;

template <>
struct ArgumentType<Tensor> {
  static constexpr std::string_view kind = "tensor";
  static Tensor read(ArgumentReader& reader) { return reader.tensor(); }
};
template <>
struct ArgumentType<std::optional<Tensor>> {
  static constexpr std::string_view kind = "tensor?";
  static std::optional<Tensor> read(ArgumentReader& reader) {
    Tensor tensor = reader.optional_tensor();
    return tensor.defined() ? std::optional(std::move(tensor)) : std::nullopt;
  }
};
template <>
struct ArgumentType<Operand> {
  static constexpr std::string_view kind = "operand";
  static Operand read(ArgumentReader& reader) { return reader.operand(); }
};
template <>
struct ArgumentType<std::optional<Operand>> {
  static constexpr std::string_view kind = "operand?";
  static std::optional<Operand> read(ArgumentReader& reader) { return reader.optional_operand(); }
};
template <>
struct ArgumentType<TensorList> {
  static constexpr std::string_view kind = "tensors";
  static TensorList read(ArgumentReader& reader) { return reader.tensors(); }
};
template <>
struct ArgumentType<Scalar> {
  static constexpr std::string_view kind = "scalar";
  static Scalar read(ArgumentReader& reader) { return reader.scalar(); }
};
template <>
struct ArgumentType<std::int64_t> {
  static constexpr std::string_view kind = "int";
  static std::int64_t read(ArgumentReader& reader) { return reader.integer(); }
};
template <>
struct ArgumentType<double> {
  static constexpr std::string_view kind = "number";
  static double read(ArgumentReader& reader) { return reader.word(); }
};
template <>
struct ArgumentType<bool> {
  static constexpr std::string_view kind = "bool";
  static bool read(ArgumentReader& reader) { return reader.word() != 0; }
};
template <>
struct ArgumentType<DType> {
  static constexpr std::string_view kind = "dtype";
  static DType read(ArgumentReader& reader) { return reader.dtype(); }
};
template <>
struct ArgumentType<Dims> {
  static constexpr std::string_view kind = "ints";
  static Dims read(ArgumentReader& reader) {
    Dims dims;
    for (std::int64_t count = reader.integer(); count > 0; --count)
      dims.push_back(reader.integer());
    return dims;
  }
};
template <>
struct ArgumentType<std::optional<Dims>> {
  static constexpr std::string_view kind = "ints?";
  static std::optional<Dims> read(ArgumentReader& reader) {
    std::int64_t count = reader.integer();
    if (count < 0) return std::nullopt;
    Dims dims;
    for (; count > 0; --count) dims.push_back(reader.integer());
    return dims;
  }
};
template <>
struct ArgumentType<std::optional<Numbers>> {
  static constexpr std::string_view kind = "numbers?";
  static std::optional<Numbers> read(ArgumentReader& reader) {
    std::int64_t count = reader.integer();
    if (count < 0) return std::nullopt;
    Numbers numbers;
    for (; count > 0; --count) numbers.push_back(reader.word());
    return numbers;
  }
};
template <>
struct ArgumentType<OutputSizes> {
  static constexpr std::string_view kind = "sizes";
  static OutputSizes read(ArgumentReader& reader) {
    OutputSizes sizes;
    for (std::int64_t count = reader.integer(); count > 0; --count) {
      const double size = reader.word();
      sizes.push_back(std::isnan(size) ? std::nullopt : std::optional(checked_integer(size)));
    }
    return sizes;
  }
};
template <>
struct ArgumentType<Padding> {
  static constexpr std::string_view kind = "padding";
  static Padding read(ArgumentReader& reader) {
    std::int64_t count = reader.integer();
    if (count < 0) return {count == -1 ? Padding::Kind::kValid : Padding::Kind::kSame, {}};
    Padding padding;
    for (; count > 0; --count) padding.sizes.push_back(reader.integer());
    return padding;
  }
};
template <>
struct ArgumentType<std::optional<DType>> {
  static constexpr std::string_view kind = "dtype?";
  static std::optional<DType> read(ArgumentReader& reader) { return reader.optional_dtype(); }
};

template <class T>
concept Plain = std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                std::is_same_v<T, bool> || std::is_same_v<T, Scalar>;
template <Plain T>
struct ArgumentType<std::optional<T>> {
  static constexpr std::string_view kind = std::is_same_v<T, std::int64_t> ? "int?"
                                           : std::is_same_v<T, double>     ? "number?"
                                           : std::is_same_v<T, bool>       ? "bool?"
                                                                           : "scalar?";
  static std::optional<T> read(ArgumentReader& reader) {
    if (reader.word() == 0) return std::nullopt;
    return ArgumentType<T>::read(reader);
  }
};

template <class Enum>
  requires std::is_enum_v<Enum>
struct ArgumentType<Enum> {
  static constexpr std::string_view kind = "choice";
  static constexpr auto choices = enum_names(Enum{});
  static Enum read(ArgumentReader& reader) {
    return static_cast<Enum>(reader.choice(choices.size()));
  }
};

}  // namespace eg
