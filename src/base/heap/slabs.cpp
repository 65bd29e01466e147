#include "base/heap/slabs.h"

#include <bit>
#include <new>

namespace eg {
namespace {

constexpr int kSmallBits = std::bit_width(kMaxSmallBlock) - 1;

struct BlockSize {
  std::uint32_t bytes;
  std::uint16_t blocks;
  std::uint16_t pages;
};

/// Chooses the shortest slab that wastes at most a sixteenth of its bytes.
constexpr BlockSize block_size_with(std::size_t bytes) {
  for (std::size_t pages = Slabs::kMinPages;; ++pages) {
    const std::size_t room = pages * kPageBytes;
    if (room % bytes > room / 16) continue;
    return {static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(room / bytes),
            static_cast<std::uint16_t>(pages)};
  }
}

constexpr auto kSizes = [] {
  std::array<BlockSize, kBlockSizes> sizes{};
  for (std::size_t i = 0; i < kSmallSizes; ++i) sizes[i] = block_size_with((i + 1) * kSmallStep);
  for (std::size_t i = kSmallSizes; i < kBlockSizes; ++i) {
    const std::size_t octave = (i - kSmallSizes) / kSizesPerOctave;
    const std::size_t quarters = kSizesPerOctave + 1 + (i - kSmallSizes) % kSizesPerOctave;
    sizes[i] = block_size_with((kMaxSmallBlock << octave) / kSizesPerOctave * quarters);
  }
  return sizes;
}();
static_assert(kSizes.back().bytes == kMaxSlabBlock);

}  // namespace

std::size_t block_size_of(std::size_t bytes) {
  if (bytes <= kMaxSmallBlock) return small_block_size_of(bytes);
  const int octave = static_cast<int>(std::bit_width(bytes - 1)) - 1;
  const std::size_t quarter = (std::size_t{1} << octave) / kSizesPerOctave;
  return kSmallSizes + static_cast<std::size_t>(octave - kSmallBits) * kSizesPerOctave +
         (bytes - 1) / quarter - kSizesPerOctave;
}

std::size_t bytes_of_block_size(std::size_t size) { return kSizes[size].bytes; }

std::uint32_t slab_pages(std::size_t size) { return kSizes[size].pages; }

void Slabs::use_tables(std::uintptr_t base, Page* pages, Slab* slabs) {
  base_ = base;
  pages_ = pages;
  slabs_ = slabs;
}

PageNumber Slabs::owner(const void* block) const {
  return pages_[(reinterpret_cast<std::uintptr_t>(block) - base_) / kPageBytes].previous;
}

void* Slabs::take(std::size_t size) {
  const PageNumber first = with_free_blocks_[size];
  if (first == 0) return nullptr;
  Slab& from = slab(first);
  void* block = from.free;
  if (block != nullptr) {
    from.free = from.free->next;
  } else {
    const std::size_t before = std::size_t{from.fresh} * kSizes[size].bytes;
    block = std::bit_cast<void*>(base_ + first * kPageBytes + before);
    ++from.fresh;
  }
  if (empty_[size] == first) empty_[size] = 0;
  if (++from.used == kSizes[size].blocks) unlink(first);
  return block;
}

void Slabs::add(std::size_t size, PageNumber first) {
  Slab fresh{};
  fresh.block_size = static_cast<std::uint8_t>(size);
  slab(first) = fresh;
  PageHeap::set_owner(pages_, first, kSizes[size].pages, first);
  link(first);
}

PageNumber Slabs::put(void* block) {
  const PageNumber first = owner(block);
  Slab& to = slab(first);
  to.free = new (block) FreeBlock{to.free};
  if (to.used-- == kSizes[to.block_size].blocks) link(first);
  if (to.used != 0) return 0;
  PageNumber& empty = empty_[to.block_size];
  if (empty == 0) {
    empty = first;
    return 0;
  }
  unlink(first);
  return first;
}

PageNumber Slabs::take_empty(std::size_t size) {
  const PageNumber first = empty_[size];
  if (first != 0) unlink(first);
  empty_[size] = 0;
  return first;
}

void Slabs::link(PageNumber first) {
  PageNumber& head = with_free_blocks_[slab(first).block_size];
  slab(first).previous = 0;
  slab(first).next = head;
  if (head != 0) slab(head).previous = first;
  head = first;
}

void Slabs::unlink(PageNumber first) {
  const Slab& gone = slab(first);
  if (gone.next != 0) slab(gone.next).previous = gone.previous;
  if (gone.previous != 0) {
    slab(gone.previous).next = gone.next;
  } else {
    with_free_blocks_[gone.block_size] = gone.next;
  }
}

}  // namespace eg
