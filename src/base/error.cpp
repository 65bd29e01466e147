#include "base/error.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace eg {

std::string_view error_code_name(ErrorCode code) {
  static constexpr std::array<std::string_view, 23> kNames{
      "NotInitialized", "InvalidArgument", "ShapeMismatch",     "DtypeMismatch",
      "DeviceMismatch", "IndexOutOfRange", "NonScalarBackward", "NoGradPath",
      "GraphFreed",     "ModifiedInPlace", "LeafInPlace",       "ViewInPlace",
      "UnusedInput",    "InvalidGradient", "InferenceTensor",   "NotDifferentiable",
      "AnomalyNan",     "OutOfMemory",     "DeviceUnavailable", "DeviceLost",
      "WouldBlock",     "Disposed",        "Internal",
  };
  static_assert(kNames.size() == static_cast<std::size_t>(ErrorCode::kInternal) + 1);
  return kNames[static_cast<std::size_t>(code)];
}

void append_text(std::string& out, std::string_view text) { out.append(text); }

void append_text(std::string& out, char character) { out.push_back(character); }

namespace {

template <class Integer>
void append_integer(std::string& out, Integer value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

}  // namespace

void append_text(std::string& out, long long value) { append_integer(out, value); }

void append_text(std::string& out, unsigned long long value) { append_integer(out, value); }

void append_text(std::string& out, double value) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%g", value);
  out.append(digits.data());
}

namespace detail {
namespace {

void join_to(std::string& out, const AppendPart* form, const StoredPart* parts) {
  for (; *form != nullptr; ++form, ++parts) (*form)(out, *parts);
}

}  // namespace

std::string join(const AppendPart* form, const StoredPart* parts) {
  std::string text;
  join_to(text, form, parts);
  return text;
}

void throw_error(ErrorCode code, const AppendPart* form, const StoredPart* parts) {
  throw Error(code, join(form, parts));
}

void throw_op_error(ErrorCode code, const char* op, std::size_t op_size, const AppendPart* form,
                    const StoredPart* parts) {
  std::string text = "[";
  text.append(op, op_size).append("] ");
  join_to(text, form, parts);
  throw Error(code, text);
}

void throw_bug(const AppendPart* form, const StoredPart* parts) {
  throw Error(ErrorCode::kInternal,
              join(form, parts) + " This is a bug in edgegrad, please report it.");
}

}  // namespace detail

void rethrow_named(const Error& error, std::string_view name) {
  const std::string_view message = error.what();
  if (message.starts_with('[')) throw;
  throw Error(error.code(), join_text('[', name, "] ", message));
}

}  // namespace eg
