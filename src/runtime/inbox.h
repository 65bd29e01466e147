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

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

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

class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  /// The inbox of the current thread, created at the first call.
  static const std::shared_ptr<Inbox>& current();

  /// A function that makes a thread process its inbox when it is not waiting in serve_until().
  /// `thread` is the id set with set_thread().
  using Notifier = void (*)(std::uintptr_t thread, const std::shared_ptr<Inbox>& inbox);
  static void set_notifier(Notifier notifier);

  /// The platform's id of the owner, which is passed to the notifier.
  void set_thread(std::uintptr_t thread);
  std::uintptr_t thread() const;

  /// Makes the owner run `work` at some time; exceptions are ignored. Returns false when closed.
  bool post(std::function<void()> work);

  /// Runs `work` on the owner's thread and waits for it; on that thread itself, runs it directly.
  /// Rethrows what it throws. Throws Internal if the owner has ended.
  void call(const std::function<void()>& work);

  /// Processes all messages. Only for the owner.
  void serve();

  /// Processes messages until `done()` returns true; checks it again after each wake(). Only for
  /// the owner.
  void serve_until(const std::function<bool()>& done);

  /// Makes the owner check `done()` again.
  void wake();

  /// Closes the inbox when the owner has ended: waiting and later calls fail.
  void close();

 private:
  struct Message;

  bool put(const std::shared_ptr<Message>& message);
  void run(const std::shared_ptr<Message>& message);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Message>> messages_;
  // Messages being processed, the innermost last.
  std::deque<std::shared_ptr<Message>> running_;
  std::uint64_t wakes_ = 0;
  std::uintptr_t thread_ = 0;
  int serving_ = 0;
  bool closed_ = false;
};

}  // namespace eg
