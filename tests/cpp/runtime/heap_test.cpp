// markers: threads, no-device

#include "base/heap/heap.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace eg {
namespace {

constexpr std::size_t kMiB = 1 << 20;

/// Memory with an upper limit, like WebAssembly's. Only pages that are written to become resident.
class BoundedArena final : public Arena {
 public:
  explicit BoundedArena(std::size_t bytes)
      : pages_(pages_of(bytes)),
        memory_(static_cast<std::byte*>(std::calloc(pages_ + std::size_t{1}, kPageBytes))) {}
  ~BoundedArena() { std::free(memory_); }
  BoundedArena(const BoundedArena&) = delete;
  BoundedArena& operator=(const BoundedArena&) = delete;

  std::uintptr_t base() const override {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_);
    return (begin + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  std::uint32_t max_pages() const override { return pages_; }
  PageNumber grow(std::uint32_t pages) override {
    if (pages > pages_ - used_) return 0;
    const PageNumber first = used_;
    used_ += pages;
    return first;
  }
  /// Simulates another allocation from the arena, so that the next pages are not adjacent to the
  /// last.
  void skip(std::uint32_t pages) { used_ += pages; }
  std::size_t used_bytes() const { return used_ * kPageBytes; }

 private:
  std::uint32_t pages_;
  std::uint32_t used_ = 1;
  std::byte* memory_;
};

struct Block {
  std::byte* data;
  std::size_t bytes;
};

/// A heap that keeps a list of its blocks.
class WatchedHeap {
 public:
  explicit WatchedHeap(std::size_t bytes) : arena_(bytes), heap_(arena_) {}

  bool allocate(std::size_t bytes) {
    auto* data = static_cast<std::byte*>(heap_.allocate(bytes));
    if (data == nullptr) return false;
    expect_apart(data, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % (bytes > kMaxSmallBlock ? 64 : 16), 0U);
    if (bytes > kMaxSlabBlock) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % kPageBytes, 0U);
    }
    EXPECT_GE(heap_.bytes_of(data), bytes);
    EXPECT_LE(heap_.bytes_of(data), bytes + std::max(bytes / 4 + 16, kPageBytes));
    // Detects blocks that overlap, and a heap that writes into blocks.
    data[0] = data[bytes - 1] = mark(data);
    blocks_[data] = bytes;
    order_.push_back({data, bytes});
    in_use_ += bytes;
    return true;
  }

  void free(std::size_t index, bool with_size = true) {
    const Block block = order_[index];
    order_[index] = order_.back();
    order_.pop_back();
    EXPECT_EQ(block.data[0], mark(block.data));
    EXPECT_EQ(block.data[block.bytes - 1], mark(block.data));
    blocks_.erase(block.data);
    in_use_ -= block.bytes;
    if (with_size) {
      heap_.free(block.data, block.bytes);
    } else {
      heap_.free(block.data);
    }
  }

  void free_all() {
    while (!order_.empty()) free(order_.size() - 1);
  }

  /// Fills the heap with blocks of these sizes in turn, and returns the bytes allocated.
  std::size_t fill(const std::vector<std::size_t>& sizes) {
    const std::size_t before = in_use_;
    std::size_t i = 0;
    while (allocate(sizes[i % sizes.size()])) ++i;
    return in_use_ - before;
  }

  std::size_t count() const { return order_.size(); }
  std::size_t in_use() const { return in_use_; }
  Heap& heap() { return heap_; }
  BoundedArena& arena() { return arena_; }

 private:
  static std::byte mark(const std::byte* data) {
    return static_cast<std::byte>(reinterpret_cast<std::uintptr_t>(data) >> 4);
  }

  void expect_apart(std::byte* data, std::size_t bytes) {
    const auto after = blocks_.lower_bound(data);
    if (after != blocks_.end()) {
      EXPECT_LE(data + bytes, after->first);
    }
    if (after != blocks_.begin()) {
      const auto before = std::prev(after);
      EXPECT_LE(before->first + before->second, data);
    }
  }

