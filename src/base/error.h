#pragma once

// Every failure the engine reports is one `Error`: a code that programs can test and a sentence
// that says what was expected, what came and what to do. `check` is for mistakes of the caller;
// `invariant` is for mistakes of ours and asks for a report.

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace eg {

/// The codes of the public contract; `error_code_name` gives the spelling JavaScript sees.
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

/// The one exception type of the engine.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// What messages are made of. A type of ours takes part through a function
// `append_text(std::string&, const T&)` beside it. No streams: they alone would be a fifth of the
// WebAssembly download.
void append_text(std::string& out, std::string_view text);
void append_text(std::string& out, char character);
void append_text(std::string& out, long long value);
void append_text(std::string& out, unsigned long long value);
void append_text(std::string& out, double value);

// A place that may fail stores the parts of its sentence and calls one function that joins them.
// There are hundreds of such places: joining in each would be a tenth of the download again.
namespace detail {

/// What is stored of a part: a small value itself, of anything else its address.
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

/// The functions for parts of these kinds, then null: one list for all messages of a form.
template <class... Parts>
inline constexpr std::array<AppendPart, sizeof...(Parts) + 1> kForm{&Parts::append..., nullptr};

std::string join(const AppendPart* form, const StoredPart* parts);
[[noreturn, gnu::cold]] void throw_error(ErrorCode code, const AppendPart* form,
                                         const StoredPart* parts);
[[noreturn, gnu::cold]] void throw_op_error(ErrorCode code, const char* op, std::size_t op_size,
                                            const AppendPart* form, const StoredPart* parts);
[[noreturn, gnu::cold]] void throw_bug(const AppendPart* form, const StoredPart* parts);

/// Parts of a message, ready to be joined.
template <class... Parts>
struct Message {
  [[gnu::always_inline]] explicit Message(const Parts&... parts)
      : parts{PartOf<Parts>::store(parts)...} {}
  const AppendPart* form() const { return kForm<PartOf<Parts>...>.data(); }

  std::array<StoredPart, sizeof...(Parts)> parts;
};

}  // namespace detail

/// Joins the parts to one text.
template <class... Parts>
std::string join_text(const Parts&... parts) {
  const detail::Message message(parts...);
  return detail::join(message.form(), message.parts.data());
}

/// Throws the joined parts as an Error.
template <class... Parts>
[[noreturn, gnu::always_inline]] inline void fail(ErrorCode code, const Parts&... parts) {
  const detail::Message message(parts...);
  detail::throw_error(code, message.form(), message.parts.data());
}

/// Throws "[op] parts..." with `code` unless `condition` holds.
template <class... Parts>
[[gnu::always_inline]] inline void check(bool condition, ErrorCode code, std::string_view op,
                                         const Parts&... parts) {
  if (condition) [[likely]]
    return;
  const detail::Message message(parts...);
  detail::throw_op_error(code, op.data(), op.size(), message.form(), message.parts.data());
}

/// Throws the error being handled again, with "[name] " before its message if it names nobody yet.
[[noreturn]] void rethrow_named(const Error& error, std::string_view name);

/// Runs `body`; an error that names nobody yet gets "[name] " before its message. What serves
/// several callers does not know for which one it fails.
template <class Body>
decltype(auto) named(std::string_view name, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    rethrow_named(error, name);
  }
}

/// Throws an Internal error unless `condition` holds: a bug of ours, not of the caller.
template <class... Parts>
[[gnu::always_inline]] inline void invariant(bool condition, const Parts&... parts) {
  if (condition) [[likely]]
    return;
  const detail::Message message(parts...);
  detail::throw_bug(message.form(), message.parts.data());
}

}  // namespace eg
