#include "runtime/native_stack.h"

#include <limits>

#ifdef __EMSCRIPTEN__
#include <emscripten/stack.h>

extern "C" void _emscripten_stack_restore(std::uintptr_t position);
#endif

namespace eg {

#ifdef __EMSCRIPTEN__
std::size_t free_stack_bytes() { return emscripten_stack_get_free(); }
StackPosition stack_position() { return emscripten_stack_get_current(); }
void set_stack_position(StackPosition position) { _emscripten_stack_restore(position); }
#else
std::size_t free_stack_bytes() { return std::numeric_limits<std::size_t>::max(); }
StackPosition stack_position() { return 0; }
void set_stack_position(StackPosition /*position*/) {}
#endif

}  // namespace eg
