#pragma once

// What the GPU is to do, as 32-bit words, in the order in which it was called. A player, which owns
// the GPU, takes all words so far and plays them (web/src/webgpu, whose README has the format). It
// needs nothing else: a call is written down whole, numbers and all.
//
// Kernels have no encoders of their own: their fields are known (kernels/call.h).

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/name_table.h"
#include "kernels/call.h"

namespace eg::webgpu {

/// The number of a GPU buffer.
using Block = std::uint32_t;

class Stream {
 public:
  void allocate(Block block, std::size_t bytes);
  void free(Block block);
  /// Copies what is to be written into the stream.
  void write(Block block, std::size_t offset, const void* from, std::size_t bytes);
  /// The player copies to `to` and says when, with the ticket.
  void read(Block block, std::size_t offset, std::size_t bytes, const void* to,
            std::uint32_t ticket);
  void kernel(const kernel::Call& call);
  /// The GPU's time, when it gets here, into a slot; and the first slots into a block.
  void stamp(std::uint32_t slot);
  void stamps(Block block, std::uint32_t count);

  /// The player keeps the kernels between these two, under a number, plays them again, and lets go
  /// of them.
  void begin_recording(std::uint32_t recording);
  void end_recording();
  void play(std::uint32_t recording);
  void forget(std::uint32_t recording);

  /// The words so far; it begins anew.
  std::vector<std::uint32_t> take() { return std::exchange(words_, {}); }
  std::size_t size() const { return words_.size(); }

 private:
  /// A text's number, which the player is told before it is used.
  std::uint32_t name(std::string_view text);
  void field(kernel::Field field, const kernel::Call& call);
  void formula(const kernel::Formula& formula);

  std::vector<std::uint32_t> words_;
  NameTable names_;
};

/// The block that a storage's address stands for; numbers begin at 1.
inline Block block_of(const void* address) {
  return static_cast<Block>(reinterpret_cast<std::uintptr_t>(address));
}
inline void* address_of(Block block) {
  return reinterpret_cast<void*>(std::uintptr_t{block});  // NOLINT: a number, not a place
}

}  // namespace eg::webgpu
