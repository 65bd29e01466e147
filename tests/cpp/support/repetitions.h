#pragma once

namespace eg::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

/// How often a test repeats the same kind of thing: `full`, or a tenth under a sanitizer, where
/// each repetition takes 10 to 30 times as long. As WebAssembly the tests run in full.
constexpr int repetitions(int full) { return kIsSanitized ? full / 10 : full; }

}  // namespace eg::testing
