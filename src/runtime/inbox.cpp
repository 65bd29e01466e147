#include "runtime/inbox.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <new>

#include "base/error.h"
#include "base/parts.h"
#include "base/thread.h"

namespace eg {
namespace {

std::atomic<Inbox::Notifier> installed_notifier{nullptr};

// Returns false if there is no memory for it: the thread that waits for an answer tries again.
bool try_notify(std::uintptr_t thread) {
  const Inbox::Notifier notifier = installed_notifier.load();
  try {
    return notifier != nullptr && notifier(thread);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

constexpr std::chrono::milliseconds kLongWait{100};

constinit thread_local WaitListener* wait_listener = nullptr;

// A wait of this thread for another one. If it takes long, the listener of this thread is told, and
// the other one is asked again: there may have been no memory to notify it.
class LongWait {
 public:
  explicit LongWait(Inbox* asked) : asked_(asked) {}
  ~LongWait() {
    if (is_long_) wait_listener->goes_on();
  }
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

  template <class Done>
  void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
            const Done& done) {
    while (asked_ != nullptr || (wait_listener != nullptr && !is_long_)) {
      if (changed.wait_for(lock, kLongWait, done)) return;
      lock.unlock();
      if (wait_listener != nullptr && !std::exchange(is_long_, true)) wait_listener->waits_long();
      if (asked_ != nullptr) asked_->notify_again();
      lock.lock();
    }
    changed.wait(lock, done);
  }

 private:
  Inbox* asked_;
  bool is_long_ = false;
};

// Closes the inbox when the thread ends, so that other threads that hold it do not wait for
// answers.
struct Owner {
  std::shared_ptr<Inbox> inbox;
  ~Owner() {
    if (inbox != nullptr) inbox->close();
  }
};

Owner& owner() {
  static thread_local Owner own;
  return own;
}

}  // namespace

/// Work for the owner and, for call(), its outcome.
struct Inbox::Message {
  std::function<void()> work;
  /// The thread that waits for the answer; null for post().
  std::shared_ptr<Inbox> sender;
  std::exception_ptr error;
  bool owner_ended = false;
  std::atomic<bool> answered{false};
  /// The next message in the list that this one is in.
  std::shared_ptr<Message> next;

  void answer(std::exception_ptr with) {
    if (!claim()) return;
    error = std::move(with);
    send();
  }

  void answer_owner_ended() {
    if (!claim()) return;
    owner_ended = true;
    send();
  }

 private:
  // The owner and close() may both answer; only the first answer counts.
  bool claim() { return !claimed_.exchange(true); }

  void send() {
    answered.store(true, std::memory_order_release);
    if (sender != nullptr) sender->wake();
  }

