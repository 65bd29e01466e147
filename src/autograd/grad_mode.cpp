#include "autograd/grad_mode.h"

namespace eg {

AutogradState& autograd_state() {
  static thread_local AutogradState state;
  return state;
}

}  // namespace eg
