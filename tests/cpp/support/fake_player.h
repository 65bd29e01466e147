#pragma once

// A player of the WebGPU stream (src/backend/webgpu) for tests. It runs on a separate thread,
// computes on the CPU with separate memory, delays batches at random, and fails on request.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "backend/webgpu/commands.h"
#include "backend/webgpu/device.h"

namespace eg::testing {

class FakePlayer final : public webgpu::Player {
 public:
  static constexpr webgpu::BlockLimits kLimits{std::size_t{1} << 30U, std::size_t{1} << 31U};

  explicit FakePlayer(webgpu::BlockLimits limits = kLimits);
  ~FakePlayer() override;
  FakePlayer(const FakePlayer&) = delete;
  FakePlayer& operator=(const FakePlayer&) = delete;

  webgpu::WebGpuDevice& device() { return device_; }

  void wake(bool now) override;
  bool can_wait() const override;
  bool has_clock() const override { return true; }
  bool has(const kernel::Call& call) const override;

  /// The maximum delay before a batch.
  std::atomic<int> most_delay_us{0};
  /// Simulates a new GPU after a loss; its memory is empty.
  void reopen();
  /// Takes and plays no batch until the lock is released.
  std::unique_lock<std::mutex> pause() { return std::unique_lock(playing_mutex_); }
  /// Makes the next read fail with this error.
  void fail_next(Error error);
  /// The number of recordings that exist now.
  std::size_t recordings();
  /// The numbers of batches and kernels played so far.
  std::atomic<int> batches{0};
  std::atomic<int> kernels{0};
  /// How often a thread has begun to wait for a batch.
  std::atomic<int> waits{0};

 private:
  class Reader;

  void run();
  void play(const std::vector<std::uint32_t>& words);
  void play_commands(const std::vector<std::uint32_t>& words);
  void play(const webgpu::Allocate& command, Reader& reader);
  void play(const webgpu::Free& command, Reader& reader);
  void play(const webgpu::Use& command, Reader& reader);
  void play(const webgpu::Write& command, Reader& reader);
  void play(const webgpu::Read& command, Reader& reader);
  void play(const webgpu::Kernel& command, Reader& reader);
  void play(const webgpu::Name& command, Reader& reader);
  void play(const webgpu::Stamp& command, Reader& reader);
  void play(const webgpu::Stamps& command, Reader& reader);
  void play(const webgpu::BeginRecording& command, Reader& reader);
  void play(const webgpu::EndRecording& command, Reader& reader);
  void play(const webgpu::Play& command, Reader& reader);
  void play(const webgpu::Forget& command, Reader& reader);
  void play(const webgpu::Idle& command, Reader& reader);
  void* memory_at(std::uint32_t block, std::size_t offset);

  std::mutex playing_mutex_;  // held while a batch is taken and played
  std::mutex gpu_mutex_;      // of blocks_ and names_
  std::mutex mutex_;
  std::condition_variable woken_;
  bool has_work_ = false;
  bool is_awaited_ = false;
  bool must_end_ = false;
  std::optional<Error> failure_;
  std::unordered_map<std::uint32_t, std::vector<char>> blocks_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> recordings_;
  std::vector<std::uint32_t>* recording_ = nullptr;
  std::array<std::uint64_t, Accelerator::kMaxStamps> times_{};
  std::mt19937 random_{7};  // NOLINT: the same delays each time
  webgpu::WebGpuDevice device_;
  std::thread thread_;
};

}  // namespace eg::testing
