#pragma once

// Tensors as numbers, for callers in another language.
//
// A handle is one reference to a tensor. It is a whole number below 2^53: a slot, and above it the
// generation of the slot, which grows each time the slot is freed. So a handle that was released is
// recognised as stale instead of naming somebody else's tensor, and releasing twice is harmless:
// explicit dispose() and a finalizer that runs later need not know of each other. Generations start
// at a number of the clock, so that handles of an engine that was shut down are stale to the next.
//
// Looking a handle up takes no lock; making and releasing one does, briefly.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/tensor.h"

namespace eg {

/// A handle as it crosses the border; 0 is "no tensor".
using Handle = double;

class HandleTable {
 public:
  static HandleTable& instance();

  Handle insert(Tensor tensor);
  /// The tensor of a handle; throws Disposed for a stale one and InvalidArgument for 0.
  const Tensor& get(Handle handle) const;
  /// Like get, but 0 gives an undefined tensor.
  Tensor get_optional(Handle handle) const { return handle == 0 ? Tensor() : get(handle); }
  /// Drops the reference; a stale handle is ignored.
  void release(Handle handle);
  std::int64_t live_count() const { return live_.load(std::memory_order_relaxed); }

 private:
  HandleTable();

  struct Slot {
    Tensor tensor;
    std::atomic<std::uint32_t> generation{0};
  };
  static constexpr std::size_t kChunkSlots = 4096;
  static constexpr std::size_t kMaxChunks = 4096;

  Slot* find(Handle handle) const;

  // Chunks never move, so a slot can be read while others are added.
  std::array<std::atomic<Slot*>, kMaxChunks> chunks_{};
  const std::uint32_t first_generation_;
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
  std::atomic<std::int64_t> live_{0};
};

}  // namespace eg
