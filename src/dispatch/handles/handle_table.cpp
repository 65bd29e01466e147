// compile: engine

#include "dispatch/handles/handle_table.h"

#include <utility>

#include "base/error.h"

namespace eg {
namespace {

constexpr int kSlotBits = 24;
constexpr double kGenerationUnit = 1U << kSlotBits;

constinit thread_local HandleOwner this_thread = 0;

std::uint32_t slot_of(Handle handle) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(handle) & ((1U << kSlotBits) - 1));
}
std::uint32_t generation_of(Handle handle) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(handle) >> kSlotBits);
}

std::uint32_t engine_number = 0;

// In the lower half of the range, so that every slot has at least as many generations left, and far
// from those of the engines before; not 0, because slot 0 of generation 0 would be handle 0.
std::uint32_t generation_of_engine() {
  constexpr std::uint32_t kGoldenRatio = 0x9e3779b9;
  return 1 + ((engine_number * kGoldenRatio) & (HandleTable::kLastGeneration / 2));
}

}  // namespace

HandleTable& HandleTable::instance() {
  // Never destroyed: finalizers may release handles at any time.
  static auto* const table = new HandleTable(generation_of_engine());
  return *table;
}

HandleTable::~HandleTable() {
  for (const auto& chunk : chunks_) delete[] chunk.load();
}

void HandleTable::set_engine_number(std::uint32_t number) { engine_number = number; }

void HandleTable::set_this_thread(HandleOwner owner) { this_thread = owner; }

HandleTable::Slot* HandleTable::find(Handle handle) const {
  if (!(handle >= 1 && handle < 9007199254740992.0)) return nullptr;
  const std::uint32_t index = slot_of(handle);
  Slot* chunk = chunks_[index / kChunkSlots].load(std::memory_order_acquire);
  if (chunk == nullptr) return nullptr;
  Slot* slot = &chunk[index % kChunkSlots];
  const bool current = slot->generation.load() == generation_of(handle);
  return current ? slot : nullptr;
}

Handle HandleTable::handle_at(const Slot& slot, std::uint32_t index) {
  return static_cast<double>(slot.generation.load()) * kGenerationUnit + index;
}

Handle HandleTable::insert_result(Tensor tensor) {
  const auto [handle, is_first] = insert_object({.tensor = std::move(tensor)});
  return is_first || first(handle) == handle ? handle : -handle;
}

HandleTable::Inserted HandleTable::insert_object(Object&& object) {
  const auto lock = lock_objects(mutex_);
  std::uint32_t index = 0;
  if (free_ != kNone) {
    index = free_;
    free_ = slot_at(index).next_free;
  } else {
    check(used_ < kChunkSlots * kMaxChunks, ErrorCode::kOutOfMemory, "tensor",
          "too many live handles. Free some with dispose(), `using` or eg.scope().");
    if (used_ % kChunkSlots == 0) {
      Slot* chunk = new Slot[kChunkSlots];
      for (std::size_t i = 0; i < kChunkSlots; ++i) chunk[i].generation.start_at(first_generation_);
      chunks_[used_ / kChunkSlots].store(chunk, std::memory_order_release);
    }
    index = used_++;
  }
  Slot& slot = slot_at(index);
  slot.object = std::move(object);
  slot.owner = this_thread;
  const Tensor& tensor = slot.object.tensor;
  const bool is_first = !tensor.defined() || tensor.first_handle() == 0;
  if (is_first && tensor.defined()) tensor.set_first_handle(index + 1);
  live_.increment();
  return {handle_at(slot, index), is_first};
}

const Tensor& HandleTable::get(Handle handle) const {
  const Slot* slot = find(handle);
  if (slot == nullptr || !slot->object.tensor.defined()) {
    if (handle == 0) fail(ErrorCode::kInvalidArgument, "expected a tensor, got none.");
    fail(ErrorCode::kDisposed,
         "this tensor has been disposed. It was freed by dispose(), `using` or the end of an "
         "eg.scope(); keep it with eg.keep() or return it from the scope.");
  }
  return slot->object.tensor;
}

