#pragma once

#include "base/heap/heap.h"

namespace eg::testing {

// Nothing else replaces the engine's heap.
inline constexpr bool kIsSanitized = !kOwnHeap;

/// How often a test repeats the same kind of thing: `full`, or a tenth under a sanitizer, where
/// each repetition takes 10 to 30 times as long. As WebAssembly the tests run in full.
constexpr int repetitions(int full) { return kIsSanitized ? full / 10 : full; }

}  // namespace eg::testing
