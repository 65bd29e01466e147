#pragma once

// The engine's side of the WebGPU device: an Accelerator that records its operations as a stream of
// commands. The *player* owns the GPU, on a thread that never blocks: it takes the recorded words,
// plays them and reports completed reads. Any other thread can therefore wait for a read without a
// deadlock.
//
// The player is woken immediately when a thread waits for a read or when enough commands are
// recorded. Otherwise it runs once no commands have been added for a moment, so that a training
// step becomes one batch.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/webgpu/blocks.h"
#include "backend/webgpu/stream.h"
#include "base/error.h"
#include "runtime/accelerator.h"

namespace eg::webgpu {

/// How the device reaches its player. Called from any thread, with the device's lock held.
class Player {
 public:
  virtual ~Player() = default;
  /// Tells the player that there are commands, to be played now or soon.
  virtual void wake(bool now) = 0;
  /// Whether the calling thread may wait for the player; false on the player's own thread.
  virtual bool can_wait() const = 0;
  /// Whether the GPU supports timestamps.
  virtual bool has_clock() const = 0;
  /// Whether the player has this kernel for the dtypes of the call.
  virtual bool has(const kernel::Call& call) const = 0;
};

struct MemoryUse {
  std::uint64_t bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::size_t blocks = 0;
};

class WebGpuDevice final : public Accelerator {
 public:
  WebGpuDevice(Player& player, BlockLimits limits) : player_(player), blocks_(limits) {}

  bool has_float64() const override { return false; }
  bool draws() const override { return true; }
  void* allocate(std::size_t bytes) override;
  void free(void* block) override;
  std::size_t bytes(void* block) override;
  void renew(void* block) override;
  void write(void* block, std::size_t offset, const void* from, std::size_t bytes) override;
  /// Throws WouldBlock on a thread that may not wait, and the error of what the values were
  /// computed from.
  void read(void* block, std::size_t offset, void* to, std::size_t bytes) override;
  bool run(const kernel::Call& call) override;
  std::uint32_t begin_recording() override;
  void end_recording() override;
  void play(std::uint32_t recording) override;
  void forget(std::uint32_t recording) override;
  bool stamp(std::uint32_t slot) override;
  std::vector<std::uint64_t> stamps(std::uint32_t count) override;

  /// Like read(), but asynchronous: `done` is called on the player's thread, with the error if
  /// there was one. `to` must stay valid until then.
  void read_later(void* block, std::size_t offset, void* to, std::size_t bytes,
                  std::function<void(std::optional<Error>)> done);
  MemoryUse memory_use();

  // For the player, whose thread obeys the law of lock_rank.h.

  /// Returns all commands recorded so far and removes them from the stream.
  std::vector<std::uint32_t> take();
  /// Whether commands were added since the previous call of this function.
  bool has_grown();
  void finish_read(std::uint32_t ticket, std::optional<Error> error);
  /// Handles the loss of the GPU: all pending reads and all later calls fail with the error that
  /// it returns.
  Error lose(const std::string& reason);
  /// Continues on another GPU. Tensors on the previous one stay lost.
  void reopen(BlockLimits limits);
  bool is_lost();

  /// Throws DeviceLost if the content of a block is lost.
  void check_not_lost(void* block);

 private:
  using Done = std::function<void(std::optional<Error>)>;

  void check_alive(void* block) const;
  void appended();
  void wake(bool now);

  Player& player_;
  RankedMutex<LockRank::kDevice> mutex_;
  Stream stream_;
  Blocks blocks_;
  std::size_t kernels_ = 0;  // since the last batch
  std::size_t seen_words_ = 0;
  // The most urgent wake-up that the player has not yet served.
  enum class Woken : std::uint8_t { kNo, kSoon, kNow } woken_ = Woken::kNo;
  std::uint32_t last_ticket_ = 0;
  std::uint32_t last_recording_ = 0;
  std::uint32_t first_recording_ = 1;  // on the current GPU
  struct Read {
    std::uint32_t ticket;
    Done done;
  };
  std::vector<Read> reads_;  // pending
  std::optional<Error> lost_;
};

}  // namespace eg::webgpu