  BoundedArena arena_;
  Heap heap_;
  std::map<std::byte*, std::size_t> blocks_;
  std::vector<Block> order_;
  std::size_t in_use_ = 0;
};

TEST(Heap, ABlockSizeIsTheSmallestThatServes) {
  for (std::size_t bytes = 1; bytes <= kMaxSlabBlock; ++bytes) {
    const std::size_t size = block_size_of(bytes);
    ASSERT_LT(size, kBlockSizes);
    ASSERT_GE(bytes_of_block_size(size), bytes);
    if (size > 0) {
      ASSERT_LT(bytes_of_block_size(size - 1), bytes);
    }
  }
}

// Random allocations and frees, with sizes distributed uniformly on a logarithmic scale.
TEST(Heap, BlocksNeverOverlapAndAllThatIsFreedIsOnePiece) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    WatchedHeap heap(64 * kMiB);
    ASSERT_TRUE(heap.allocate(48 * kMiB));
    heap.free_all();
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(0, seed % 2 == 0 ? 22 : 16);
    for (int step = 0; step < 4000; ++step) {
      const bool allocates = heap.count() == 0 || random() % 1000 < (step / 500 % 2 ? 300U : 700U);
      if (allocates) {
        heap.allocate(static_cast<std::size_t>(std::exp2(exponent(random))));
      } else {
        heap.free(random() % heap.count(), random() % 2 == 0);
      }
    }
    heap.free_all();
    ASSERT_TRUE(heap.allocate(48 * kMiB)) << "seed " << seed;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(Heap, WhatWasFilledOnceCanBeFilledAgainWithOtherSizes) {
  constexpr std::size_t kKiB = 1 << 10;
  const std::vector<std::vector<std::size_t>> fillings = {
      {kMiB},
      {500},
      {4 * kMiB},
      {4 * kKiB},
      {33 * kKiB},
      {7 * kMiB},
      {400, 2 * kMiB, 4000, 300 * kKiB},
      {15 * kMiB},
      {70 * kKiB, 40},
      {kMiB, kMiB + 1, 20, 20 * kKiB},
  };
  // Filling ends at the first block that does not fit, so whether one more fits is chance.
  const auto least_again = [](const std::vector<std::size_t>& sizes) {
    WatchedHeap fresh(20 * kMiB);
    const std::size_t filled = fresh.fill(sizes);
    EXPECT_GT(filled, 8 * kMiB);
    fresh.free_all();
    return filled * 97 / 100 - std::min(filled / 2, *std::ranges::max_element(sizes));
  };
  std::vector<std::size_t> least(fillings.size());
  std::ranges::transform(fillings, least.begin(), least_again);
  for (const auto& first : fillings) {
    WatchedHeap heap(20 * kMiB);
    heap.fill(first);
    // Approximately in the order of allocation.
    while (heap.count() > 0) heap.free(heap.count() / 2);
    for (std::size_t i = 0; i < fillings.size(); ++i) {
      EXPECT_GE(heap.fill(fillings[i]), least[i]) << fillings[i][0] << " after " << first[0];
      heap.free_all();
    }
  }
}

// Long-lived blocks allocated in between must leave room for one large block.
TEST(Heap, SmallBlocksThatStayLieTogether) {
  constexpr std::size_t kBytes = 128 * kMiB;
  WatchedHeap heap(kBytes);
  std::vector<void*> small;
  for (int i = 0; heap.allocate(kMiB); ++i) {
    for (int j = 0; j < 40; ++j) small.push_back(heap.heap().allocate(200));
    if (i % 20 == 0) {
      small.push_back(heap.heap().allocate_long_lived(70000));
    }
  }
  EXPECT_GE(heap.in_use(), kBytes * 9 / 10);
  heap.free_all();
  EXPECT_TRUE(heap.allocate(kBytes / 2));
  heap.free_all();
  EXPECT_GE(heap.fill({kMiB}), kBytes * 9 / 10);
  for (void* block : small) heap.heap().free(block);
}

