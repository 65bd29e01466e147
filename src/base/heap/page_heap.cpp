#include "base/heap/page_heap.h"

#include <bit>

namespace eg {

std::size_t PageHeap::bin_of(std::uint32_t count) {
  if (count < kExactBins) return count;
  const int octave = static_cast<int>(std::bit_width(count)) - 1;
  constexpr int kFirstOctave = std::bit_width(kExactBins) - 1;
  constexpr int kBitsPerOctave = std::bit_width(kBinsPerOctave) - 1;
  const std::uint32_t part = (count >> (octave - kBitsPerOctave)) % kBinsPerOctave;
  return kExactBins + static_cast<std::size_t>(octave - kFirstOctave) * kBinsPerOctave + part;
}

/// Returns the first nonempty bin from `bin` on, or kBins.
std::size_t PageHeap::next_bin(std::size_t bin) const {
  for (std::size_t word = bin / 64; word < kWords; ++word) {
    const std::uint64_t bits =
        word == bin / 64 ? used_bins_[word] >> (bin % 64) << (bin % 64) : used_bins_[word];
    if (bits != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
  }
  return kBins;
}

PageNumber PageHeap::best_in(std::size_t bin, std::uint32_t count) const {
  PageNumber best = 0;
  for (PageNumber first = bins_[bin]; first != 0; first = table_[first].next) {
    // All ranges of this bin have one length; the one freed last may still be in the CPU cache.
    if (bin < kExactBins) return first;
    const std::uint32_t length = table_[first].count;
    if (length < count) continue;
    const bool is_better =
        best == 0 || length < table_[best].count || (length == table_[best].count && first < best);
    if (is_better) best = first;
  }
  return best;
}

PageNumber PageHeap::allocate(std::uint32_t count) {
  if (count == 0 || count > free_pages_) return 0;
  PageNumber first = 0;
  // Only the first of these bins may hold ranges that are too short.
  for (std::size_t bin = next_bin(bin_of(count)); first == 0; bin = next_bin(bin + 1)) {
    if (bin == kBins) return 0;
    first = best_in(bin, count);
  }
  const std::uint32_t length = table_[first].count;
  unlink(first);
  if (length > count) link(first + count, length - count);
  for (const PageNumber end : {first, first + count - 1}) {
    table_[end].count = count & 0xffffffU;
    table_[end].free_in = 0;
    table_[end].previous = 0;
    table_[end].next = number_;
  }
  return first;
}

void PageHeap::free(PageNumber first, std::uint32_t count) {
  if (const std::uint32_t before = free_before(first); before != 0) {
    first -= before;
    count += before;
    unlink(first);
  }
  if (const Page& after = table_[first + count]; after.free_in == number_) {
    const std::uint32_t length = after.count;
    unlink(first + count);
    count += length;
  }
  link(first, count);
}

void PageHeap::move_to(PageHeap& other) {
  for (std::size_t bin = next_bin(0); bin != kBins; bin = next_bin(bin)) {
    const PageNumber first = bins_[bin];
    const std::uint32_t count = table_[first].count;
    unlink(first);
    other.free(first, count);
  }
}

std::uint32_t PageHeap::free_before(PageNumber end) const {
  const Page& last = table_[end - 1];
  return last.free_in == number_ ? last.count : 0;
}

void PageHeap::set_owner(Page* table, PageNumber first, std::uint32_t count, PageNumber owner) {
  for (PageNumber page = first; page < first + count; ++page) {
    table[page].free_in = 0;
    table[page].previous = owner;
  }
}

void PageHeap::link(PageNumber first, std::uint32_t count) {
  const std::size_t bin = bin_of(count);
  const PageNumber next = bins_[bin];
  for (const PageNumber end : {first, first + count - 1}) {
    table_[end].count = count & 0xffffffU;
    table_[end].free_in = number_;
  }
  table_[first].previous = 0;
  table_[first].next = next;
  if (next != 0) table_[next].previous = first;
  bins_[bin] = first;
  used_bins_[bin / 64] |= std::uint64_t{1} << (bin % 64);
  free_pages_ += count;
}

void PageHeap::unlink(PageNumber first) {
  const Page range = table_[first];
  const std::size_t bin = bin_of(range.count);
  if (range.next != 0) table_[range.next].previous = range.previous;
  if (range.previous != 0) {
    table_[range.previous].next = range.next;
  } else {
    bins_[bin] = range.next;
    if (range.next == 0) used_bins_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
  }
  // The old boundaries must not look like those of a free range.
  table_[first].free_in = 0;
  table_[first + range.count - 1].free_in = 0;
  free_pages_ -= range.count;
}

}  // namespace eg