  std::atomic<bool> claimed_{false};
};

const std::shared_ptr<Inbox>& Inbox::current() {
  std::shared_ptr<Inbox>& own = owner().inbox;
  if (own == nullptr) own = std::make_shared<Inbox>();
  return own;
}

void set_wait_listener(WaitListener* listener) { wait_listener = listener; }
void Inbox::set_current(std::shared_ptr<Inbox> inbox) { owner().inbox = std::move(inbox); }

void Inbox::set_notifier(Notifier notifier) { installed_notifier.store(notifier); }

void Inbox::set_thread(std::uintptr_t thread) {
  const std::scoped_lock lock(mutex_);
  thread_ = thread;
}

std::uintptr_t Inbox::thread() const {
  const std::scoped_lock lock(mutex_);
  return thread_;
}

Inbox::Reserved Inbox::reserve(std::function<void()> work) {
  auto message = std::make_shared<Message>();
  message->work = std::move(work);
  return message;
}

bool Inbox::post(const Reserved& message) {
  bool must_notify = false;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return false;
    (oldest_ == nullptr ? oldest_ : newest_->next) = message;
    newest_ = message.get();
    ++wakes_;
    must_notify = must_notify_locked();
  }
  changed_.notify_all();
  if (must_notify) notify();
  return true;
}

bool Inbox::must_notify_locked() {
  if (serving_ > 0 || installed_notifier.load() == nullptr) return false;
  return !std::exchange(is_notified_, true);
}

void Inbox::notify() {
  if (try_notify(thread())) return;
  const std::scoped_lock lock(mutex_);
  is_notified_ = false;
}

void Inbox::notify_again() {
  bool must_notify = false;
  {
    const std::scoped_lock lock(mutex_);
    must_notify = oldest_ != nullptr && must_notify_locked();
  }
  if (must_notify) notify();
}

void Inbox::answer_notifier() {
  Inbox& own = *current();
  {
    const std::scoped_lock lock(own.mutex_);
    own.is_notified_ = false;
  }
  own.serve();
}

void Inbox::call(const std::function<void()>& work) {
  const std::shared_ptr<Inbox> own = current();
  if (own.get() == this) {
    work();
    return;
  }
  const Reserved message = reserve(work);
  message->sender = own;
  if (!post(message)) {
    fail(ErrorCode::kInternal,
         "the thread that registered a function has ended, and no other thread can run it.");
  }
  own->serve_until([&] { return message->answered.load(std::memory_order_acquire); }, this);
  if (message->owner_ended) {
    fail(ErrorCode::kInternal,
         "the thread that registered a function ended before the call returned.");
  }
  // Moved out: the owner may release the message last, but must not be the one to destroy the
  // error.
  if (std::exception_ptr error = std::move(message->error))
    std::rethrow_exception(std::move(error));
}

void Inbox::run(const std::shared_ptr<Message>& message) {
  std::exception_ptr error;
  catch_up_with_parts();
  try {
    message->work();
  } catch (...) {
    error = std::current_exception();
  }
  // Here, because the sender may release the message last, and must not destroy what the work owns.
  message->work = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    // Copied, because close() may be following the links.
    running_ = std::shared_ptr(message->next);
  }
  message->answer(std::move(error));
}

void Inbox::serve() {
  for (;;) {
    std::shared_ptr<Message> message;
    {
      const std::scoped_lock lock(mutex_);
      if (oldest_ == nullptr) return;
      message = std::move(oldest_);
      oldest_ = std::exchange(message->next, std::move(running_));
      running_ = message;
    }
    run(message);
  }
}

void Inbox::serve_until(const std::function<bool()>& done, Inbox* asked) {
  LongWait wait(asked);
  for (;;) {
    std::uint64_t seen = 0;
    {
      const std::scoped_lock lock(mutex_);
      seen = wakes_;
      ++serving_;
    }
    serve();
    const bool is_done = done();
    std::unique_lock lock(mutex_);
    if (!is_done) wait.wait(changed_, lock, [&] { return wakes_ != seen; });
    --serving_;
    if (!is_done) continue;
    // The event loop must process messages that arrived after the last check.
    const bool must_notify = oldest_ != nullptr && must_notify_locked();
    lock.unlock();
    if (must_notify) notify();
    return;
  }
}

void Inbox::wake() {
  {
    const std::scoped_lock lock(mutex_);
    ++wakes_;
  }
  changed_.notify_all();
}

void Inbox::close() {
  std::shared_ptr<Message> unprocessed;
  std::shared_ptr<Message> processed;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    unprocessed = std::move(oldest_);
    processed = running_;
  }
  // One by one: destroying a whole list at once would recurse.
  while (unprocessed != nullptr) {
    unprocessed->answer_owner_ended();
    unprocessed = std::exchange(unprocessed->next, nullptr);
  }
  while (processed != nullptr) {
    processed->answer_owner_ended();
    const std::scoped_lock lock(mutex_);
    processed = std::shared_ptr(processed->next);
  }
}

std::thread start_thread_with_inbox(const char* caller, std::function<void()> run) {
  return start_thread(caller, [inbox = std::make_shared<Inbox>(), run = std::move(run)]() mutable {
    Inbox::set_current(std::move(inbox));
    run();
  });
}

}  // namespace eg
