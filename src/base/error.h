#pragma once

// Every failure the engine reports is one `Error`: a code that programs can test and a sentence that
// says what was expected, what came and what to do. `check` is for mistakes of the caller;
// `invariant` is for mistakes of ours and asks for a report.

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// Joins the parts with operator<< and throws them as an Error.
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(code, text.str());
}

/// Throws "[op] parts..." with `code` unless `condition` holds.
template <class... Parts>
void check(bool condition, ErrorCode code, std::string_view op, const Parts&... parts) {
  if (!condition) [[unlikely]] fail(code, '[', op, "] ", parts...);
}

/// Throws an Internal error unless `condition` holds: a bug of ours, not of the caller.
template <class... Parts>
void invariant(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]] {
    fail(ErrorCode::kInternal, parts..., " This is a bug in edgegrad, please report it.");
  }
}

}  // namespace eg
