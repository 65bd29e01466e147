#include "runtime/recording.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "base/error.h"
#include "runtime/accelerator.h"
#include "runtime/memory.h"

namespace eg {
namespace {

// The state of a block across all recordings.
struct BlockState {
  std::uint32_t recordings = 0;
  /// The recording that reuses the block when it is freed; null after that recording has ended.
  Recording* maker = nullptr;
  /// Its storage has been destroyed: the block is freed with the last recording.
  bool is_freed = false;
  bool is_made_in_one = false;
  std::size_t bytes = 0;
};

struct Registry {
  // Also guards the blocks of all recordings. No device memory is allocated or freed while it is
  // held, because a device may create a storage while holding its own lock.
  RankedMutex<LockRank::kRecordings> mutex;
  std::array<std::unordered_map<void*, BlockState>, kDeviceTypeCount> blocks;
  std::vector<Recording*> recordings;

  auto& of(Device device) { return blocks[static_cast<std::size_t>(device.type)]; }
};

// The number of blocks in the registry.
constinit std::atomic<std::size_t> block_count{0};

Registry& registry() {
  // Never destroyed: storages may be freed after static destructors.
  static auto* const registry = new Registry;
  return *registry;
}

void* allocate_on(std::size_t bytes, Device device) {
  return device.is_cpu() ? allocate_bytes(bytes) : accelerator(device).allocate(bytes);
}

void free_on(void* block, std::size_t bytes, Device device) {
  if (device.is_cpu())
    free_bytes(block, bytes);
  else
    accelerator(device).free(block);
}

}  // namespace

Recording::Recording() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.recordings.push_back(this);
}

Recording::~Recording() {
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::erase(all.recordings, this);
    for (std::size_t type = 0; type < kDeviceTypeCount; ++type) {
      auto& states = all.blocks[type];
      for (auto own = blocks_[type].begin(); own != blocks_[type].end();) {
        const auto found = states.find(own->first);
        BlockState& state = found->second;
        if (state.maker == this) state.maker = nullptr;
        const bool is_last = --state.recordings == 0;
        const bool is_unused = is_last && state.is_freed;
        own->second.bytes = state.bytes;
        own = is_unused ? std::next(own) : blocks_[type].erase(own);
        if (!is_last) continue;
        states.erase(found);
        block_count.fetch_sub(1, std::memory_order_relaxed);
      }
    }
  }
  // What is left is unused.
  for (std::size_t type = 0; type < kDeviceTypeCount; ++type) {
    for (const auto& [block, own] : blocks_[type])
      free_on(block, own.bytes, Device{static_cast<DeviceType>(type)});
  }
}

void* Recording::allocate(std::size_t bytes, Device device) {
  if (bytes == 0) return allocate_on(bytes, device);
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = std::ranges::find_if(
        free_, [&](const Free& one) { return one.bytes == bytes && one.device == device; });
    if (found != free_.end()) {
      void* const block = found->block;
      free_.erase(found);
      Block& own = blocks_[static_cast<std::size_t>(device.type)][block];
      own.is_free = own.is_variable = own.is_touched = false;
      all.of(device)[block].is_freed = false;
      return block;
    }
  }
  void* const block = allocate_on(bytes, device);
  try {
    const std::lock_guard lock(all.mutex);
    // Reserved, because freeing a block must not need memory.
    if (free_.capacity() == own_blocks_) free_.reserve(2 * own_blocks_ + 8);
    add(block, device) = {.bytes = bytes, .is_own = true};
    all.of(device)[block] = {
        .recordings = 1, .maker = this, .is_made_in_one = true, .bytes = bytes};
    ++own_blocks_;
  } catch (...) {
    free_on(block, bytes, device);
    throw;
  }
  return block;
}

