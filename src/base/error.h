#pragma once

// Every failure the engine reports is one `Error`: a code that programs can test and a sentence
// that says what was expected, what came and what to do. `check` is for mistakes of the caller;
// `invariant` is for mistakes of ours and asks for a report.

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

namespace detail {

template <class T>
void append_part(std::string& out, const T& part) {
  if constexpr (std::is_same_v<T, char>)
    append_text(out, part);
  else if constexpr (std::is_floating_point_v<T>)
    append_text(out, static_cast<double>(part));
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    append_text(out, static_cast<long long>(part));
  else if constexpr (std::is_integral_v<T>)
    append_text(out, static_cast<unsigned long long>(part));
  else
    append_text(out, part);
}

}  // namespace detail

/// Joins the parts to one text.
template <class... Parts>
std::string join_text(const Parts&... parts) {
  std::string text;
  (detail::append_part(text, parts), ...);
  return text;
}

/// Throws the joined parts as an Error.
template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(ErrorCode code, const Parts&... parts) {
  throw Error(code, join_text(parts...));
}

/// Throws "[op] parts..." with `code` unless `condition` holds.
template <class... Parts>
void check(bool condition, ErrorCode code, std::string_view op, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(code, '[', op, "] ", parts...);
}

/// Throws an Internal error unless `condition` holds: a bug of ours, not of the caller.
template <class... Parts>
void invariant(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]] {
    fail(ErrorCode::kInternal, parts..., " This is a bug in edgegrad, please report it.");
  }
}

}  // namespace eg
