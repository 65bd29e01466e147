#pragma once

// How to think about it: a thread's letter box. Some work belongs to one thread (a JavaScript
// function can only run where it was made), so whoever else comes upon it puts it into that
// thread's inbox. The owner runs what lies there when it waits for something (serve_until), and
// whenever its event loop gets to it: post() rings the *doorbell*, which the WebAssembly build
// connects to that loop. A thread that waits for an answer serves its own inbox meanwhile, so two
// threads may ask each other things without locking up.
//
// A thread may end, or be ended from outside, with letters in its box or while it reads one.
// close() then answers all of them with an error: nobody waits for a thread that is gone.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace eg {

class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  /// This thread's inbox, made at the first call.
  static const std::shared_ptr<Inbox>& current();

  /// Installs what makes a thread look into its inbox when it is not waiting in serve_until(): a
  /// function of the inbox, and of `thread`, the name its owner gave it.
  using Doorbell = void (*)(std::uintptr_t thread, const std::shared_ptr<Inbox>& inbox);
  static void set_doorbell(Doorbell doorbell);

  /// The platform's name of the owner, for the doorbell.
  void set_thread(std::uintptr_t thread);
  std::uintptr_t thread() const;

  /// Lets the owner run `work` some time; what it throws is lost. Returns false when closed.
  bool post(std::function<void()> work);

  /// Runs `work` on the owner's thread and waits for it; on that thread itself it simply runs. What
  /// it throws is thrown here. Throws Internal when the owner has ended.
  void call(const std::function<void()>& work);

  /// Runs all that lies here. Only for the owner.
  void serve();

  /// Runs what comes in until `done()`, which is asked again after each wake(). Only for the owner.
  void serve_until(const std::function<bool()>& done);

  /// Makes the owner ask `done()` again.
  void wake();

  /// The owner has ended: calls that wait fail, later ones too.
  void close();

 private:
  struct Letter;

  bool put(const std::shared_ptr<Letter>& letter);
  void run(const std::shared_ptr<Letter>& letter);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Letter>> letters_;
  // Being run now, the innermost last.
  std::deque<std::shared_ptr<Letter>> open_;
  std::uint64_t wakes_ = 0;
  std::uintptr_t thread_ = 0;
  int serving_ = 0;
  bool closed_ = false;
};

}  // namespace eg
