#include "js/failing_memory.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#include "js/realm.h"

namespace eg::testing::js {
namespace {

constinit std::atomic<bool> is_on{false};
constinit std::atomic<std::int64_t> successes_left{0};
constinit std::atomic<FailingMemory::Threads> failing_threads{FailingMemory::Threads::kAll};
constinit std::atomic<FailingMemory::Length> failing_length{FailingMemory::Length::kOnce};
constinit std::atomic<bool> any_failed{false};

bool counts_here() {
  const Running now = RunningScope::now();
  const bool has_realm = Realm::current() != nullptr;
  if (now == Running::kJavaScript || (now == Running::kDefault && has_realm)) return false;
  const FailingMemory::Threads threads = failing_threads.load();
  if (threads == FailingMemory::Threads::kAll) return true;
  return has_realm == (threads == FailingMemory::Threads::kOfJavaScript);
}

bool fails_now() {
  if (!is_on.load(std::memory_order_relaxed) || !counts_here()) return false;
  const std::int64_t left = successes_left.fetch_sub(1);
  const bool fails = failing_length.load() == FailingMemory::Length::kOnce ? left == 0 : left <= 0;
  if (fails) any_failed = true;
  return fails;
}

}  // namespace

FailingMemory::FailingMemory(std::int64_t successes, Threads threads, Length length) {
  successes_left = successes;
  failing_threads = threads;
  failing_length = length;
  any_failed = false;
  is_on = true;
}

FailingMemory::~FailingMemory() { is_on = false; }

bool FailingMemory::has_failed() { return any_failed; }

}  // namespace eg::testing::js

// The linker redirects calls of malloc and aligned_alloc to these (cmake/BindingsTests.cmake).
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names.
void* __real_malloc(std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);

void* __wrap_malloc(std::size_t bytes) {
  return eg::testing::js::fails_now() ? nullptr : __real_malloc(bytes);
}

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return eg::testing::js::fails_now() ? nullptr : __real_aligned_alloc(alignment, bytes);
}
// NOLINTEND(bugprone-reserved-identifier)
}

// Not inlined: GCC warns where it sees that `delete` frees a block with free().
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return __wrap_malloc(bytes == 0 ? 1 : bytes);
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const block = operator new(bytes, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }

void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return operator new(bytes, std::nothrow);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
void operator delete[](void* block) noexcept { operator delete(block); }
void operator delete[](void* block, std::size_t) noexcept { operator delete(block); }
