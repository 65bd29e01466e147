// Engine workers, and the mailboxes through which other threads call a thread's JavaScript.

#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/sharing.h"
#include "base/thread.h"
#include "border.h"
#include "native_call.h"
#include "runtime/inbox.h"
#include "terminated_thread.h"

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

// What the main thread knows of a thread that runs JavaScript. The pointers are to variables of the
// thread, which exist until it ends normally or free_thread() has ended it.
struct JsThread {
  std::weak_ptr<Inbox> inbox;
  detail::CallState* calls = nullptr;
  void* thread_locals = nullptr;
};

class JsThreads {
 public:
  static JsThreads& instance() {
    static auto* const threads = new JsThreads;
    return *threads;
  }
  void add(std::uintptr_t thread, JsThread entry) {
    const std::scoped_lock lock(mutex_);
    threads_[thread] = std::move(entry);
  }
  /// Returns the entry of a thread; an empty one for a thread that has not begun, or has ended.
  JsThread get(std::uintptr_t thread) {
    const std::scoped_lock lock(mutex_);
    const auto found = threads_.find(thread);
    return found == threads_.end() ? JsThread() : found->second;
  }
  JsThread take(std::uintptr_t thread) {
    const std::scoped_lock lock(mutex_);
    auto found = threads_.extract(thread);
    return found.empty() ? JsThread() : std::move(found.mapped());
  }
  /// True if the calls of any thread are refused.
  bool are_any_stopped() {
    const std::scoped_lock lock(mutex_);
    return std::ranges::any_of(
        threads_, [](const auto& entry) { return entry.second.calls->is_stopped.load(); });
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, JsThread> threads_;
};

// The number of a thread is the value of its pthread_t: an address, or on other platforms a number.
std::uintptr_t number_of(pthread_t thread) { return std::bit_cast<std::uintptr_t>(thread); }

// Makes the event loop of a thread process its mailbox. Needs memory only at the first call for a
// thread: Emscripten's queue has room for many more than the one that is outstanding.
bool ring(std::uintptr_t thread) {
  const auto serve = [](void*) {
    // The main thread may also get here during a native call, while that waits for a lock:
    // Emscripten processes its queue then. So the words that the interrupted call has in the frame
    // are saved and restored.
    const FrameGuard interrupted;
    Inbox::answer_notifier();
  };
  return emscripten_proxy_async(emscripten_proxy_get_system_queue(),
                                std::bit_cast<pthread_t>(thread), serve, nullptr) != 0;
}

// Allows other threads to call functions of this one.
void join_thread() {
  // Without this, Emscripten would exit the runtime after a call from outside.
  emscripten_runtime_keepalive_push();
  const std::shared_ptr<Inbox>& inbox = Inbox::current();
  const std::uintptr_t thread = number_of(pthread_self());
  inbox->set_thread(thread);
  JsThreads::instance().add(thread, {inbox, &detail::call_state, thread_locals()});
  Inbox::set_notifier(&ring);
  // Here, because at the first message memory may be full.
  frame();
  ring(thread);
}

// Starts a thread that only runs its event loop, and returns its number.
std::uintptr_t start_thread() {
  pthread_t thread{};
  const auto run = [](void*) -> void* {
    // Until it can be stopped.
    detail::set_inside(true);
    HandleTable::set_this_thread(number_of(pthread_self()));
    join_thread();
    eg_thread_started();
    detail::set_inside(false);
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

constexpr double kStackBytes = 1 << 20;

// Calls that wait for the functions of a thread fail from now on.
void close_inbox(const JsThread& thread) {
  if (const std::shared_ptr<Inbox> inbox = thread.inbox.lock()) inbox->close();
}

// Threads whose memory is never freed: how many have only lost their stacks, and those that may
// still run although they were ended.
std::int64_t lost_stacks = 0;
std::vector<HandleOwner>& lost_threads() {
  static auto* const threads = new std::vector<HandleOwner>;
  return *threads;
}

// Frees what a thread held that was terminated. Returns true if its memory can be freed.
bool free_thread(std::uintptr_t number) {
  const JsThread thread = JsThreads::instance().take(number);
  detail::refuses_calls.store(detail::has_failed.load() || JsThreads::instance().are_any_stopped());
  if (thread.calls == nullptr) return false;
  close_inbox(thread);
  // It may hold locks.
  if (thread.calls->is_inside.load() && !thread.calls->was_seen_outside) {
    detail::fail_engine();
    return false;
  }
  // Objects of the calls that never returned are on its stack.
  const bool has_calls = thread.calls->javascript_calls != 0;
  end_terminated(number, thread.thread_locals);
  if (has_calls) ++lost_stacks;
  return !has_calls;
}

#else

void join_thread() {}

std::uintptr_t start_thread() {
  fail(ErrorCode::kInvalidArgument,
       "[spawn] this build has no threads. In a page they require the headers "
       "Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp.");
}

#endif

}  // namespace

// Allows other threads to call functions of this one.
EG_EXPORT("joinThread")
void join_this_thread() { join_thread(); }

// Starts a thread for eg.spawn() and returns its number.
EG_EXPORT("startThread")
double start_js_thread() { return guard(&start_thread); }

// Called by bindings/worker.js when this thread will run no function for others any more. The
// threads that wait for one may include the main thread, whose event loop cannot be notified while
// it waits.
EG_EXPORT("closeInbox")
void close_own_inbox() {
  if (NativeCall::is_possible()) Inbox::current()->close();
}

// Called by bindings/worker.js when its thread ends normally.
EG_EXPORT("leaveThread")
void leave_thread() {
  close_own_inbox();
  if (!NativeCall::is_possible()) return;
#if EG_THREADS
  end_modes();
  JsThreads::instance().take(number_of(pthread_self()));
#endif
}

// Called by bindings/worker.js around what other threads have asked this one to do. Returns false
// if this thread is about to be terminated.
EG_EXPORT("beginMessages")
bool begin_messages() {
  detail::go_inside();
  if (!detail::call_state.is_stopped.load()) return true;
  detail::set_inside(false);
  return false;
}

EG_EXPORT("endMessages")
void end_messages() { detail::set_inside(false); }

// Tells a started module how many were started before it, so that its handles are others.
EG_EXPORT("setEngineNumber")
void set_number_of_engine(double number) {
  HandleTable::set_engine_number(static_cast<std::uint32_t>(number));
}

// Transfers a handle to a thread of startThread(), with which it is released; 0 stands for any
// other thread.
EG_EXPORT("giveHandle")
void give_handle(Handle handle, double thread) {
  if (!NativeCall::is_possible()) return;
  handles().set_owner(handle, static_cast<HandleOwner>(thread));
}

// The following are called by the main thread, for a worker that has ended or is to be terminated.

// Reports that a thread has ended unexpectedly or is about to: other threads then stop waiting for
// its functions.
EG_EXPORT("threadDied")
void js_thread_died([[maybe_unused]] double thread) {
  if (!NativeCall::is_possible()) return;
#if EG_THREADS
  close_inbox(JsThreads::instance().get(static_cast<std::uintptr_t>(thread)));
#endif
}

// Refuses the calls of a thread from now on. Returns whether the thread is inside a call; -1 if it
// has not begun or has ended.
EG_EXPORT("stopThread")
int stop_thread([[maybe_unused]] double number) {
#if EG_THREADS
  if (!NativeCall::is_possible()) return 0;
  const JsThread thread = JsThreads::instance().get(static_cast<std::uintptr_t>(number));
  if (thread.calls == nullptr) return -1;
  const bool was_stopped = thread.calls->is_stopped.exchange(true);
  detail::refuses_calls.store(true);
  const bool is_inside = thread.calls->is_inside.load();
  // What the thread does before it knows that its calls are refused is seen at the next call of
  // this function.
  if (was_stopped && !is_inside) thread.calls->was_seen_outside = true;
  return is_inside ? 1 : 0;
#else
  return 0;
#endif
}

// Notes that nothing of a thread can be freed, because it may still run.
EG_EXPORT("loseThread")
void lose_thread([[maybe_unused]] double thread) {
#if EG_THREADS
  if (!NativeCall::is_possible()) return;
  ++lost_stacks;
  lost_threads().push_back(static_cast<HandleOwner>(thread));
#endif
}

// Writes the bytes of the stacks of threads that have ended, and how many handles of theirs are
// left.
EG_EXPORT("endedThreads")
double ended_threads() {
  return guard([] {
    double handles_left = 0;
    double bytes = 0;
#if EG_THREADS
    bytes = static_cast<double>(lost_stacks) * kStackBytes;
    for (const HandleOwner thread : lost_threads())
      handles_left += static_cast<double>(handles().count_of(thread));
#endif
    frame()[0] = bytes;
    frame()[1] = handles_left;
    return 2;
  });
}

// Frees what a terminated thread held. Returns 1 if its memory can be freed.
EG_EXPORT("freeThread")
bool free_js_thread([[maybe_unused]] double thread) {
#if EG_THREADS
  return NativeCall::is_possible() && free_thread(static_cast<std::uintptr_t>(thread));
#else
  return false;
#endif
}

// Releases all handles of a thread, which must not be using them any more.
EG_EXPORT("releaseHandlesOf")
void release_handles_of(double thread) {
  if (!NativeCall::is_possible()) return;
  handles().release_all_of(static_cast<HandleOwner>(thread));
}

}  // namespace eg::bindings
