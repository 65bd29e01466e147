#pragma once

// The WebGPU device as the engine sees it: an Accelerator that writes down what it is asked for.
// Whoever owns the GPU, on a thread that waits for nothing else, is the *player*: it takes the
// words, plays them and says which reads have come. So any thread may wait for a read without a
// deadlock.
//
// The player is woken when somebody waits, or when so much is written down that it should begin;
// else it comes by itself when nothing more has been called for a moment, so that a step of
// training is one batch.

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
  /// There are commands: play them now, or soon.
  virtual void wake(bool now) = 0;
  /// Whether the calling thread may wait for the player: false where it plays itself.
  virtual bool can_wait() const = 0;
  /// Whether the GPU can tell how long something took.
  virtual bool has_clock() const = 0;
  /// Whether the GPU has this kernel for such memory.
  virtual bool has(const kernel::Call& call) const = 0;
};

struct MemoryUse {
  std::size_t bytes = 0;
  std::size_t peak_bytes = 0;
  std::size_t blocks = 0;
};

class WebGpuDevice final : public Accelerator {
 public:
  WebGpuDevice(Player& player, BlockLimits limits) : player_(player), blocks_(limits) {}

  DeviceTypes types() const override {
    return {.has_float64 = false, .has_half = false, .has_int64 = false};
  }
  void* allocate(std::size_t bytes) override;
  void free(void* block) override;
  std::size_t bytes(void* block) override;
  void write(void* block, std::size_t offset, const void* from, std::size_t bytes) override;
  /// Throws WouldBlock on a thread that may not wait, and what has failed on the GPU since the last
  /// read.
  void read(void* block, std::size_t offset, void* to, std::size_t bytes) override;
  bool run(const kernel::Call& call) override;
  std::uint32_t begin_recording() override;
  void end_recording() override;
  void play(std::uint32_t recording) override;
  void forget(std::uint32_t recording) override;
  bool stamp(std::uint32_t slot) override;
  std::vector<std::uint64_t> stamps(std::uint32_t count) override;

  /// Like read(), but `done` is called on the player's thread, with what has failed if anything
  /// has. `to` has to stay until then.
  void read_later(void* block, std::size_t offset, void* to, std::size_t bytes,
                  std::function<void(std::optional<Error>)> done);
  MemoryUse memory_use();

  // For the player.

  /// All commands so far.
  std::vector<std::uint32_t> take();
  /// Whether there are commands that were not there when it was last asked.
  bool has_grown();
  void finish_read(std::uint32_t ticket, std::optional<Error> error);
  /// The GPU is gone: every call and every read fails from now on, those that wait too.
  void lose(const std::string& reason);
  /// There is another GPU. What lay on the one before stays lost.
  void reopen(BlockLimits limits);
  bool is_lost();

 private:
  using Done = std::function<void(std::optional<Error>)>;

  void check_alive(void* block) const;
  void appended();
  void wake(bool now);

  Player& player_;
  std::mutex mutex_;
  Stream stream_;
  Blocks blocks_;
  std::size_t kernels_ = 0;  // since the last batch
  std::size_t seen_words_ = 0;
  // What the player has been asked for and has not yet done.
  enum class Woken : std::uint8_t { kNo, kSoon, kNow } woken_ = Woken::kNo;
  std::uint32_t last_ticket_ = 0;
  std::uint32_t last_recording_ = 0;
  std::uint32_t first_recording_ = 1;  // of this GPU
  struct Read {
    std::uint32_t ticket;
    Done done;
  };
  std::vector<Read> reads_;  // that have not come yet
  std::optional<Error> lost_;
};

}  // namespace eg::webgpu
