#include "js/realm.h"

#include <mutex>
#include <utility>

#include <gtest/gtest.h>

namespace eg::testing::js {
namespace {

// The event loops by thread. Never destroyed because threads may outlive static objects.
struct Loops {
  std::mutex mutex;
  std::unordered_map<pthread_t, std::shared_ptr<EventLoop>> by_thread;
};

Loops& loops() {
  static auto* const all = new Loops;
  return *all;
}

thread_local Realm* this_realm = nullptr;

}  // namespace

Realm::Realm() {
  Loops& all = loops();
  const std::scoped_lock lock(all.mutex);
  all.by_thread[pthread_self()] = loop_;
}

Realm* Realm::current() { return this_realm; }

Realm& Realm::own() {
  // Outlives the thread's other objects, which may release values when they are destroyed.
  static auto* const all = new std::vector<std::unique_ptr<Realm>>;
  static auto* const mutex = new std::mutex;
  if (this_realm == nullptr) {
    const std::scoped_lock lock(*mutex);
    all->push_back(std::unique_ptr<Realm>(new Realm));
    this_realm = all->back().get();
  }
  return *this_realm;
}

bool Realm::post_to(pthread_t thread, std::function<void()> task) {
  std::shared_ptr<EventLoop> loop;
  {
    Loops& all = loops();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.by_thread.find(thread);
    if (found == all.by_thread.end()) return false;
    loop = found->second;
  }
  return loop->post(std::move(task));
}

double Realm::hold(ValuePtr value) {
  values_.emplace(++last_id_, std::move(value));
  return last_id_;
}

ValuePtr Realm::held(double id) {
  const auto found = values_.find(id);
  if (found != values_.end()) return found->second;
  ADD_FAILURE() << "C++ asks for value " << id << ", which this thread does not have.";
  return nullptr;
}

void Realm::drop(double id) {
  const auto found = values_.find(id);
  if (found == values_.end()) {
    if (!has_ended_)
      ADD_FAILURE() << "C++ lets go of value " << id << ", which this thread does not have.";
    return;
  }
  // Its destructor may call C++, which may release other values.
  const ValuePtr value = std::move(found->second);
  values_.erase(found);
}

void Realm::end() {
  has_ended_ = true;
  values_.clear();
  Loops& all = loops();
  const std::scoped_lock lock(all.mutex);
  all.by_thread.erase(pthread_self());
}

std::string described(const ValuePtr& value) {
  const auto error = std::dynamic_pointer_cast<ErrorValue>(value);
  return error == nullptr ? "a value" : error->code + ": " + error->message;
}

double hold_function(FrameCallback body, std::string name) {
  return Realm::own().hold(std::make_shared<FunctionValue>(std::move(body), std::move(name)));
}

void throw_error(const std::string& message) {
  throw Thrown{std::make_shared<ErrorValue>("", message)};
}

std::vector<std::string>& warnings() {
  static thread_local std::vector<std::string> all;
  return all;
}

}  // namespace eg::testing::js
