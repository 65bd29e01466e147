#include "backend/webgpu/blocks.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace eg::webgpu {
namespace {

// Rounds up to one of eight sizes per power of two, so that a freed block also fits slightly
// smaller requests. At most an eighth is wasted.
std::size_t size_for(std::size_t bytes) {
  constexpr std::size_t kLeast = 256;
  if (bytes <= kLeast) return kLeast;
  const std::size_t step = std::bit_floor(bytes - 1) / 8;
  const std::size_t unit = std::max(step, kLeast);
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Block Blocks::allocate(std::size_t bytes, Stream& stream) {
  check(bytes <= limits_.block_bytes, ErrorCode::kOutOfMemory, "webgpu", bytes,
        " bytes were requested; a tensor on this adapter can have at most ", limits_.block_bytes,
        '.');
  const std::size_t size = std::min(size_for(bytes), limits_.block_bytes);
  const auto found = std::ranges::lower_bound(free_blocks_, FreeBlock{size, 0});
  if (found != free_blocks_.end() && found->size == size) {
    const Block block = found->block;
    free_blocks_.erase(found);
    free_bytes_ -= size;
    bytes_in_use_ += size;
    peak_bytes_ = std::max(peak_bytes_, bytes_in_use_);
    all_[block - 1].bytes = bytes;
    stream.add(Use{block, static_cast<std::uint32_t>(bytes)});
    return block;
  }
  if (free_bytes_ > limits_.free_bytes) trim(stream);
  Block block = 0;
  if (unused_numbers_.empty()) {
    all_.emplace_back();
    block = static_cast<Block>(all_.size());
  } else {
    block = unused_numbers_.back();
    unused_numbers_.pop_back();
  }
  all_[block - 1] = {bytes, size};
  bytes_in_use_ += size;
  peak_bytes_ = std::max(peak_bytes_, bytes_in_use_);
  stream.add(Allocate{block, static_cast<std::uint32_t>(size)});
  stream.add(Use{block, static_cast<std::uint32_t>(bytes)});
  return block;
}

void Blocks::free(Block block, Stream& stream) {
  if (is_lost(block)) return;
  stream.add(Idle{block});
  const std::size_t size = all_[block - 1].size;
  bytes_in_use_ -= size;
  free_bytes_ += size;
  const FreeBlock freed{size, block};
  free_blocks_.insert(std::ranges::lower_bound(free_blocks_, freed), freed);
}

void Blocks::trim(Stream& stream) {
  for (const auto& [size, block] : free_blocks_) {
    stream.add(Free{block});
    unused_numbers_.push_back(block);
  }
  free_blocks_.clear();
  free_bytes_ = 0;
}

void Blocks::reset(BlockLimits limits) {
  limits_ = limits;
  first_ = static_cast<Block>(all_.size() + 1);
  unused_numbers_.clear();
  free_blocks_.clear();
  free_bytes_ = bytes_in_use_ = 0;
}

}  // namespace eg::webgpu
