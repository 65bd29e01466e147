#include "base/heap/heap.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace eg {
namespace {

// The heap grows by at least this many pages.
constexpr std::uint32_t kMinGrowth = (1 << 20) / kPageBytes;
// Chunks for small blocks are this fraction of the heap. While small blocks take no larger fraction
// of the growth, each chunk starts at about twice the address of the previous one.
constexpr std::uint32_t kSmallPart = 16;
// Free pages that large blocks leave for small blocks.
constexpr std::uint32_t kSmallReserve = (1 << 20) / kPageBytes;
constexpr std::size_t kMaxLongLived = 4 << 20;
constexpr std::uint32_t kReserve = (256 << 10) / kPageBytes;

}  // namespace

void* Heap::address(PageNumber page) const {
  return std::bit_cast<void*>(arena_->base() + std::uintptr_t{page} * kPageBytes);
}

PageNumber Heap::page(const void* address) const {
  return static_cast<PageNumber>((reinterpret_cast<std::uintptr_t>(address) - arena_->base()) /
                                 kPageBytes);
}

/// Allocates the tables at the first call; returns false if there is no memory for them.
bool Heap::start() {
  if (table_ != nullptr) return true;
  const std::size_t pages = arena_->max_pages();
  // One extra entry: freeing a range reads the entry of the page after it.
  const std::uint32_t table_pages = pages_of((pages + 1) * sizeof(Page));
  const std::uint32_t slab_table_pages = pages_of((pages / Slabs::kMinPages + 1) * sizeof(Slab));
  const PageNumber first = arena_->grow(table_pages + slab_table_pages + kReserve + kSmallReserve);
  if (first == 0) return false;
  table_ = static_cast<Page*>(address(first));
  small_.use_table(table_);
  large_.use_table(table_);
  slabs_.use_tables(arena_->base(), table_, static_cast<Slab*>(address(first + table_pages)));
  reserve_ = first + table_pages + slab_table_pages;
  end_ = reserve_ + kReserve + kSmallReserve;
  total_pages_ = kReserve + kSmallReserve;
  small_.free(reserve_ + kReserve, kSmallReserve);
  return true;
}

bool Heap::grow_for(std::uint32_t pages) {
  if (!start()) return false;
  const std::uint32_t available = large_.free_before(end_);
  for (const std::uint32_t wanted :
       {std::max(pages - available, kMinGrowth), pages - available, pages}) {
    const PageNumber first = arena_->grow(wanted);
    if (first == 0) continue;
    const bool follows = first == end_;
    end_ = first + wanted;
    total_pages_ += wanted;
    large_.free(first, wanted);
    if (follows || wanted >= pages) return true;
  }
  return false;
}

/// Merges all free pages, so that a large range can use any of them.
void Heap::merge_free_pages() {
  for (std::size_t size = 0; size < kBlockSizes; ++size) {
    const PageNumber slab = slabs_.take_empty(size);
    if (slab != 0) large_.free(slab, slab_pages(size));
  }
  small_.move_to(large_);
  if (reserve_ != 0) large_.free(reserve_, kReserve);
  reserve_ = 0;
}

/// Restores the reserve and the free pages for small blocks; returns false if there are not enough
/// pages.
bool Heap::restore_reserve() {
  if (reserve_ == 0) reserve_ = large_.allocate(kReserve);
  if (reserve_ == 0) return false;
  for (std::uint32_t piece = kSmallReserve; piece >= Slabs::kMinPages; piece /= 2) {
    while (small_.free_pages() < kSmallReserve) {
      const PageNumber room = large_.allocate(piece);
      if (room == 0) break;
      small_.free(room, piece);
    }
  }
  return small_.free_pages() >= kSmallReserve;
}

PageNumber Heap::take_large(std::uint32_t pages) {
  if (!start()) return 0;
  PageNumber first = large_.allocate(pages);
  if (first == 0 && small_.free_pages() > kSmallReserve + 2 * (total_pages_ / kSmallPart)) {
    // The small blocks' pages are mostly free: merge them into the large heap.
    small_.move_to(large_);
    restore_reserve();
    first = large_.allocate(pages);
  }
  if (first == 0 && grow_for(pages)) first = large_.allocate(pages);
  if (first != 0) return first;
  merge_free_pages();
  first = large_.allocate(pages);
  if (restore_reserve() || first == 0) return first;
  large_.free(first, pages);
  merge_free_pages();
  restore_reserve();
  return 0;
}

