#include "backend/cpu/elementwise/transpose.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

constexpr std::int64_t kLineBytes = 64;

// A tile is one cache line long in both directions and is transposed in a local buffer. Lines that
// are a power of two apart evict each other from the cache, so each line is read, or written, in
// one go.
template <class T>
constexpr std::int64_t kTile = kLineBytes / static_cast<std::int64_t>(sizeof(T));

template <class T>
using Tile = std::array<T, kTile<T> * kTile<T>>;

// Returns the number of tiles along a dimension; the last one may be partial.
template <class T>
std::int64_t tiles_along(std::int64_t size) {
  return (size + kTile<T> - 1) / kTile<T>;
}

using Vector32 [[gnu::vector_size(16)]] = std::uint32_t;
using Vector64 [[gnu::vector_size(16)]] = std::uint64_t;

template <class Vector>
Vector load(const void* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

// Transposes a square with as many rows as a vector has elements. Rows are `from_step` and
// `to_step` elements apart.
void transpose_square(const std::uint32_t* from, std::int64_t from_step, std::uint32_t* to,
                      std::int64_t to_step) {
  const auto a = load<Vector32>(from);
  const auto b = load<Vector32>(from + from_step);
  const auto c = load<Vector32>(from + 2 * from_step);
  const auto d = load<Vector32>(from + 3 * from_step);
  const Vector32 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Vector32 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Vector32 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Vector32 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const std::array<Vector32, 4> turned{__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                                       __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                                       __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                                       __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (const Vector32& row : turned) {
    std::memcpy(to, &row, sizeof(row));
    to += to_step;
  }
}

void transpose_square(const std::uint64_t* from, std::int64_t from_step, std::uint64_t* to,
                      std::int64_t to_step) {
  const auto a = load<Vector64>(from);
  const auto b = load<Vector64>(from + from_step);
  const Vector64 low = __builtin_shufflevector(a, b, 0, 2);
  const Vector64 high = __builtin_shufflevector(a, b, 1, 3);
  std::memcpy(to, &low, sizeof(low));
  std::memcpy(to + to_step, &high, sizeof(high));
}

template <class T>
void copy_tile(const T* from, std::int64_t from_step, T* to, std::int64_t to_step) {
  constexpr std::int64_t kSquare = 16 / sizeof(T);
  Tile<T> tile;
  // Unrolling all squares would produce kilobytes of code.
#pragma GCC unroll 1
  for (std::int64_t i = 0; i < kTile<T>; i += kSquare) {
    for (std::int64_t j = 0; j < kTile<T>; j += kSquare)
      transpose_square(from + i * from_step + j, from_step, tile.data() + j * kTile<T> + i,
                       kTile<T>);
  }
  for (std::int64_t j = 0; j < kTile<T>; ++j)
    std::memcpy(to + j * to_step, tile.data() + j * kTile<T>, kLineBytes);
}

template <class T>
void copy_edge(const T* from, std::int64_t from_step, T* to, std::int64_t to_step,
               std::int64_t rows, std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) to[j * to_step + i] = from[i * from_step + j];
  }
}

// Copies tiles [first, end), counted over the outer dimensions and then along `dim`. One tile of
// this count spans the whole innermost dimension.
template <class T>
void copy_tiles(const Loop& loop, std::size_t dim, std::int64_t first, std::int64_t end) {
  const std::size_t inner = loop.sizes.size() - 1;
  const Operand& to = loop.operands[0];
  const Operand& from = loop.operands[1];
  const std::int64_t rows = loop.sizes[inner];
  const std::int64_t from_step = from.strides[inner];
  const std::int64_t to_step = to.strides[dim];
  const std::int64_t across = tiles_along<T>(loop.sizes[dim]);
  for (std::int64_t tile = first; tile < end; ++tile) {
    const std::int64_t column = tile % across * kTile<T>;
    auto* target = static_cast<T*>(to.memory.address()) + column * to_step;
    const auto* source = static_cast<const T*>(from.memory.address()) + column;
    std::int64_t rest = tile / across;
    for (std::size_t d = inner; d-- > 0;) {
      if (d == dim) continue;
      target += rest % loop.sizes[d] * to.strides[d];
      source += rest % loop.sizes[d] * from.strides[d];
      rest /= loop.sizes[d];
    }
    const std::int64_t columns = std::min(loop.sizes[dim] - column, kTile<T>);
    const std::int64_t whole = columns == kTile<T> ? rows / kTile<T> * kTile<T> : 0;
    for (std::int64_t row = 0; row < whole; row += kTile<T>)
      copy_tile(source + row * from_step, from_step, target + row, to_step);
    copy_edge(source + whole * from_step, from_step, target + whole, to_step, rows - whole,
              columns);
  }
}

template <class T>
void copy_all(const Loop& loop, std::size_t dim) {
  const std::int64_t rows = loop.sizes.back();
  const std::int64_t tiles =
      loop.numel() / rows / loop.sizes[dim] * tiles_along<T>(loop.sizes[dim]);
  const std::int64_t grain = std::max<std::int64_t>(1, kMinElementsPerTask / (rows * kTile<T>));
  parallel_for(0, tiles, grain,
               [&](std::int64_t first, std::int64_t end) { copy_tiles<T>(loop, dim, first, end); });
}

}  // namespace

std::optional<std::size_t> transposed_dim(const Loop& loop) {
  const Operand& to = loop.operands[0];
  const Operand& from = loop.operands[1];
  const auto bytes = static_cast<std::int64_t>(item_size(to.memory.dtype));
  const std::int64_t tile = kLineBytes / bytes;
  const std::size_t inner = loop.sizes.size() - 1;
  const bool is_served = to.memory.dtype == from.memory.dtype && (bytes == 4 || bytes == 8) &&
                         to.strides[inner] == 1 && loop.sizes[inner] >= tile;
  if (!is_served) return std::nullopt;
  for (std::size_t d = 0; d < inner; ++d) {
    if (from.strides[d] == 1 && loop.sizes[d] >= tile) return d;
  }
  return std::nullopt;
}

void copy_transposed(const Loop& loop, std::size_t dim) {
  if (item_size(loop.operands[0].memory.dtype) == 4)
    copy_all<std::uint32_t>(loop, dim);
  else
    copy_all<std::uint64_t>(loop, dim);
}

}  // namespace eg::cpu
