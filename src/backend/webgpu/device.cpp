#include "backend/webgpu/device.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace eg::webgpu {
namespace {

// A batch with this much work is played even if no thread waits for it.
constexpr std::size_t kMaxKernels = 256;
constexpr std::size_t kMaxWords = std::size_t{16} << 20U;
// The length of a command has 24 bits.
constexpr std::size_t kMaxWriteBytes = std::size_t{32} << 20U;

}  // namespace

void* WebGpuDevice::allocate(std::size_t bytes) {
  const std::lock_guard order(*this);
  const std::lock_guard lock(mutex_);
  if (lost_) throw *lost_;
  return address_of(blocks_.allocate(bytes, stream_));
}

void WebGpuDevice::free(void* block) {
  const std::lock_guard lock(mutex_);
  blocks_.free(block_of(block), stream_);
}

std::size_t WebGpuDevice::bytes(void* block) {
  const std::lock_guard lock(mutex_);
  return blocks_.bytes(block_of(block));
}

void WebGpuDevice::renew(void* block) {
  const std::lock_guard order(*this);
  const std::lock_guard lock(mutex_);
  if (lost_ || blocks_.is_lost(block_of(block))) return;
  stream_.add(Use{block_of(block), static_cast<std::uint32_t>(blocks_.bytes(block_of(block)))});
}

void WebGpuDevice::check_alive(void* block) const {
  if (lost_) throw *lost_;
  check(!blocks_.is_lost(block_of(block)), ErrorCode::kDeviceLost, "webgpu",
        "this tensor was on a device that was lost: create it again.");
}

void WebGpuDevice::check_not_lost(void* block) {
  const std::lock_guard lock(mutex_);
  check_alive(block);
}

void WebGpuDevice::write(void* block, std::size_t offset, const void* from, std::size_t bytes) {
  const std::lock_guard order(*this);
  const std::lock_guard lock(mutex_);
  check_alive(block);
  for (std::size_t done = 0; done < bytes; done += kMaxWriteBytes) {
    const std::size_t part = std::min(kMaxWriteBytes, bytes - done);
    stream_.add(Write{block_of(block),
                      static_cast<std::uint32_t>(offset + done),
                      {static_cast<const std::byte*>(from) + done, part}});
    appended();
  }
}

void WebGpuDevice::read(void* block, std::size_t offset, void* to, std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    check_alive(block);
  }
  check(player_.can_wait(), ErrorCode::kWouldBlock, "webgpu",
        "this thread drives the GPU and cannot wait for it: use the Async form.");
  check_may_wait();
  // On this thread's stack: the player no longer uses it once `is_done` is set.
  struct {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
    std::optional<Error> error;
  } result;
  read_later(block, offset, to, bytes, [&](std::optional<Error> error) {
    const std::lock_guard lock(result.mutex);
    result.error = std::move(error);
    result.is_done = true;
    result.changed.notify_one();
  });
  std::unique_lock lock(result.mutex);
  result.changed.wait(lock, [&] { return result.is_done; });
  if (result.error) throw *result.error;
}

void WebGpuDevice::read_later(void* block, std::size_t offset, void* to, std::size_t bytes,
                              Done done) {
  const std::lock_guard order(*this);
  const std::lock_guard lock(mutex_);
  check_alive(block);
  reads_.push_back({++last_ticket_, std::move(done)});
  stream_.add(webgpu::Read{block_of(block), static_cast<std::uint32_t>(offset),
                           static_cast<std::uint32_t>(bytes),
                           std::uint64_t{reinterpret_cast<std::uintptr_t>(to)}, last_ticket_});
  wake(true);
}

bool WebGpuDevice::run(const kernel::Call& call) {
  const std::lock_guard order(*this);
  const std::lock_guard lock(mutex_);
  call.for_each_memory([this](const MemoryView& memory, bool) { check_alive(memory.base); });
  if (!player_.has(call)) return false;
  stream_.add_kernel(call);
  ++kernels_;
  appended();
  return true;
}

