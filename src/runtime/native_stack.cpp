#include "runtime/native_stack.h"

#include <limits>

#ifdef __EMSCRIPTEN__
#include <emscripten/stack.h>
#endif

namespace eg {

#ifdef __EMSCRIPTEN__
std::size_t free_stack_bytes() { return emscripten_stack_get_free(); }
#else
std::size_t free_stack_bytes() { return std::numeric_limits<std::size_t>::max(); }
#endif

}  // namespace eg