PageNumber Heap::take_small(std::uint32_t pages) {
  if (!start()) return 0;
  if (const PageNumber first = small_.allocate(pages); first != 0) return first;
  for (std::uint32_t chunk = std::max({pages, kMinGrowth, total_pages_ / kSmallPart});;
       chunk = std::max(pages, chunk / 2)) {
    PageNumber first = large_.allocate(chunk);
    if (first == 0 && grow_for(chunk)) first = large_.allocate(chunk);
    if (first != 0) {
      small_.free(first, chunk);
      if (reserve_ == 0) restore_reserve();
      return small_.allocate(pages);
    }
    if (chunk == pages) break;
  }
  const PageNumber reserve = std::exchange(reserve_, 0);
  merge_free_pages();
  const PageNumber first = large_.allocate(pages);
  if (first != 0) {
    reserve_ = reserve;
    return first;
  }
  // This allocation fails; reporting the failure needs memory too.
  if (reserve != 0) small_.free(reserve, kReserve);
  return 0;
}

void* Heap::take_block(std::size_t block_size) {
  void* block = slabs_.take(block_size);
  if (block != nullptr) return block;
  const PageNumber slab = take_small(slab_pages(block_size));
  if (slab == 0) return nullptr;
  slabs_.add(block_size, slab);
  return slabs_.take(block_size);
}

void Heap::put_block(void* block) {
  const std::size_t size = slabs_.block_size(block);
  const PageNumber slab = slabs_.put(block);
  if (slab != 0) small_.free(slab, slab_pages(size));
}

void Heap::free_pages(PageNumber first, std::uint32_t count) {
  PageHeap& heap = small_.has_allocated(first) ? small_ : large_;
  heap.free(first, count);
}

void* Heap::allocate(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes <= kMaxSlabBlock) return take_block(block_size_of(bytes));
  if (bytes / kPageBytes >= arena_->max_pages()) return nullptr;
  const PageNumber first = take_large(pages_of(bytes));
  return first == 0 ? nullptr : address(first);
}

void* Heap::allocate_long_lived(std::size_t bytes) {
  if (bytes <= kMaxSlabBlock || bytes > kMaxLongLived) return allocate(bytes);
  const std::scoped_lock lock(mutex_);
  const PageNumber first = take_small(pages_of(bytes));
  return first == 0 ? nullptr : address(first);
}

void Heap::free(void* block, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes <= kMaxSlabBlock) return put_block(block);
  free_pages(page(block), pages_of(bytes));
}

void Heap::free(void* block) {
  const std::scoped_lock lock(mutex_);
  if (slabs_.owner(block) != 0) return put_block(block);
  free_pages(page(block), table_[page(block)].count);
}

std::size_t Heap::bytes_of(const void* block) {
  const std::scoped_lock lock(mutex_);
  if (slabs_.owner(block) != 0) return bytes_of_block_size(slabs_.block_size(block));
  return table_[page(block)].count * kPageBytes;
}

FreeBlock* Heap::take(std::size_t block_size, std::size_t& count) {
  const std::scoped_lock lock(mutex_);
  FreeBlock* blocks = nullptr;
  std::size_t taken = 0;
  for (; taken < count; ++taken) {
    // Only the first block is worth adding a slab.
    void* block = taken == 0 ? take_block(block_size) : slabs_.take(block_size);
    if (block == nullptr) break;
    blocks = new (block) FreeBlock{blocks};
  }
  count = taken;
  return blocks;
}

void Heap::put(FreeBlock* blocks) {
  const std::scoped_lock lock(mutex_);
  while (blocks != nullptr) {
    FreeBlock* const next = blocks->next;
    put_block(blocks);
    blocks = next;
  }
}

std::size_t Heap::pooled_bytes(const void* block) const {
  if (slabs_.owner(block) == 0) return 0;
  const std::size_t size = slabs_.block_size(block);
  return size < kSmallSizes ? bytes_of_block_size(size) : 0;
}

HeapStats Heap::stats() {
  const std::scoped_lock lock(mutex_);
  const std::size_t free = std::size_t{small_.free_pages()} + large_.free_pages();
  return {total_pages_ * kPageBytes, free * kPageBytes};
}

}  // namespace eg
