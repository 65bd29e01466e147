// Tests start threads themselves, of which the engine knows nothing.

#include "base/sharing.h"

namespace eg {
namespace {

[[maybe_unused]] const bool are_shared = [] {
  share_objects();
  return true;
}();

}  // namespace
}  // namespace eg
