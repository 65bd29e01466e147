#include "runtime/inbox.h"

#include <atomic>
#include <chrono>
#include <exception>

#include "base/error.h"
#include "base/parts.h"

namespace eg {
namespace {

std::atomic<Inbox::Notifier> installed_notifier{nullptr};

constexpr std::chrono::milliseconds kLongWait{100};

constinit thread_local WaitListener* wait_listener = nullptr;

// Tells the listener of this thread about one wait, at most once.
class ReportedWait {
 public:
  ReportedWait() = default;
  ~ReportedWait() {
    if (is_long_) wait_listener->goes_on();
  }
  ReportedWait(const ReportedWait&) = delete;
  ReportedWait& operator=(const ReportedWait&) = delete;

  template <class Done>
  void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
            const Done& done) {
    if (wait_listener != nullptr && !is_long_) {
      if (changed.wait_for(lock, kLongWait, done)) return;
      lock.unlock();
      wait_listener->waits_long();
      is_long_ = true;
      lock.lock();
    }
    changed.wait(lock, done);
  }

 private:
  bool is_long_ = false;
};

}  // namespace

/// Work for the owner and, for call(), its outcome.
struct Inbox::Message {
  std::function<void()> work;
  /// The thread that waits for the answer; null for post().
  std::shared_ptr<Inbox> sender;
  std::exception_ptr error;
  bool owner_ended = false;
  std::atomic<bool> answered{false};

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
  // Closes the inbox when the thread ends, so that other threads that hold it do not wait for
  // answers.
  struct Owner {
    std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
    ~Owner() { inbox->close(); }
  };
  static thread_local Owner owner;
  return owner.inbox;
}

void set_wait_listener(WaitListener* listener) { wait_listener = listener; }

void Inbox::set_notifier(Notifier notifier) { installed_notifier.store(notifier); }

void Inbox::set_thread(std::uintptr_t thread) {
  const std::scoped_lock lock(mutex_);
  thread_ = thread;
}

std::uintptr_t Inbox::thread() const {
  const std::scoped_lock lock(mutex_);
  return thread_;
}

bool Inbox::put(const std::shared_ptr<Message>& message) {
  std::uintptr_t thread = 0;
  bool is_serving = false;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return false;
    messages_.push_back(message);
    ++wakes_;
    is_serving = serving_ > 0;
    thread = thread_;
  }
  changed_.notify_all();
  const Notifier notifier = installed_notifier.load();
  if (!is_serving && notifier != nullptr) notifier(thread, shared_from_this());
  return true;
}

bool Inbox::post(std::function<void()> work) {
  const auto message = std::make_shared<Message>();
  message->work = std::move(work);
  return put(message);
}

void Inbox::call(const std::function<void()>& work) {
  const std::shared_ptr<Inbox> own = current();
  if (own.get() == this) {
    work();
    return;
  }
  const auto message = std::make_shared<Message>();
  message->work = work;
  message->sender = own;
  if (!put(message)) {
    fail(ErrorCode::kInternal,
         "the thread that registered a function has ended, and no other thread can run it.");
  }
  own->serve_until([&] { return message->answered.load(std::memory_order_acquire); });
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
    running_.pop_back();
  }
  message->answer(std::move(error));
}

void Inbox::serve() {
  for (;;) {
    std::shared_ptr<Message> message;
    {
      const std::scoped_lock lock(mutex_);
      if (messages_.empty()) return;
      message = std::move(messages_.front());
      messages_.pop_front();
      running_.push_back(message);
    }
    run(message);
  }
}

void Inbox::serve_until(const std::function<bool()>& done) {
  ReportedWait wait;
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
    const bool is_left = !messages_.empty() && serving_ == 0;
    const std::uintptr_t thread = thread_;
    lock.unlock();
    const Notifier notifier = installed_notifier.load();
    if (is_left && notifier != nullptr) notifier(thread, shared_from_this());
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
  std::deque<std::shared_ptr<Message>> unanswered;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    unanswered.swap(messages_);
    for (const auto& message : running_) unanswered.push_back(message);
  }
  for (const auto& message : unanswered) message->answer_owner_ended();
}

}  // namespace eg
