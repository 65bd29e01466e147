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

// What all recordings together know of a block.
struct Kept {
  std::uint32_t recordings = 0;
  /// Who gives it out again when it is freed; null when the recording is over.
  Recording* maker = nullptr;
  /// Its storage is gone: it goes with the last recording.
  bool is_freed = false;
  bool is_made_in_one = false;
  std::size_t bytes = 0;
};

struct Registry {
  // Guards the blocks of all recordings too. Nothing is allocated on or given back to a device with
  // it held: a device may be making a storage, with its own lock held.
  std::mutex mutex;
  std::array<std::unordered_map<void*, Kept>, kDeviceTypeCount> blocks;
  std::vector<Recording*> recordings;

  auto& of(Device device) { return blocks[static_cast<std::size_t>(device.type)]; }
};

// Of all blocks in the registry.
constinit std::atomic<std::size_t> kept_count{0};

Registry& registry() {
  // Never destroyed: storages may be freed after any destructor.
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
  std::vector<Free> unused;
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::erase(all.recordings, this);
    for (std::size_t type = 0; type < kDeviceTypeCount; ++type) {
      auto& kept_blocks = all.blocks[type];
      for (const auto& [block, own] : blocks_[type]) {
        const auto found = kept_blocks.find(block);
        Kept& kept = found->second;
        if (kept.maker == this) kept.maker = nullptr;
        if (--kept.recordings > 0) continue;
        if (kept.is_freed)
          unused.push_back({block, kept.bytes, Device{static_cast<DeviceType>(type)}});
        kept_blocks.erase(found);
        kept_count.fetch_sub(1, std::memory_order_relaxed);
      }
    }
  }
  for (const auto& [block, bytes, device] : unused) free_on(block, bytes, device);
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
  const std::lock_guard lock(all.mutex);
  blocks_[static_cast<std::size_t>(device.type)][block] = {.bytes = bytes, .is_own = true};
  all.of(device)[block] = {
      .recordings = 1, .maker = this, .is_made_in_one = true, .bytes = bytes};
  kept_count.fetch_add(1, std::memory_order_relaxed);
  return block;
}

Recording::Block& Recording::use(void* block, Device device) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Blocks& blocks = blocks_[static_cast<std::size_t>(device.type)];
  const auto [found, is_new] = blocks.try_emplace(block);
  if (is_new) {
    found->second.is_variable = found->second.was_ever_variable = true;
    if (++all.of(device)[block].recordings == 1) kept_count.fetch_add(1, std::memory_order_relaxed);
  }
  return found->second;
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

void Recording::check_not_outdated() const {
  check(!is_outdated_.load(), ErrorCode::kInvalidArgument, "capture",
        "a tensor that the function uses has been replaced since it was captured, by Module.to(), "
        "loadStateDict() with assign or the like. Capture it again.");
}

void Recording::stop_allocating() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (auto& blocks : all.blocks) {
    for (auto& [block, kept] : blocks) {
      if (kept.maker == this) kept.maker = nullptr;
    }
  }
}

void Recording::freed(void* block, Device device) {
  Block& own = blocks_[static_cast<std::size_t>(device.type)][block];
  own.is_free = true;
  // Another value over a constant would have to be followed by the constant again.
  if (own.writes == 0 || own.was_ever_variable) free_.push_back({block, own.bytes, device});
}

void refuse_in_recording(std::string_view what, std::string_view advice) {
  if (recording() == nullptr) return;
  fail(ErrorCode::kInvalidArgument, "[capture] ", what,
       " which a captured function cannot do: it is played again without being run. ", advice);
}

void check_host_access(void* block, Device device) {
  Recording* const noted = recording();
  if (noted == nullptr || block == nullptr || noted->allows_host_access(block, device)) return;
  refuse_in_recording("values of a tensor were to be read, or a shape depends on them,",
                      "Return the tensor and read it after the call.");
}

bool is_of_recording(void* block, Device device) {
  if (!any_recorded()) return false;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of(device).find(block);
  return found != all.of(device).end() && found->second.is_made_in_one;
}

void outdate_recordings(void* block, Device device) {
  if (!any_recorded()) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (Recording* const one : all.recordings) {
    if (one->blocks_[static_cast<std::size_t>(device.type)].contains(block))
      one->is_outdated_.store(true);
  }
}

bool any_recorded() { return kept_count.load(std::memory_order_relaxed) != 0; }

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
