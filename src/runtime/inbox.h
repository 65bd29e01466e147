#pragma once

// A thread's mailbox. Some work can only run on one thread (a JavaScript function only where it was
// registered), so other threads send it to that thread's inbox as a message. The owner processes
// its messages while it waits for something (serve_until), and whenever its event loop gets to it:
// post() calls the *notifier*, which the WebAssembly build connects to that loop. A thread that
// waits for an answer processes its own messages in the meantime, so two threads can call each
// other without deadlock.
//
// A thread may end, or be terminated, while messages are unprocessed or being processed. close()
// then answers all of them with an error, so that no other thread waits forever.
//
// Only making a message needs memory. What must arrive even when memory is full, such as the
// outcome of a call, is reserved before the work that leads to it begins (reserve).

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace eg {

/// Learns that a thread waits for others, in Inbox::serve_until().
class WaitListener {
 public:
  /// Called on the thread when it has waited for a tenth of a second.
  virtual void waits_long() = 0;
  /// Called on the thread when such a wait is over.
  virtual void goes_on() = 0;

 protected:
  ~WaitListener() = default;
};

/// Sets the listener of this thread.
void set_wait_listener(WaitListener* listener);

class Inbox {
 public:
  /// The inbox of the current thread, created at the first call.
  static const std::shared_ptr<Inbox>& current();
  /// Makes `inbox` that of the current thread, which has none yet.
  static void set_current(std::shared_ptr<Inbox> inbox);

  /// A function that makes a thread call answer_notifier() when it is not waiting in serve_until();
  /// returns false if it cannot. `thread` is the id set with set_thread(). At most one such call is
  /// outstanding per inbox.
  using Notifier = bool (*)(std::uintptr_t thread);
  static void set_notifier(Notifier notifier);
  /// Processes all messages of the current thread, for the notifier.
  static void answer_notifier();

  /// The platform's id of the owner, which is passed to the notifier.
  void set_thread(std::uintptr_t thread);
  std::uintptr_t thread() const;

  struct Message;
  /// A message that has its memory.
  using Reserved = std::shared_ptr<Message>;
  static Reserved reserve(std::function<void()> work);

  /// Makes the owner run the work at some time; exceptions are ignored. Returns false when closed.
  /// Needs no memory.
  bool post(const Reserved& message);
  bool post(std::function<void()> work) { return post(reserve(std::move(work))); }

  /// Runs `work` on the owner's thread and waits for it; on that thread itself, runs it directly.
  /// Rethrows what it throws. Throws Internal if the owner has ended.
  void call(const std::function<void()>& work);

  /// Processes all messages. Only for the owner.
  void serve();

  /// Processes messages until `done()` returns true; checks it again after each wake(). Only for
  /// the owner, which may be waiting for the owner of `asked` to process a message.
  void serve_until(const std::function<bool()>& done, Inbox* asked = nullptr);

  /// Notifies the owner of messages that it was not notified of.
  void notify_again();

  /// Makes the owner check `done()` again.
  void wake();

  /// Closes the inbox when the owner has ended: waiting and later calls fail.
  void close();

 private:
  void run(const std::shared_ptr<Message>& message);
  /// Returns true when notify() must follow, for which the mutex must not be held.
  bool must_notify_locked();
  void notify();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Messages that wait, linked from the oldest to the newest.
  std::shared_ptr<Message> oldest_;
  Message* newest_ = nullptr;
  // Messages being processed, linked from the innermost.
  std::shared_ptr<Message> running_;
  std::uint64_t wakes_ = 0;
  std::uintptr_t thread_ = 0;
  int serving_ = 0;
  bool is_notified_ = false;
  bool closed_ = false;
};

/// start_thread() for a thread that waits for others: its inbox is made in advance.
std::thread start_thread_with_inbox(const char* caller, std::function<void()> run);

}  // namespace eg
