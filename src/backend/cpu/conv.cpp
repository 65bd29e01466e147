#include "backend/cpu/conv.h"

#include <algorithm>

#include "backend/cpu/gemm/gemm.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// Elements of columns made at a time: they share the second-level cache with the packed operands.
constexpr std::int64_t kTileElements = 128 * 1024;
// Fewer columns would leave a product too little to reuse of the weights it packs.
constexpr std::int64_t kMinTileColumns = 192;

// The part of a convolution that one image and one group take.
template <class T>
class Columns {
 public:
  explicit Columns(const Convolution& conv)
      : conv_(conv),
        channels_(conv.in_channels / conv.groups),
        rows_(channels_ * conv.kernel[0] * conv.kernel[1]) {
    const std::int64_t width = std::max<std::int64_t>(1, conv.out[1]);
    const std::int64_t columns =
        std::max(kTileElements / std::max<std::int64_t>(1, rows_), kMinTileColumns);
    tile_rows_ =
        std::clamp<std::int64_t>(columns / width, 1, std::max<std::int64_t>(1, conv.out[0]));
  }

  /// Rows of the matrix.
  std::int64_t rows() const { return rows_; }
  std::int64_t in_size() const { return channels_ * conv_.in[0] * conv_.in[1]; }
  /// Output rows that a tile covers.
  std::int64_t tile_rows() const { return tile_rows_; }
  std::int64_t scratch_size() const { return rows_ * tile_rows_ * conv_.out[1]; }
  /// The image itself is the matrix.
  bool is_image() const {
    using Pair = Convolution::Pair;
    return conv_.kernel == Pair{1, 1} && conv_.stride == Pair{1, 1} &&
           conv_.padding == Pair{0, 0} && conv_.in == conv_.out;
  }

  /// Writes the columns of output rows [first, last).
  void gather(const T* image, std::int64_t first, std::int64_t last, T* columns) const {
    for_each_line(first, last,
                  [&](std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t end) {
                    T* const line = columns + to;
                    std::fill(line, line + begin, T{0});
                    const std::int64_t step = conv_.stride[1];
                    const T* source = image + from;
                    if (step == 1) {
                      std::copy(source + begin, source + end, line + begin);
                    } else {
                      for (std::int64_t x = begin; x < end; ++x) line[x] = source[x * step];
                    }
                    std::fill(line + end, line + conv_.out[1], T{0});
                  });
  }

  /// Adds the columns of output rows [first, last) to the places they came from.
  void scatter(const T* columns, std::int64_t first, std::int64_t last, T* image) const {
    for_each_line(first, last,
                  [&](std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t end) {
                    const T* const line = columns + to;
                    const std::int64_t step = conv_.stride[1];
                    T* const target = image + from;
                    for (std::int64_t x = begin; x < end; ++x) target[x * step] += line[x];
                  });
  }

 private:
  // Calls body(from, to, begin, end) for every line of output places and every weight: places
  // [begin, end) of the line at columns + to read image + from + place * stride, others padding.
  // A channel is touched by one thread only.
  template <class Body>
  void for_each_line(std::int64_t first, std::int64_t last, Body&& body) const {
    const std::int64_t width = conv_.out[1];
    const std::int64_t columns = (last - first) * width;
    const std::int64_t taps = conv_.kernel[0] * conv_.kernel[1];
    const std::int64_t work = std::max<std::int64_t>(1, taps * columns);
    const auto run_channel = [&](std::int64_t channel) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t down = tap / conv_.kernel[1] * conv_.dilation[0] - conv_.padding[0];
        const std::int64_t right = tap % conv_.kernel[1] * conv_.dilation[1] - conv_.padding[1];
        const std::int64_t begin = std::min(width, places_before(-right));
        const std::int64_t end = std::clamp(places_before(conv_.in[1] - right), begin, width);
        for (std::int64_t y = first; y < last; ++y) {
          const std::int64_t row = y * conv_.stride[0] + down;
          const bool is_inside = row >= 0 && row < conv_.in[0];
          const std::int64_t from =
              (channel * conv_.in[0] + (is_inside ? row : 0)) * conv_.in[1] + right;
          const std::int64_t to = (channel * taps + tap) * columns + (y - first) * width;
          body(from, to, is_inside ? begin : 0, is_inside ? end : 0);
        }
      }
    };
    parallel_for(0, channels_, std::max<std::int64_t>(1, kMinElementsPerTask / work),
                 [&](std::int64_t c_begin, std::int64_t c_end) {
                   for (std::int64_t c = c_begin; c < c_end; ++c) run_channel(c);
                 });
  }

  // How many places of a line lie less than `distance` columns from its first.
  std::int64_t places_before(std::int64_t distance) const {
    return distance <= 0 ? 0 : (distance + conv_.stride[1] - 1) / conv_.stride[1];
  }

  const Convolution& conv_;
  std::int64_t channels_;
  std::int64_t rows_;
  std::int64_t tile_rows_;
};

// Room for the columns of one tile.
template <class T>
class Scratch {
 public:
  explicit Scratch(const Columns<T>& columns)
      : bytes_(columns.is_image() ? 0
                                  : static_cast<std::size_t>(columns.scratch_size()) * sizeof(T)),
        block_(bytes_ == 0 ? nullptr : allocate_bytes(bytes_)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (block_ != nullptr) free_bytes(block_, bytes_);
  }

  T* data() const { return static_cast<T*>(block_); }

 private:
  std::size_t bytes_;
  void* block_;
};

