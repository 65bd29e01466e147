#pragma once

// Represents tensors and nodes as numbers, for callers in another language.
//
// A handle is one reference to a tensor, to a node of the backward graph or to a captured function.
// It is an integer below 2^53: the index of a slot in the low bits and above it the generation of
// the slot, which grows each time the slot is freed. A released handle is therefore recognized as
// stale instead of naming another tensor, and releasing twice is harmless: explicit dispose() and a
// finalizer that runs later need not know of each other. Generations never wrap around: a slot that
// has used all of its generations is not used again. They start at a number that differs from
// engine to engine, so that handles of an engine that was shut down are stale in the next one.
//
// A handle belongs to the thread that created or received it, so that the handles of a thread that
// dies can be released.
//
// Several handles may refer to one tensor. The first of them is the one by which its thread knows
// the tensor: a caller that keeps one object per handle finds the object of a tensor by it.
//
// Looking a handle up takes no lock; making and releasing one does, briefly.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "autograd/graph/node.h"
#include "base/sharing.h"
#include "dispatch/capture/captured_function.h"
#include "tensor/tensor.h"

namespace eg {

/// A handle as it is passed between languages; 0 means none.
using Handle = double;

/// Identifies a thread: its id on the platform, or 0 for threads that end with the engine.
using HandleOwner = std::uintptr_t;

class HandleTable {
 public:
  /// The last generation of a slot: a double holds 24 bits of slot and 29 bits of generation
  /// exactly.
  static constexpr std::uint32_t kLastGeneration = (1U << 29) - 1;

  explicit HandleTable(std::uint32_t first_generation) : first_generation_(first_generation) {}
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  ~HandleTable();

  /// The table that the bindings use.
  static HandleTable& instance();

  /// Sets how many engines this program has started, before the first handle is made.
  static void set_engine_number(std::uint32_t number);

  /// Handles that this thread inserts from now on belong to `owner`.
  static void set_this_thread(HandleOwner owner);

  Handle insert(Tensor tensor) { return insert_object({.tensor = std::move(tensor)}).handle; }
  /// Like insert(), but returns the negated handle if this thread has another one of the tensor.
  Handle insert_result(Tensor tensor);
  Handle insert(IntrusivePtr<Node> node) { return insert_object({.node = std::move(node)}).handle; }
  Handle insert(IntrusivePtr<CapturedFunction> function) {
    return insert_object({.function = std::move(function)}).handle;
  }
  /// The tensor of a handle; throws Disposed for a stale one and InvalidArgument for 0.
  const Tensor& get(Handle handle) const;
  /// The node of a handle; throws Disposed for a stale one.
  const IntrusivePtr<Node>& get_node(Handle handle) const;
  /// The captured function of a handle; throws Disposed for a stale one.
  const IntrusivePtr<CapturedFunction>& get_captured(Handle handle) const;
  /// Like get, but returns an undefined tensor for 0.
  Tensor get_optional(Handle handle) const { return handle == 0 ? Tensor() : get(handle); }
  /// Drops the reference; a stale handle is ignored.
  void release(Handle handle);
  /// This thread's first handle of the tensor of `handle`, which may be `handle` itself.
  Handle first(Handle handle);
  /// Makes a handle the first one of its tensor.
  void make_first(Handle handle);
  /// Gives a handle to another thread; a stale one is ignored.
  void set_owner(Handle handle, HandleOwner owner);
  /// Releases all handles of a thread that has ended.
  void release_all_of(HandleOwner owner);
  /// The number of handles of a thread.
  std::int64_t count_of(HandleOwner owner);
  /// Gives a handle to this thread.
  void take_over(Handle handle);
  std::int64_t live_count() const { return live_.load(); }
  /// True when a thread other than this one has a handle to `t`.
  bool is_held_elsewhere(const Tensor& t);

 private:
  /// At most one member is set. A std::variant would make an indirect call for each move.
  struct Object {
    Tensor tensor = {};
    IntrusivePtr<Node> node = nullptr;
    IntrusivePtr<CapturedFunction> function = nullptr;

    bool is_there() const { return tensor.defined() || node != nullptr || function != nullptr; }
  };

  static constexpr std::uint32_t kNone = 0xffffffffU;
  struct Slot {
    Object object;
    SharedCount<std::uint32_t> generation;
    HandleOwner owner = 0;
    /// The next slot in the free list.
    std::uint32_t next_free = kNone;
  };
  static constexpr std::size_t kChunkSlots = 4096;
  static constexpr std::size_t kMaxChunks = 4096;
  static_assert(kChunkSlots * kMaxChunks == 1U << 24);

  struct Inserted {
    Handle handle;
    /// False for a handle of a tensor that had one.
    bool is_first;
  };
  Inserted insert_object(Object&& object);
  Slot& slot_at(std::uint32_t index) const {
    return chunks_[index / kChunkSlots].load(std::memory_order_relaxed)[index % kChunkSlots];
  }
  Slot* find(Handle handle) const;
  static Handle handle_at(const Slot& slot, std::uint32_t index);
  /// Empties a slot; the mutex must be held.
  Object vacate(Slot& slot, std::uint32_t index);

  // Chunks never move, so a slot can be read while others are added.
  std::array<std::atomic<Slot*>, kMaxChunks> chunks_{};
  const std::uint32_t first_generation_;
  std::mutex mutex_;
  /// The head of the free list, which links slots because releasing must not allocate memory.
  std::uint32_t free_ = kNone;
  std::uint32_t used_ = 0;
  SharedCount<std::int64_t> live_;
};

}  // namespace eg
