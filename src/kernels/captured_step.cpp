#include "kernels/captured_step.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "runtime/accelerator.h"

namespace eg::kernel {

void CapturedStep::note(const Call& call) {
  const std::lock_guard lock(mutex_);
  bool is_variable = false;
  call.for_each_memory([&](const MemoryView& memory, bool) {
    if (memory.is_host_number) {
      refuse_in_recording("the function needs a computed number immediately,",
                          "Leave out shapes, conditions and decompositions that depend on values.");
    }
    add_if_touched(memory.base, memory.device);
    is_variable |= use(memory.base, memory.device).is_variable;
  });
  call.for_each_memory([&](const MemoryView& memory, bool is_written) {
    if (is_written) mark_written(use(memory.base, memory.device), is_variable);
  });
  entries_.push_back({call.is_off_cpu() ? Kind::kCallOffCpu : Kind::kCall, calls_.size()});
  calls_.emplace_back(call);
}

void CapturedStep::note_write(void* block, Device device, const void* from, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  add_write(block, device, from, bytes);
}

void CapturedStep::add_write(void* block, Device device, const void* from, std::size_t bytes) {
  mark_written(use(block, device), false);
  const auto* const begin = static_cast<const std::byte*>(from);
  entries_.push_back({Kind::kWrite, writes_.size()});
  writes_.push_back({block, device, {begin, begin + bytes}});
}

void CapturedStep::add_if_touched(void* base, Device device) {
  Block& block = use(base, device);
  if (std::exchange(block.is_touched, false)) add_write(base, device, base, block.bytes);
}

void CapturedStep::note_left(void* block, Device device) {
  if (block == nullptr) return;
  const std::lock_guard lock(mutex_);
  add_if_touched(block, device);
}

void CapturedStep::note_live(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({Kind::kLive, live_.size()});
  live_.push_back(std::move(work));
}

// True for work that only produced constants: their memory belongs to the recording, was written
// once and is no longer referenced, so it cannot change.
bool CapturedStep::is_settled(const Entry& entry) {
  const auto is_settled_in = [&](void* base, Device device) {
    const Block& block = use(base, device);
    return block.is_own && block.is_free && !block.was_ever_variable && block.writes == 1;
  };
  if (entry.kind == Kind::kWrite) {
    const Write& write = writes_[entry.index];
    return is_settled_in(write.block, write.device);
  }
  if (entry.kind == Kind::kLive) return false;
  bool has_written = false;
  bool is_settled = true;
  calls_[entry.index].call().for_each_memory([&](const MemoryView& memory, bool is_written) {
    if (!is_written) return;
    has_written = true;
    is_settled = is_settled && is_settled_in(memory.base, memory.device);
  });
  return has_written && is_settled;
}

void CapturedStep::finish() {
  stop_allocating();
  std::erase_if(entries_, [&](const Entry& entry) { return is_settled(entry); });
  for_each_variable([&](void* block, Device device) {
    if (!device.is_cpu()) renewed_.emplace_back(&accelerator(device), block);
  });
}

void CapturedStep::play() {
  for (const auto& [device, block] : renewed_) device->renew(block);
  if (!has_played_) return play_first_time();
  for (const Entry& entry : entries_) play(entry);
}

void CapturedStep::play(const Entry& entry) {
  switch (entry.kind) {
    case Kind::kCall:
      return calls_[entry.index].call().compute_on_cpu();
    case Kind::kCallOffCpu:
      return run_off_cpu(OwnedCall(calls_[entry.index].call()).call());
    case Kind::kSegment: {
      const Segment& segment = segments_[entry.index];
      return segment.device->play(segment.number);
    }
    case Kind::kWrite: {
      const auto& [block, device, bytes] = writes_[entry.index];
      if (device.is_cpu())
        std::memcpy(block, bytes.data(), bytes.size());
      else
        accelerator(device).write(block, 0, bytes.data(), bytes.size());
      return;
    }
    case Kind::kLive:
      return live_[entry.index]();
  }
}

// Replays the step and replaces consecutive calls that a device can record by one entry.
void CapturedStep::play_first_time() {
  forget_segments();
  std::vector<Entry> merged;
  for (std::size_t i = 0; i < entries_.size();) {
    if (entries_[i].kind == Kind::kCallOffCpu) {
      i = play_segment(i, merged);
    } else {
      play(entries_[i]);
      merged.push_back(entries_[i++]);
    }
  }
  entries_ = std::move(merged);
  has_played_ = true;
}

// Plays calls of one device for as long as it has their kernels; returns the end of the segment.
std::size_t CapturedStep::play_segment(std::size_t first, std::vector<Entry>& merged) {
  const auto call_at = [&](std::size_t i) { return calls_[entries_[i].index].call(); };
  Accelerator& there = accelerator(device_of(call_at(first)));
  const std::lock_guard lock(there);
  const std::uint32_t number = there.begin_recording();
  std::size_t end = first;
  if (number != 0) {
    segments_.push_back({&there, number});
    const auto end_recording = [&](void*) { there.end_recording(); };
    const std::unique_ptr<void, decltype(end_recording)> ends(this, end_recording);
    while (end < entries_.size() && entries_[end].kind == Kind::kCallOffCpu &&
           &accelerator(device_of(call_at(end))) == &there &&
           there.run(OwnedCall(call_at(end)).call()))
      ++end;
  }
  if (end > first) {
    merged.push_back({Kind::kSegment, segments_.size() - 1});
    return end;
  }
  if (number != 0) {
    there.forget(number);
    segments_.pop_back();
  }
  play(entries_[first]);
  merged.push_back(entries_[first]);
  return first + 1;
}

void CapturedStep::forget_segments() {
  for (const auto& [device, number] : segments_) device->forget(number);
  segments_.clear();
}

CapturedStep::~CapturedStep() { forget_segments(); }

}  // namespace eg::kernel
