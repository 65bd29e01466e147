#pragma once

// The allocator of GPU buffers. How much memory there is only the GPU knows: the player reports
// what it cannot create, after it has given back the memory of idle blocks. A freed block is reused
// for the next request of its size: commands run in order, so earlier commands that use the block
// have run by then. The free block with the lowest number is taken first, so a program that repeats
// itself gets the same blocks again, and the bind groups that the player caches for them stay
// valid.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/webgpu/stream.h"

namespace eg::webgpu {

struct BlockLimits {
  std::size_t block_bytes;   ///< maximum size of one block
  std::uint64_t free_bytes;  ///< size of free blocks from which new blocks take their place
};

class Blocks {
 public:
  explicit Blocks(BlockLimits limits) : limits_(limits) {}

  /// Returns a block of at least `bytes` bytes; throws OutOfMemory. Appends commands to the stream
  /// for creating a buffer and for freeing others to make room.
  Block allocate(std::size_t bytes, Stream& stream);
  void free(Block block, Stream& stream);
  std::size_t bytes(Block block) const { return all_[block - 1].bytes; }
  /// Releases the buffers of all free blocks.
  void trim(Stream& stream);

  /// Starts over on another GPU after the previous one was lost. The numbers of earlier blocks are
  /// not reused, so is_lost() recognizes them.
  void reset(BlockLimits limits);
  bool is_lost(Block block) const { return block < first_; }

  std::uint64_t bytes_in_use() const { return bytes_in_use_; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }
  std::size_t count() const { return all_.size() - (first_ - 1) - unused_numbers_.size(); }

 private:
  struct Entry {
    std::size_t bytes = 0;  // as requested
    std::size_t size = 0;   // of the buffer
  };

  BlockLimits limits_;
  std::vector<Entry> all_;
  Block first_ = 1;  // the first block of the current GPU
  std::vector<Block> unused_numbers_;
  struct FreeBlock {
    std::size_t size;
    Block block;
    friend auto operator<=>(const FreeBlock&, const FreeBlock&) = default;
  };
  std::vector<FreeBlock> free_blocks_;  // sorted
  std::uint64_t bytes_in_use_ = 0;
  std::uint64_t free_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace eg::webgpu
