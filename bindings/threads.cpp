// Engine workers, and the mailboxes through which other threads call a thread's JavaScript.

#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/sharing.h"
#include "base/thread.h"
#include "border.h"
#include "runtime/inbox.h"

#if EG_THREADS
#include <emscripten/em_js.h>
#include <emscripten/eventloop.h>
#include <emscripten/proxying.h>
#include <pthread.h>

// Tells bindings/worker.js that this thread can now call native functions.
EM_JS(void, eg_thread_started, (), { Module["threadStarted"](); });
#endif

namespace eg::bindings {
namespace {

#if EG_THREADS

// The mailboxes of the threads that run JavaScript; used to close those of workers that die.
class Inboxes {
 public:
  static Inboxes& instance() {
    static auto* const inboxes = new Inboxes;
    return *inboxes;
  }
  void add(std::uintptr_t thread, const std::shared_ptr<Inbox>& inbox) {
    const std::scoped_lock lock(mutex_);
    inboxes_[thread] = inbox;
  }
  std::shared_ptr<Inbox> take(std::uintptr_t thread) {
    const std::scoped_lock lock(mutex_);
    const auto found = inboxes_.extract(thread);
    return found.empty() ? nullptr : found.mapped().lock();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::weak_ptr<Inbox>> inboxes_;
};

// The number of a thread is the value of its pthread_t: an address, or on other platforms a number.
std::uintptr_t number_of(pthread_t thread) { return std::bit_cast<std::uintptr_t>(thread); }

// Makes the event loop of a thread process its mailbox.
void ring(std::uintptr_t thread, const std::shared_ptr<Inbox>& inbox) {
  auto* const owned = new std::shared_ptr<Inbox>(inbox);
  const auto serve = [](void* argument) {
    const std::unique_ptr<std::shared_ptr<Inbox>> held(
        static_cast<std::shared_ptr<Inbox>*>(argument));
    // The main thread may also get here during a native call, while that waits for a lock:
    // Emscripten processes its queue then. So the words that the interrupted call has in the frame
    // are saved and restored.
    const std::vector<double> interrupted = frame();
    (*held)->serve();
    std::ranges::copy(interrupted, frame(interrupted.size()).begin());
  };
  const bool is_sent = emscripten_proxy_async(emscripten_proxy_get_system_queue(),
                                              std::bit_cast<pthread_t>(thread), serve, owned) != 0;
  if (!is_sent) delete owned;
}

// Allows other threads to call functions of this one.
void join_thread() {
  // Without this, Emscripten would exit the runtime after a call from outside.
  emscripten_runtime_keepalive_push();
  const std::shared_ptr<Inbox>& inbox = Inbox::current();
  const std::uintptr_t thread = number_of(pthread_self());
  inbox->set_thread(thread);
  Inboxes::instance().add(thread, inbox);
  Inbox::set_notifier(&ring);
}

// Starts a thread that only runs its event loop, and returns its number.
std::uintptr_t start_thread() {
  pthread_t thread{};
  const auto run = [](void*) -> void* {
    HandleTable::set_this_thread(number_of(pthread_self()));
    join_thread();
    eg_thread_started();
    emscripten_exit_with_live_runtime();
    return nullptr;
  };
  const ThreadMemory memory("spawn");
  share_objects();
  const int error = pthread_create(&thread, nullptr, run, nullptr);
  check(error == 0, ErrorCode::kOutOfMemory, "spawn",
        "the system cannot start another thread, error ", error, ": too many are running.");
  pthread_detach(thread);
  return number_of(thread);
}

// Called when a worker has died: calls that wait for its functions fail.
void thread_died(std::uintptr_t thread) {
  const auto inbox = Inboxes::instance().take(thread);
  if (inbox != nullptr) inbox->close();
}

#else

void join_thread() {}

std::uintptr_t start_thread() {
  fail(ErrorCode::kInvalidArgument,
       "[spawn] this build has no threads. In a page they require the headers "
       "Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp.");
}

void thread_died(std::uintptr_t) {}

#endif

}  // namespace

EG_EXPORT("joinThread")
void join_this_thread() { join_thread(); }

EG_EXPORT("startThread")
double start_js_thread() { return guard(&start_thread); }

// Called by bindings/worker.js when its thread ends normally. The threads that wait for its
// functions may include the main thread, whose event loop cannot be notified while it waits.
EG_EXPORT("leaveThread")
void leave_thread() {
  if (NativeCall::is_possible()) Inbox::current()->close();
}

EG_EXPORT("setEngineNumber")
void set_number_of_engine(double number) {
  HandleTable::set_engine_number(static_cast<std::uint32_t>(number));
}

EG_EXPORT("giveHandle")
void give_handle(Handle handle, double thread) {
  if (!NativeCall::is_possible()) return;
  handles().set_owner(handle, static_cast<HandleOwner>(thread));
}

EG_EXPORT("threadDied")
void js_thread_died(double thread) {
  if (NativeCall::is_possible()) thread_died(static_cast<std::uintptr_t>(thread));
}

EG_EXPORT("releaseHandlesOf")
void release_handles_of(double thread) {
  if (!NativeCall::is_possible()) return;
  handles().release_all_of(static_cast<HandleOwner>(thread));
}

}  // namespace eg::bindings
