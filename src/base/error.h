#pragma once

// The engine reports every failure as an `Error`: a code that programs can test, and a sentence
// that says what was expected, what was passed and what to do. `check` reports mistakes of the
// caller; `invariant` reports bugs of the engine and asks for a bug report.

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace eg {

/// The error codes of the public API; `error_code_name` returns the spelling used in JavaScript.
enum class ErrorCode {
  kNotInitialized,
  kInvalidArgument,
  kShapeMismatch,
  kDtypeMismatch,
  kDeviceMismatch,
  kIndexOutOfRange,
  kNonScalarBackward,
  kNoGradPath,
  kGraphFreed,
  kModifiedInPlace,
  kLeafInPlace,
  kViewInPlace,
  kUnusedInput,
  kInvalidGradient,
  kInferenceTensor,
  kNotDifferentiable,
  kAnomalyNan,
  kOutOfMemory,
  kDeviceUnavailable,
  kDeviceLost,
  kWouldBlock,
  kDisposed,
  kInternal,
};

/// Returns the public name of a code, for example "ShapeMismatch".
std::string_view error_code_name(ErrorCode code);

/// The exception type of the engine.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// The parts of messages. Another type can be a part if a function `append_text(std::string&, const
// T&)` exists in its namespace. There are no streams: they alone would be a fifth of the
// WebAssembly download.
void append_text(std::string& out, std::string_view text);
void append_text(std::string& out, char character);
void append_text(std::string& out, long long value);
void append_text(std::string& out, unsigned long long value);
void append_text(std::string& out, double value);

// Code that may fail stores the parts of its message in an array and calls one function that joins
// them. There are hundreds of such call sites: joining inline at each would add a tenth to the
// download.
namespace detail {

/// A stored part: a small value is stored itself, anything else by address.
union StoredPart {
  const void* object;
  std::string_view text;
  char character;
  long long integer;
  unsigned long long natural;
  double real;
};

using AppendPart = void (*)(std::string& out, const StoredPart& part);

template <class T>
struct ObjectPart {
  static StoredPart store(const T& part) { return {.object = &part}; }
  static void append(std::string& out, const StoredPart& part) {
    append_text(out, *static_cast<const T*>(part.object));
  }
};
struct LiteralPart {
  static StoredPart store(const char* part) { return {.object = part}; }
  static void append(std::string& out, const StoredPart& part) {
    append_text(out, std::string_view(static_cast<const char*>(part.object)));
  }
};
template <class T, T StoredPart::* member>
struct SmallPart {
  static StoredPart store(T part) {
    StoredPart stored{.object = nullptr};
    stored.*member = part;
    return stored;
  }
  static void append(std::string& out, const StoredPart& part) { append_text(out, part.*member); }
};

template <class T>
auto part_of() {
  if constexpr (std::is_convertible_v<const T&, const char*>)
    return LiteralPart();
  else if constexpr (std::is_same_v<T, std::string_view>)
    return SmallPart<T, &StoredPart::text>();
  else if constexpr (std::is_same_v<T, char>)
    return SmallPart<T, &StoredPart::character>();
  else if constexpr (std::is_floating_point_v<T>)
    return SmallPart<double, &StoredPart::real>();
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return SmallPart<long long, &StoredPart::integer>();
  else if constexpr (std::is_integral_v<T>)
    return SmallPart<unsigned long long, &StoredPart::natural>();
  else
    return ObjectPart<T>();
}
template <class T>
using PartOf = decltype(part_of<T>());

/// The functions that append parts of these types, then null: one array for all messages with the
/// same types.
template <class... Parts>
inline constexpr std::array<AppendPart, sizeof...(Parts) + 1> kForm{&Parts::append..., nullptr};

std::string join(const AppendPart* form, const StoredPart* parts);
[[noreturn, gnu::cold]] void throw_error(ErrorCode code, const AppendPart* form,
                                         const StoredPart* parts);
[[noreturn, gnu::cold]] void throw_op_error(ErrorCode code, const char* op, std::size_t op_size,
                                            const AppendPart* form, const StoredPart* parts);
[[noreturn, gnu::cold]] void throw_bug(const AppendPart* form, const StoredPart* parts);

/// The parts of a message, stored in an array.
template <class... Parts>
struct Message {
  [[gnu::always_inline]] explicit Message(const Parts&... parts)
      : parts{PartOf<Parts>::store(parts)...} {}
  const AppendPart* form() const { return kForm<PartOf<Parts>...>.data(); }

  std::array<StoredPart, sizeof...(Parts)> parts;
};

}  // namespace detail

/// Concatenates the parts.
template <class... Parts>
std::string join_text(const Parts&... parts) {
  const detail::Message message(parts...);
  return detail::join(message.form(), message.parts.data());
}

/// Throws an Error whose message is the concatenated parts.
template <class... Parts>
[[noreturn, gnu::always_inline]] inline void fail(ErrorCode code, const Parts&... parts) {
  const detail::Message message(parts...);
  detail::throw_error(code, message.form(), message.parts.data());
}

/// Throws "[op] parts..." with `code` unless `condition` holds; the message has the camelCase name.
template <class... Parts>
[[gnu::always_inline]] inline void check(bool condition, ErrorCode code, std::string_view op,
                                         const Parts&... parts) {
  if (condition) [[likely]]
    return;
  const detail::Message message(parts...);
  detail::throw_op_error(code, op.data(), op.size(), message.form(), message.parts.data());
}

/// Rethrows the current exception, with "[name] " before its message unless it already has such a
/// prefix.
[[noreturn]] void rethrow_named(const Error& error, std::string_view name);

/// Runs `body`; an error without a "[op] " prefix gets "[name] ". For functions that serve several
/// ops and do not know which one called.
template <class Body>
decltype(auto) named(std::string_view name, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    rethrow_named(error, name);
  }
}

/// Throws an Internal error unless `condition` holds: a bug of the engine, not of the caller.
template <class... Parts>
[[gnu::always_inline]] inline void invariant(bool condition, const Parts&... parts) {
  if (condition) [[likely]]
    return;
  const detail::Message message(parts...);
  detail::throw_bug(message.form(), message.parts.data());
}

}  // namespace eg
