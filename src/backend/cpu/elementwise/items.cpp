#include "backend/cpu/elementwise/items.h"

#include <cstring>

namespace eg::cpu {
namespace {

constexpr std::int64_t kChunkBytes = 16;
// From this size on, calling memcpy is faster.
constexpr std::int64_t kMemcpyBytes = 512;

struct alignas(8) WideItem {
  std::uint64_t low;
  std::uint64_t high;
};

template <class T>
void copy_packed(T* out, const T* in, std::int64_t count) {
  constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kChunk = kChunkBytes / kItem;
  if (count * kItem >= kMemcpyBytes) {
    std::memcpy(out, in, static_cast<std::size_t>(count * kItem));
    return;
  }
  std::int64_t i = 0;
  for (; i + kChunk <= count; i += kChunk) std::memcpy(out + i, in + i, kChunkBytes);
  for (; i < count; ++i) out[i] = in[i];
}

template <class T>
void fill(T* out, T item, std::int64_t count) {
  constexpr std::int64_t kChunk = kChunkBytes / static_cast<std::int64_t>(sizeof(T));
  T chunk[kChunk];
  for (T& each : chunk) each = item;
  std::int64_t i = 0;
  for (; i + kChunk <= count; i += kChunk) std::memcpy(out + i, chunk, kChunkBytes);
  for (; i < count; ++i) out[i] = item;
}

template <class T>
void copy_items(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                std::int64_t count) {
  T* const out = static_cast<T*>(to);
  const T* const in = static_cast<const T*>(from);
  if (to_step == 1 && from_step == 1) return copy_packed(out, in, count);
  if (to_step == 1 && from_step == 0) return fill(out, *in, count);
  for (std::int64_t i = 0; i < count; ++i) out[i * to_step] = in[i * from_step];
}

}  // namespace

RowFunction copy_of_items(std::size_t size) {
  switch (size) {
    case 1:
      return copy_items<std::uint8_t>;
    case 2:
      return copy_items<std::uint16_t>;
    case 4:
      return copy_items<std::uint32_t>;
    case 8:
      return copy_items<std::uint64_t>;
    default:
      return copy_items<WideItem>;
  }
}

}  // namespace eg::cpu