const IntrusivePtr<Node>& HandleTable::get_node(Handle handle) const {
  const Slot* slot = find(handle);
  if (slot == nullptr || slot->object.node == nullptr) {
    fail(
        ErrorCode::kDisposed,
        "this graph node has been disposed. It was freed by the end of an eg.scope(); keep it with "
        "eg.keep() or return it from the scope.");
  }
  return slot->object.node;
}

const IntrusivePtr<CapturedFunction>& HandleTable::get_captured(Handle handle) const {
  const Slot* slot = find(handle);
  check(slot != nullptr && slot->object.function != nullptr, ErrorCode::kDisposed, "capture",
        "this captured function has been disposed, by dispose() or `using`. Capture it again.");
  return slot->object.function;
}

void HandleTable::release(Handle handle) {
  Object released;
  {
    const auto lock = lock_objects(mutex_);
    Slot* slot = find(handle);
    if (slot == nullptr || !slot->object.is_there()) return;
    released = vacate(*slot, slot_of(handle));
  }
  // `released` is destroyed outside the lock, because it may own a whole graph.
}

HandleTable::Object HandleTable::vacate(Slot& slot, std::uint32_t index) {
  const std::uint32_t generation = slot.generation.load();
  const Tensor& tensor = slot.object.tensor;
  if (tensor.defined() && tensor.first_handle() == index + 1) tensor.set_first_handle(0);
  // After the last generation, no handle refers to the slot again.
  slot.generation.store(generation + 1);
  if (generation < kLastGeneration) slot.next_free = std::exchange(free_, index);
  live_.add(-1);
  return std::exchange(slot.object, Object());
}

Handle HandleTable::first(Handle handle) {
  const auto lock = lock_objects(mutex_);
  const Slot* own = find(handle);
  if (own == nullptr || !own->object.tensor.defined()) return handle;
  const Tensor& tensor = own->object.tensor;
  if (const std::uint32_t known = tensor.first_handle(); known != 0) {
    const Slot& slot = slot_at(known - 1);
    if (slot.owner == this_thread) return handle_at(slot, known - 1);
  }
  if (!tensor.travels()) return handle;
  // Another thread knows the tensor by another handle.
  for (std::uint32_t index = 0; index < used_; ++index) {
    const Slot& slot = slot_at(index);
    const bool is_other = &slot != own && slot.owner == this_thread;
    if (is_other && slot.object.tensor.is_same(tensor)) return handle_at(slot, index);
  }
  return handle;
}

void HandleTable::make_first(Handle handle) {
  const auto lock = lock_objects(mutex_);
  const Slot* slot = find(handle);
  if (slot != nullptr && slot->object.tensor.defined())
    slot->object.tensor.set_first_handle(slot_of(handle) + 1);
}

void HandleTable::set_owner(Handle handle, HandleOwner owner) {
  const std::scoped_lock lock(mutex_);
  Slot* slot = find(handle);
  if (slot == nullptr) return;
  if (slot->owner != owner && slot->object.tensor.defined()) slot->object.tensor.set_travels();
  slot->owner = owner;
}

bool HandleTable::is_held_elsewhere(const Tensor& t) {
  const std::scoped_lock lock(mutex_);
  for (std::uint32_t index = 0; index < used_; ++index) {
    const Slot& slot = slot_at(index);
    if (slot.object.tensor.is_same(t) && slot.owner != this_thread) return true;
  }
  return false;
}

void HandleTable::take_over(Handle handle) { set_owner(handle, this_thread); }

void HandleTable::release_all_of(HandleOwner owner) {
  const auto release_next = [&](std::uint32_t& index) {
    Object released;
    const std::scoped_lock lock(mutex_);
    for (; index < used_; ++index) {
      Slot& slot = slot_at(index);
      if (slot.owner != owner || !slot.object.is_there()) continue;
      released = vacate(slot, index);
      return true;
    }
    return false;
    // `released` is destroyed after the lock is released, as in release().
  };
  for (std::uint32_t index = 0; release_next(index);) {
  }
}

std::int64_t HandleTable::count_of(HandleOwner owner) {
  const std::scoped_lock lock(mutex_);
  std::int64_t count = 0;
  for (std::uint32_t index = 0; index < used_; ++index) {
    const Slot& slot = slot_at(index);
    if (slot.owner == owner && slot.object.is_there()) ++count;
  }
  return count;
}

}  // namespace eg