TEST(Heap, LargeBlocksLeaveRoomForSmallOnes) {
  WatchedHeap heap(32 * kMiB);
  heap.fill({kMiB});
  heap.fill({64 << 10});
  std::size_t small = 0;
  while (heap.allocate(100)) small += 100;
  EXPECT_GE(small, kMiB / 2);
  // The failure can be reported.
  EXPECT_TRUE(heap.allocate(200));
}

TEST(Heap, TheSameSizesAgainTakeNoMoreMemory) {
  WatchedHeap heap(128 * kMiB);
  const std::vector<std::size_t> step = {3 * kMiB, 100, 70000, 5000, kMiB, 64, 33000, 800};
  std::size_t settled = 0;
  for (int i = 0; i < 1000; ++i) {
    for (const std::size_t bytes : step) EXPECT_TRUE(heap.allocate(bytes));
    heap.free_all();
    if (i == 10) settled = heap.arena().used_bytes();
  }
  EXPECT_EQ(heap.arena().used_bytes(), settled);
}

TEST(Heap, MemoryThatSmallBlocksLeftServesLargeOnes) {
  WatchedHeap heap(128 * kMiB);
  while (heap.in_use() < 64 * kMiB) ASSERT_TRUE(heap.allocate(1000));
  const std::size_t used = heap.arena().used_bytes();
  heap.free_all();
  EXPECT_TRUE(heap.allocate(40 * kMiB));
  EXPECT_EQ(heap.arena().used_bytes(), used);
}

TEST(Heap, PagesNeedNotFollowEachOther) {
  WatchedHeap heap(64 * kMiB);
  for (int i = 0; i < 40; ++i) {
    heap.arena().skip(3);
    EXPECT_TRUE(heap.allocate(kMiB + static_cast<std::size_t>(i) * 1000));
    EXPECT_TRUE(heap.allocate(50));
  }
  heap.free_all();
}

TEST(Heap, RefusesWhatCannotBe) {
  WatchedHeap heap(4 * kMiB);
  EXPECT_FALSE(heap.allocate(5 * kMiB));
  EXPECT_EQ(heap.heap().allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(heap.heap().allocate(SIZE_MAX - kPageBytes), nullptr);
  EXPECT_TRUE(heap.allocate(kMiB));
}

#if EG_THREADS
TEST(Heap, ThreadsMayFreeWhatOthersAllocated) {
  BoundedArena arena(64 * kMiB);
  Heap heap(arena);
  constexpr std::size_t kThreads = 4;
  std::mutex mutex;
  std::vector<Block> shared;
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(static_cast<unsigned>(thread));
      for (int i = 0; i < 3000; ++i) {
        const std::size_t bytes = 1 + random() % (random() % 4 == 0 ? 200000 : 2000);
        auto* data = static_cast<std::byte*>(heap.allocate(bytes));
        ASSERT_NE(data, nullptr);
        std::memset(data, static_cast<int>(bytes % 251), std::min<std::size_t>(bytes, 64));
        const std::scoped_lock lock(mutex);
        shared.push_back({data, bytes});
        if (shared.size() < 100) continue;
        std::swap(shared[random() % shared.size()], shared.back());
        const Block block = shared.back();
        shared.pop_back();
        for (std::size_t at = 0; at < std::min<std::size_t>(block.bytes, 64); ++at) {
          ASSERT_EQ(block.data[at], static_cast<std::byte>(block.bytes % 251));
        }
        heap.free(block.data, block.bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Block& block : shared) heap.free(block.data, block.bytes);
  void* all = heap.allocate(48 * kMiB);
  EXPECT_NE(all, nullptr);
}
#endif

}  // namespace
}  // namespace eg
