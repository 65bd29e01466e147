// Tests start threads directly, without notifying the engine.

#include "base/sharing.h"

namespace eg {
namespace {

[[maybe_unused]] const bool are_shared = [] {
  share_objects();
  return true;
}();

}  // namespace
}  // namespace eg