// Adds a block to this recording and to the registry, or to neither. The lock must be held.
Recording::Block& Recording::add(void* block, Device device) {
  Blocks& blocks = blocks_[static_cast<std::size_t>(device.type)];
  const auto own = blocks.try_emplace(block).first;
  try {
    if (++registry().of(device)[block].recordings == 1)
      block_count.fetch_add(1, std::memory_order_relaxed);
  } catch (...) {
    blocks.erase(own);
    throw;
  }
  return own->second;
}

Recording::Block& Recording::use(void* block, Device device) {
  const std::lock_guard lock(registry().mutex);
  Blocks& blocks = blocks_[static_cast<std::size_t>(device.type)];
  if (const auto found = blocks.find(block); found != blocks.end()) return found->second;
  Block& added = add(block, device);
  added.is_variable = added.was_ever_variable = true;
  return added;
}

void Recording::mark_written(Block& block, bool is_variable) {
  ++block.writes;
  block.is_variable = is_variable || !block.is_own;
  block.was_ever_variable |= block.is_variable;
}

bool Recording::allows_host_access(void* block, Device device) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Blocks& blocks = blocks_[static_cast<std::size_t>(device.type)];
  const auto found = blocks.find(block);
  if (found == blocks.end() || found->second.is_variable) return false;
  found->second.is_touched = device.is_cpu();
  return true;
}

bool Recording::is_own(void* block, Device device) {
  const std::lock_guard lock(registry().mutex);
  const Blocks& blocks = blocks_[static_cast<std::size_t>(device.type)];
  const auto found = blocks.find(block);
  return found != blocks.end() && found->second.is_own;
}

void Recording::check_valid() const {
  check(!is_invalidated_.load(), ErrorCode::kInvalidArgument, "capture",
        "a tensor that the function uses has been replaced since it was captured, for example by "
        "Module.to() or loadStateDict() with assign. Capture the function again.");
}

void Recording::stop_allocating() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (auto& blocks : all.blocks) {
    for (auto& [block, state] : blocks) {
      if (state.maker == this) state.maker = nullptr;
    }
  }
}

void Recording::for_each_variable(
    const std::function<void(void* block, Device device)>& visit) const {
  for (std::size_t type = 0; type < kDeviceTypeCount; ++type) {
    for (const auto& [block, state] : blocks_[type]) {
      if (state.is_own && state.was_ever_variable)
        visit(block, Device{static_cast<DeviceType>(type)});
    }
  }
}

void Recording::freed(void* block, Device device) {
  Block& own = blocks_[static_cast<std::size_t>(device.type)][block];
  own.is_free = true;
  // A block that holds a constant is not reused: a replay would have to restore the constant.
  if (own.writes == 0 || own.was_ever_variable) free_.push_back({block, own.bytes, device});
}

void refuse_in_recording(std::string_view what, std::string_view advice) {
  if (recording() == nullptr) return;
  fail(ErrorCode::kInvalidArgument, "[capture] ", what,
       " which a captured function cannot do: its calls are replayed without running it. ", advice);
}

void check_host_access(void* block, Device device) {
  Recording* const active = recording();
  if (active == nullptr || block == nullptr || active->allows_host_access(block, device)) return;
  refuse_in_recording("the function reads values of a tensor, or a shape depends on them,",
                      "Return the tensor and read it after the call.");
}

bool is_of_recording(void* block, Device device) {
  if (!any_recorded()) return false;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of(device).find(block);
  return found != all.of(device).end() && found->second.is_made_in_one;
}

void invalidate_recordings(void* block, Device device) {
  if (!any_recorded()) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (Recording* const one : all.recordings) {
    if (one->blocks_[static_cast<std::size_t>(device.type)].contains(block))
      one->is_invalidated_.store(true);
  }
}

bool any_recorded() { return block_count.load(std::memory_order_relaxed) != 0; }

bool keep_recorded(void* block, std::size_t bytes, Device device) {
  if (block == nullptr) return false;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of(device).find(block);
  if (found == all.of(device).end()) return false;
  found->second.is_freed = true;
  found->second.bytes = bytes;
  if (found->second.maker != nullptr) found->second.maker->freed(block, device);
  return true;
}

}  // namespace eg