// Calls body(image, group, scratch) for all, on several threads where there are enough of them for
// whole ones; few are each shared inside.
template <class T, class Body>
void for_each_part(const Convolution& conv, const Columns<T>& columns, Body&& body) {
  const std::int64_t parts = conv.batch * conv.groups;
  const bool takes_whole = parts >= 2 * num_threads();
  parallel_for(0, parts, takes_whole ? 1 : parts, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> scratch(columns);
    for (std::int64_t part = begin; part < end; ++part)
      body(part / conv.groups, part % conv.groups, scratch.data());
  });
}

// Calls body(first, last, place of the first, number of places) for every tile of output rows.
template <class T, class Body>
void for_each_tile(const Convolution& conv, const Columns<T>& columns, Body&& body) {
  const std::int64_t step = columns.is_image() ? conv.out[0] : columns.tile_rows();
  for (std::int64_t first = 0; first < conv.out[0]; first += step) {
    const std::int64_t last = std::min(first + step, conv.out[0]);
    body(first, last, first * conv.out[1], (last - first) * conv.out[1]);
  }
}

template <class T>
void fill_planes(T* planes, std::int64_t count, std::int64_t size, const T* values) {
  for (std::int64_t i = 0; i < count; ++i)
    std::fill(planes + i * size, planes + (i + 1) * size, values == nullptr ? T{0} : values[i]);
}

}  // namespace

template <class T>
void convolve(const Convolution& conv, const T* in, const T* weight, const T* bias, T* out) {
  const Columns<T> columns(conv);
  const std::int64_t channels = conv.out_channels / conv.groups;
  const std::int64_t places = conv.out[0] * conv.out[1];
  const std::int64_t k = columns.rows();
  for_each_part(conv, columns, [&](std::int64_t image, std::int64_t group, T* scratch) {
    const T* const from = in + (image * conv.groups + group) * columns.in_size();
    T* const to = out + (image * conv.groups + group) * channels * places;
    const T* const w = weight + group * channels * k;
    if (bias != nullptr || k == 0)
      fill_planes(to, channels, places, bias == nullptr ? nullptr : bias + group * channels);
    if (k == 0) return;
    for_each_tile(
        conv, columns,
        [&](std::int64_t first, std::int64_t last, std::int64_t place, std::int64_t count) {
          if (!columns.is_image()) columns.gather(from, first, last, scratch);
          gemm::gemm<T>(channels, count, k, 1, {w, k, 1},
                        {columns.is_image() ? from : scratch, count, 1}, bias == nullptr ? 0 : 1,
                        to + place, places);
        });
  });
}

template <class T>
void convolve_backward_input(const Convolution& conv, const T* grad_out, const T* weight,
                             const T* bias, T* grad_in) {
  const Columns<T> columns(conv);
  const std::int64_t channels = conv.out_channels / conv.groups;
  const std::int64_t in_channels = conv.in_channels / conv.groups;
  const std::int64_t places = conv.out[0] * conv.out[1];
  const std::int64_t k = columns.rows();
  for_each_part(conv, columns, [&](std::int64_t image, std::int64_t group, T* scratch) {
    const T* const from = grad_out + (image * conv.groups + group) * channels * places;
    T* const to = grad_in + (image * conv.groups + group) * columns.in_size();
    const T* const w = weight + group * channels * k;
    fill_planes(to, in_channels, conv.in[0] * conv.in[1],
                bias == nullptr ? nullptr : bias + group * in_channels);
    if (channels == 0) return;
    for_each_tile(
        conv, columns,
        [&](std::int64_t first, std::int64_t last, std::int64_t place, std::int64_t count) {
          const bool is_image = columns.is_image();
          gemm::gemm<T>(k, count, channels, 1, {w, 1, k}, {from + place, places, 1},
                        is_image ? 1 : 0, is_image ? to : scratch, count);
          if (!is_image) columns.scatter(scratch, first, last, to);
        });
  });
}

template <class T>
void convolve_backward_weight(const Convolution& conv, const T* grad_out, const T* in,
                              T* grad_weight) {
  const Columns<T> columns(conv);
  const std::int64_t channels = conv.out_channels / conv.groups;
  const std::int64_t places = conv.out[0] * conv.out[1];
  const std::int64_t k = columns.rows();
  std::fill(grad_weight, grad_weight + conv.out_channels * k, T{0});
  const Scratch<T> scratch(columns);
  // Every image adds to the same weights: they are taken in turn and shared inside.
  for (std::int64_t part = 0; part < conv.batch * conv.groups; ++part) {
    const std::int64_t group = part % conv.groups;
    const T* const image = in + part * columns.in_size();
    const T* const grad = grad_out + part * channels * places;
    for_each_tile(
        conv, columns,
        [&](std::int64_t first, std::int64_t last, std::int64_t place, std::int64_t count) {
          if (!columns.is_image()) columns.gather(image, first, last, scratch.data());
          gemm::gemm<T>(channels, k, count, 1, {grad + place, places, 1},
                        {columns.is_image() ? image : scratch.data(), 1, count}, 1,
                        grad_weight + group * channels * k, k);
        });
  }
}

#define EG_CONVOLVE(T)                                                                         \
  template void convolve(const Convolution&, const T*, const T*, const T*, T*);                \
  template void convolve_backward_input(const Convolution&, const T*, const T*, const T*, T*); \
  template void convolve_backward_weight(const Convolution&, const T*, const T*, T*);
EG_CONVOLVE(float)
EG_CONVOLVE(double)
#undef EG_CONVOLVE

}  // namespace eg::cpu
