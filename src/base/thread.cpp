#include "base/thread.h"

#include <system_error>
#include <utility>

#include "base/error.h"

namespace eg {

std::thread start_thread(const char* caller, std::function<void()> run) {
  const ThreadMemory memory(caller);
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& error) {
    fail(ErrorCode::kOutOfMemory, '[', caller, "] the system cannot start another thread, error ",
         error.code().value(), ": too many threads are running.");
  }
}

}  // namespace eg
