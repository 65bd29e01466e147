#pragma once

// Which GPU buffers there are. A block that is freed is kept for the next of its size: commands
// take effect in their order, so whatever still used it has run before. The lowest number goes
// first, so a program that does the same again gets the same blocks again, and nothing the player
// keeps of them (bind groups) is made anew.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/webgpu/stream.h"

namespace eg::webgpu {

struct BlockLimits {
  std::size_t block_bytes;   ///< what one block may have at most
  std::size_t budget_bytes;  ///< what all may have
};

class Blocks {
 public:
  explicit Blocks(BlockLimits limits) : limits_(limits) {}

  /// A block of at least so many bytes; throws OutOfMemory. New ones, and old ones that have to go
  /// for them, are commands of the stream.
  Block allocate(std::size_t bytes, Stream& stream);
  void free(Block block);
  std::size_t bytes(Block block) const { return all_[block - 1].bytes; }
  /// Frees what is kept for later.
  void trim(Stream& stream);

  /// The GPU that all blocks so far were on is gone, and there is another one. Their numbers are
  /// not used again, so that who still has one can be told.
  void reset(BlockLimits limits);
  bool is_lost(Block block) const { return block < first_; }

  std::size_t bytes_in_use() const { return bytes_in_use_; }
  std::size_t peak_bytes() const { return peak_bytes_; }
  std::size_t count() const { return all_.size() - (first_ - 1) - unused_numbers_.size(); }

 private:
  struct Entry {
    std::size_t bytes = 0;  // as asked for
    std::size_t size = 0;   // of the buffer
  };

  BlockLimits limits_;
  std::vector<Entry> all_;
  Block first_ = 1;  // of this GPU
  std::vector<Block> unused_numbers_;
  struct FreeBlock {
    std::size_t size;
    Block block;
    friend auto operator<=>(const FreeBlock&, const FreeBlock&) = default;
  };
  std::vector<FreeBlock> free_blocks_;  // in order
  std::size_t bytes_in_use_ = 0;
  std::size_t free_bytes_ = 0;
  std::size_t peak_bytes_ = 0;
};

}  // namespace eg::webgpu
