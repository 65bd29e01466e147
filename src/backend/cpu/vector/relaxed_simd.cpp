#include "backend/cpu/vector/relaxed_simd.h"

namespace eg::cpu {

bool has_relaxed_simd() {
#ifdef __wasm_relaxed_simd__
  return true;
#else
  return false;
#endif
}

}  // namespace eg::cpu
