#include "dispatch/handles/arguments.h"

#include "autograd/graph/recorded_tensors.h"
#include "base/error.h"

namespace eg {
namespace {

// The first word of an operand: whether a tensor or a number follows, and of which kind.
enum : std::int64_t {
  kNoOperand = -1,
  kTensorKind,
  kFloatKind,
  kIntKind,
  kBoolKind,
  kBigIntKind,
  kComplexKind
};

constexpr double kNoDType = -1;

}  // namespace

double ArgumentReader::word() {
  if (next_ == end_) fail(ErrorCode::kInvalidArgument, "too few arguments.");
  return *next_++;
}

Tensor ArgumentReader::tensor() {
  const Tensor& given = HandleTable::instance().get(word());
  if (given.is_sparse()) [[unlikely]]
    check_takes_sparse();
  if (Recording* const noted = recording()) [[unlikely]]
    noted->tensors->note_use(given);
  return prepared(given);
}

void ArgumentReader::check_takes_sparse() const {
  if (sparse_ == Sparse::kRefused) {
    fail(ErrorCode::kInvalidArgument,
         "expected a dense tensor, got a sparse one. Use its toDense(), or its values().");
  }
  if (recording() != nullptr) {
    fail(ErrorCode::kInvalidArgument,
         "a captured function cannot use sparse tensors, whose sizes depend on values. Do it "
         "outside of capture().");
  }
}

Tensor ArgumentReader::optional_tensor() {
  if (next_ != end_ && *next_ != 0) return tensor();
  return prepared(HandleTable::instance().get_optional(word()));
}

TensorList ArgumentReader::tensors() {
  CallOperands* const operands = operands_;
  if (operands != nullptr && operands->has_positions_in_list()) operands_ = nullptr;
  TensorList tensors;
  for (std::int64_t count = integer(); count > 0; --count) tensors.push_back(tensor());
  operands_ = operands;
  return tensors;
}

Scalar ArgumentReader::scalar_of_kind(std::int64_t kind) {
  const Scalar number = any_scalar(kind);
  if (operands_ != nullptr) operands_->check_number(number);
  return number;
}

Scalar ArgumentReader::any_scalar(std::int64_t kind) {
  switch (kind) {
    case kFloatKind:
      return Scalar(word());
    case kIntKind:
      return Scalar(integer());
    case kBoolKind:
      return Scalar(word() != 0);
    case kBigIntKind: {
      const auto high = static_cast<std::uint64_t>(integer());
      return Scalar(static_cast<std::int64_t>(high << 32 | static_cast<std::uint64_t>(integer())));
    }
    default:
      fail(ErrorCode::kInvalidArgument, "expected a number.");
  }
}

Scalar ArgumentReader::scalar() { return scalar_of_kind(integer()); }

Operand ArgumentReader::operand_of_kind(std::int64_t kind) {
  if (kind == kComplexKind) {
    const double re = word();
    return Operand(std::complex<double>(re, word()));
  }
  return kind == kTensorKind ? Operand(tensor()) : Operand(scalar_of_kind(kind));
}

Operand ArgumentReader::operand() { return operand_of_kind(integer()); }

std::optional<Operand> ArgumentReader::optional_operand() {
  const std::int64_t kind = integer();
  return kind == kNoOperand ? std::nullopt : std::optional(operand_of_kind(kind));
}

DType ArgumentReader::dtype() {
  const auto dtype = static_cast<DType>(choice(kDTypeCount));
  return operands_ == nullptr ? dtype : operands_->prepared(dtype);
}

std::optional<DType> ArgumentReader::optional_dtype() {
  if (next_ != end_ && *next_ == kNoDType) {
    ++next_;
    return std::nullopt;
  }
  return dtype();
}

std::size_t ArgumentReader::choice(std::size_t count) {
  const std::int64_t position = integer();
  if (position < 0 || position >= static_cast<std::int64_t>(count)) {
    fail(ErrorCode::kInvalidArgument, "expected one of ", count, " choices, got number ", position,
         '.');
  }
  return static_cast<std::size_t>(position);
}

}  // namespace eg
