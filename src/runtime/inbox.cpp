#include "runtime/inbox.h"

#include <atomic>
#include <exception>

#include "base/error.h"

namespace eg {
namespace {

std::atomic<Inbox::Doorbell> ring{nullptr};

}  // namespace

/// Work for the owner and, for call(), where its answer goes.
struct Inbox::Letter {
  std::function<void()> work;
  /// Who waits for the answer; null for post().
  std::shared_ptr<Inbox> sender;
  std::exception_ptr error;
  bool owner_ended = false;
  std::atomic<bool> answered{false};

  void answer(std::exception_ptr with) {
    if (!claim()) return;
    error = std::move(with);
    send();
  }

  void answer_that_owner_ended() {
    if (!claim()) return;
    owner_ended = true;
    send();
  }

 private:
  // The owner and close() may both answer; the first one counts.
  bool claim() { return !claimed_.exchange(true); }

  void send() {
    answered.store(true, std::memory_order_release);
    if (sender != nullptr) sender->wake();
  }

  std::atomic<bool> claimed_{false};
};

const std::shared_ptr<Inbox>& Inbox::current() {
  // Closed with the thread: whoever still holds it must not wait for answers.
  struct Owner {
    std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
    ~Owner() { inbox->close(); }
  };
  static thread_local Owner owner;
  return owner.inbox;
}

void Inbox::set_doorbell(Doorbell doorbell) { ring.store(doorbell); }

void Inbox::set_thread(std::uintptr_t thread) {
  const std::scoped_lock lock(mutex_);
  thread_ = thread;
}

std::uintptr_t Inbox::thread() const {
  const std::scoped_lock lock(mutex_);
  return thread_;
}

bool Inbox::put(const std::shared_ptr<Letter>& letter) {
  std::uintptr_t thread = 0;
  bool is_serving = false;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return false;
    letters_.push_back(letter);
    ++wakes_;
    is_serving = serving_ > 0;
    thread = thread_;
  }
  changed_.notify_all();
  const Doorbell doorbell = ring.load();
  if (!is_serving && doorbell != nullptr) doorbell(thread, shared_from_this());
  return true;
}

bool Inbox::post(std::function<void()> work) {
  const auto letter = std::make_shared<Letter>();
  letter->work = std::move(work);
  return put(letter);
}

void Inbox::call(const std::function<void()>& work) {
  const std::shared_ptr<Inbox> own = current();
  if (own.get() == this) {
    work();
    return;
  }
  const auto letter = std::make_shared<Letter>();
  letter->work = work;
  letter->sender = own;
  if (!put(letter)) {
    fail(ErrorCode::kInternal,
         "the thread that registered a function has ended, and nobody else can run it.");
  }
  own->serve_until([&] { return letter->answered.load(std::memory_order_acquire); });
  if (letter->owner_ended) {
    fail(ErrorCode::kInternal, "a thread ended before it had run a function it registered.");
  }
  // Taken out: the owner, who may let go of the letter last, must not be the one to destroy it.
  if (std::exception_ptr error = std::move(letter->error)) std::rethrow_exception(std::move(error));
}

void Inbox::run(const std::shared_ptr<Letter>& letter) {
  std::exception_ptr error;
  try {
    letter->work();
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::scoped_lock lock(mutex_);
    open_.pop_back();
  }
  letter->answer(std::move(error));
}

void Inbox::serve() {
  for (;;) {
    std::shared_ptr<Letter> letter;
    {
      const std::scoped_lock lock(mutex_);
      if (letters_.empty()) return;
      letter = std::move(letters_.front());
      letters_.pop_front();
      open_.push_back(letter);
    }
    run(letter);
  }
}

void Inbox::serve_until(const std::function<bool()>& done) {
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
    if (!is_done) changed_.wait(lock, [&] { return wakes_ != seen; });
    --serving_;
    if (!is_done) continue;
    // What came after the last look is for the event loop again.
    const bool is_left = !letters_.empty() && serving_ == 0;
    const std::uintptr_t thread = thread_;
    lock.unlock();
    const Doorbell doorbell = ring.load();
    if (is_left && doorbell != nullptr) doorbell(thread, shared_from_this());
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
  std::deque<std::shared_ptr<Letter>> unanswered;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    unanswered.swap(letters_);
    for (const auto& letter : open_) unanswered.push_back(letter);
  }
  for (const auto& letter : unanswered) letter->answer_that_owner_ended();
}

}  // namespace eg
