// markers: threads

#include "dispatch/handles/handle_table.h"

#include <thread>

#include <gtest/gtest.h>

#include "support/tensors.h"

#if EG_THREADS

namespace eg {
namespace {

using testing::tensor;
using testing::values;

HandleTable& table() { return HandleTable::instance(); }

Handle inserted_by(HandleOwner owner) {
  Handle handle = 0;
  std::thread([&] {
    HandleTable::set_this_thread(owner);
    handle = table().insert(tensor({1, 2}));
  }).join();
  return handle;
}

bool is_released(Handle handle) {
  try {
    (void)table().get(handle);
    return false;
  } catch (const Error& error) {
    return error.code() == ErrorCode::kDisposed;
  }
}

TEST(HandleTable, ReleasesWhatAThreadLeftBehind) {
  const std::int64_t before = table().live_count();
  const Handle mine = table().insert(tensor({3}));
  const Handle first = inserted_by(7);
  const Handle second = inserted_by(7);
  const Handle other = inserted_by(8);
  table().release_all_of(7);
  EXPECT_TRUE(is_released(first));
  EXPECT_TRUE(is_released(second));
  EXPECT_EQ(values(table().get(other)), (std::vector<double>{1, 2}));
  EXPECT_EQ(values(table().get(mine)), (std::vector<double>{3}));
  table().release(first);
  table().release(mine);
  table().release(other);
  EXPECT_EQ(table().live_count(), before);
}

TEST(HandleTable, GivesAHandleToAnotherThread) {
  const Handle given = table().insert(tensor({3}));
  const Handle taken = inserted_by(7);
  table().set_owner(given, 7);
  table().set_owner(taken, 0);
  table().release_all_of(7);
  EXPECT_TRUE(is_released(given));
  EXPECT_FALSE(is_released(taken));
  table().release(taken);
  table().set_owner(taken, 7);
  // The slot of a released handle belongs to the next handle that uses it.
  const Handle again = table().insert(tensor({4}));
  table().release_all_of(7);
  EXPECT_FALSE(is_released(again));
  table().release(again);
}

// A late finalizer may run after any number of other handles have used the slot.
TEST(HandleTable, NeverGivesAHandleTwice) {
  HandleTable own(HandleTable::kLastGeneration - 2);
  const Handle first = own.insert(tensor({0}));
  own.release(first);
  std::vector<Handle> stale{first};
  for (int i = 0; i < 10; ++i) {
    const Handle next = own.insert(tensor({1}));
    for (const Handle old : stale) {
      EXPECT_NE(old, next);
      own.release(old);
    }
    EXPECT_EQ(values(own.get(next)), (std::vector<double>{1}));
    own.release(next);
    EXPECT_EQ(own.live_count(), 0);
    stale.push_back(next);
  }
}

TEST(HandleTable, KnowsWhatOtherThreadsHold) {
  const Tensor t = tensor({3});
  const Handle mine = table().insert(t);
  EXPECT_FALSE(table().is_held_elsewhere(t));
  const Handle given = table().insert(t);
  table().set_owner(given, 7);
  EXPECT_TRUE(table().is_held_elsewhere(t));
  table().release(given);
  EXPECT_FALSE(table().is_held_elsewhere(t));
  table().release(mine);
}

TEST(HandleTable, KnowsATensorByTheFirstHandleOfTheThread) {
  const Tensor t = tensor({3});
  const Handle first = table().insert(t);
  const Handle second = table().insert(t);
  EXPECT_EQ(table().first(first), first);
  EXPECT_EQ(table().first(second), first);
  table().make_first(second);
  EXPECT_EQ(table().first(first), second);
  table().release(second);
  EXPECT_EQ(table().first(first), first);
  EXPECT_EQ(table().first(second), second) << "a stale handle has no tensor";
  const Handle third = table().insert(t);
  EXPECT_EQ(table().first(third), third);
  table().release(first);
  table().release(third);
}

TEST(HandleTable, KnowsATensorOfAnotherThreadByAHandleOfThisOne) {
  const Tensor t = tensor({3});
  const Handle mine = table().insert(t);
  const Handle given = table().insert(t);
  table().set_owner(given, 7);
  std::thread([&] {
    HandleTable::set_this_thread(7);
    const Handle again = table().insert(t);
    EXPECT_EQ(table().first(again), given);
    EXPECT_EQ(table().first(given), again) << "the other handle of the thread";
    table().release(again);
    EXPECT_EQ(table().first(given), given);
  }).join();
  table().release(mine);
  table().release(given);
}

}  // namespace
}  // namespace eg

#endif