std::uint32_t WebGpuDevice::begin_recording() {
  const std::lock_guard lock(mutex_);
  if (lost_) throw *lost_;
  stream_.add(BeginRecording{++last_recording_});
  return last_recording_;
}

void WebGpuDevice::end_recording() {
  const std::lock_guard lock(mutex_);
  stream_.add(EndRecording{});
}

void WebGpuDevice::play(std::uint32_t recording) {
  const std::lock_guard order(*this);
  const std::lock_guard lock(mutex_);
  if (lost_) throw *lost_;
  check(recording >= first_recording_, ErrorCode::kDeviceLost, "capture",
        "this function was captured on a device that was lost: capture it again.");
  stream_.add(Play{recording});
  appended();
}

void WebGpuDevice::forget(std::uint32_t recording) {
  const std::lock_guard order(*this);
  const std::lock_guard lock(mutex_);
  if (lost_ || recording < first_recording_) return;
  stream_.add(Forget{recording});
  appended();
}

bool WebGpuDevice::stamp(std::uint32_t slot) {
  if (!player_.has_clock()) return false;
  const std::lock_guard order(*this);
  const std::lock_guard lock(mutex_);
  stream_.add(Stamp{slot});
  return true;
}

std::vector<std::uint64_t> WebGpuDevice::stamps(std::uint32_t count) {
  if (!player_.can_wait()) return {};
  std::vector<std::uint64_t> times(count);
  const std::size_t bytes = count * sizeof(std::uint64_t);
  const std::lock_guard order(*this);
  const auto release = [this](void* block) { free(block); };
  const std::unique_ptr<void, decltype(release)> block(allocate(bytes), release);
  {
    const std::lock_guard lock(mutex_);
    stream_.add(Stamps{block_of(block.get()), count});
  }
  read(block.get(), 0, times.data(), bytes);
  return times;
}

void WebGpuDevice::appended() { wake(kernels_ >= kMaxKernels || stream_.size() >= kMaxWords); }

void WebGpuDevice::wake(bool now) {
  const Woken wanted = now ? Woken::kNow : Woken::kSoon;
  if (woken_ >= wanted) return;
  woken_ = wanted;
  player_.wake(now);
}

MemoryUse WebGpuDevice::memory_use() {
  const std::lock_guard lock(mutex_);
  return {blocks_.bytes_in_use(), blocks_.peak_bytes(), blocks_.count()};
}

std::vector<std::uint32_t> WebGpuDevice::take() {
  const PlayerScope plays;
  const std::lock_guard lock(mutex_);
  kernels_ = 0;
  seen_words_ = 0;
  woken_ = Woken::kNo;
  return stream_.take();
}

bool WebGpuDevice::has_grown() {
  const std::lock_guard lock(mutex_);
  return std::exchange(seen_words_, stream_.size()) != stream_.size();
}

void WebGpuDevice::finish_read(std::uint32_t ticket, std::optional<Error> error) {
  const PlayerScope plays;
  Done done;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(reads_, ticket, &Read::ticket);
    if (found == reads_.end()) return;
    done = std::move(found->done);
    reads_.erase(found);
  }
  done(std::move(error));
}

Error WebGpuDevice::lose(const std::string& reason) {
  const PlayerScope plays;
  std::vector<Read> waiting;
  std::optional<Error> error;
  {
    const std::lock_guard lock(mutex_);
    lost_ = Error(ErrorCode::kDeviceLost,
                  "[webgpu] the device was lost: " + reason +
                      ". Its tensors are lost too. Call `await init()` to open it again.");
    error = lost_;
    stream_.take();
    waiting.swap(reads_);
  }
  for (const Read& read : waiting) read.done(error);
  return *error;
}

void WebGpuDevice::reopen(BlockLimits limits) {
  const std::lock_guard lock(mutex_);
  lost_.reset();
  stream_ = {};
  first_recording_ = last_recording_ + 1;
  kernels_ = 0;
  seen_words_ = 0;
  woken_ = Woken::kNo;
  blocks_.reset(limits);
}

bool WebGpuDevice::is_lost() {
  const std::lock_guard lock(mutex_);
  return lost_.has_value();
}

}  // namespace eg::webgpu
