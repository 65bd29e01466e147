#pragma once

namespace eg::cpu {

/// Returns whether the kernels are compiled for relaxed SIMD, as those of the variant "relaxed"
/// are. Only they know: the rest of the engine is compiled without.
bool has_relaxed_simd();

}  // namespace eg::cpu
