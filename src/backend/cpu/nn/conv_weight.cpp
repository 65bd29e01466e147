// The gradient of a convolution's weight. For every weight it sums, over all positions of all
// images, the product of the input that its tap reads and the output gradient. A tile of weights is
// summed lane by lane over a chunk of rows and images that stays in the L1 cache; a lane adds few
// numbers before the sum of the chunk is added to that of the weight. Lanes are adjacent positions
// or interleaved images (conv_images.h), so no operand is transposed.

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "backend/cpu/nn/conv_pass.h"
#include "backend/cpu/nn/conv_winograd.h"
#include "backend/cpu/nn/scratch_array.h"
#include "base/divide_up.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using gemm::kLanes;
using kernel::Convolution;

// The target number of elements read per chunk.
constexpr std::int64_t kChunkNumbers = 128 * 1024;
// The batch is divided into parts whose sums are computed in parallel. The number of parts must not
// depend on the number of threads, or results would. Large weights use a single part and are
// divided by channel and tap instead.
constexpr std::int64_t kMaxParts = 8;
constexpr std::int64_t kMaxPartNumbers = 128 * 1024;
// The minimum number of positions per part, so that the work outweighs the overhead of a separate
// sum.
constexpr std::int64_t kMinPartPositions = 256;
constexpr std::int64_t kMinWorkPerTask = 256 * 1024;

// The operands of a tile: for every bundle of images, one vector of positions at a time.
// `positions` lists where the vectors start in the source; in the gradient they are contiguous. A
// flat list, because rows may be so short that a loop per row would cost as much as its body.
template <class T>
struct Chunk {
  std::int64_t bundles;
  int vectors;  ///< of a bundle
  const T* grad;
  std::int64_t grad_bundle_stride;
  std::int64_t grad_channel_stride;
  const T* source;
  std::int64_t source_bundle_stride;
  const std::int32_t* positions;  ///< in bytes from the start of a bundle's source
};

// Sums Channels x Taps products over a chunk. Channels beyond `channels` repeat the last one.
template <class T, int Channels, int Taps>
void weight_tile(const Chunk<T>& chunk, std::int64_t channels, const std::int32_t* offsets,
                 T* sums_out) {
  gemm::Vector<T> sums[Channels][Taps] = {};
  std::int64_t channel[Channels];
  for (int c = 0; c < Channels; ++c)
    channel[c] = std::min<std::int64_t>(c, channels - 1) * chunk.grad_channel_stride;
  for (std::int64_t bundle = 0; bundle < chunk.bundles; ++bundle) {
    const T* grad = chunk.grad + bundle * chunk.grad_bundle_stride;
    const T* const source = chunk.source + bundle * chunk.source_bundle_stride;
    for (int i = 0; i < chunk.vectors; ++i, grad += kLanes<T>) {
      const T* const vector_source = bytes_after(source, chunk.positions[i]);
      gemm::Vector<T> read[Taps];
      EG_GEMM_UNROLL
      for (int t = 0; t < Taps; ++t) read[t] = gemm::load(bytes_after(vector_source, offsets[t]));
      EG_GEMM_UNROLL
      for (int c = 0; c < Channels; ++c) {
        const gemm::Vector<T> factor = gemm::load(grad + channel[c]);
        EG_GEMM_UNROLL
        for (int t = 0; t < Taps; ++t) sums[c][t] = gemm::multiply_add(factor, read[t], sums[c][t]);
      }
    }
  }
  if constexpr (Channels * Taps % kLanes<T> == 0) {
    // The lanes of kLaneCount sums are added up at once.
    constexpr int kLaneCount = kLanes<T>;
    EG_GEMM_UNROLL
    for (int i = 0; i < Channels * Taps; i += kLaneCount) {
      gemm::Vector<T> lanes[kLaneCount];
      EG_GEMM_UNROLL
      for (int lane = 0; lane < kLaneCount; ++lane)
        lanes[lane] = sums[(i + lane) / Taps][(i + lane) % Taps];
      gemm::transpose(lanes);
      gemm::Vector<T> sum = lanes[0];
      EG_GEMM_UNROLL
      for (int lane = 1; lane < kLaneCount; ++lane) sum += lanes[lane];
      gemm::store(sums_out + i, sum);
    }
  } else {
    for (int c = 0; c < Channels; ++c) {
      for (int t = 0; t < Taps; ++t) {
        T sum{0};
        for (int lane = 0; lane < kLanes<T>; ++lane) sum += sums[c][t][lane];
        sums_out[c * Taps + t] = sum;
      }
    }
  }
}

// With one channel per group, more taps are needed to keep the multipliers busy.
constexpr int kChannels = 4;
constexpr int kTaps = 2;
constexpr int kTapsAlone = 5;

template <class T>
class WeightGradient {
 public:
  /// Processes images in bundles of `bundle` (conv_images.h).
  WeightGradient(const Convolution& conv, const ConvPass& pass, std::int64_t bundle)
      : conv_(conv),
        bundle_(bundle),
        in_channels_(pass.in_channels),
        out_channels_(pass.out_channels),
        width_(bundle == 1 ? divide_up(conv.out[1], kLanes<T>) * kLanes<T> : conv.out[1] * bundle),
        band_(std::clamp<std::int64_t>(2 * kChunkNumbers / (width_ * (kChannels + conv.stride[0])),
                                       1, conv.out[0])),
        layout_(pass.rows, pass.columns, band_, kLanes<T> / bundle, bundle),
        tile_channels_(out_channels_ > 1 ? kChannels : 1),
        tile_taps_(out_channels_ > 1 ? kTaps : kTapsAlone),
        taps_(in_channels_ * conv.kernel[0] * conv.kernel[1]) {
    const std::int64_t image = layout_.size(in_channels_) + out_channels_ * band_ * width_;
    bundles_ = std::clamp<std::int64_t>(kChunkNumbers / image, 1, divide_up(conv.batch, bundle));
    for (std::int64_t tap = 0; tap < tap_tiles() * tile_taps_; ++tap) {
      const std::int64_t t = std::min(tap, taps_ - 1);
      const std::int64_t plane = t / (conv.kernel[0] * conv.kernel[1]);
      offsets_.push_back(
          layout_.bytes_to(plane, t / conv.kernel[1] % conv.kernel[0], t % conv.kernel[1]));
    }
    for (std::int64_t y = 0; y < band_; ++y) {
      for (std::int64_t x = 0; x < width_ / bundle; x += kLanes<T> / bundle)
        positions_.push_back(layout_.bytes_to_position(y, x));
    }
  }

  std::int64_t scratch_size() const {
    return source_size() + (copies_grad() ? bundles_ * out_channels_ * band_ * width_ : 0);
  }

  /// Images per bundle. A part of a batch should be a multiple of it.
  std::int64_t bundle() const { return bundle_; }

  /// Initializes scratch memory for add().
  void prepare(T* scratch) const { std::fill_n(scratch, source_size(), T{0}); }

  /// Adds the contribution of images [first, last) to a group's weights.
  void add(std::int64_t first, std::int64_t last, std::int64_t group, const T* grad_out,
           const T* in, T* weight, T* scratch) const {
    for (; first < last; first += bundles_ * bundle_) {
      const std::int64_t count = std::min(bundles_ * bundle_, last - first);
      for (std::int64_t y = 0; y < conv_.out[0]; y += band_) {
        const std::int64_t part = first * conv_.groups + group;
        const Chunk<T> chunk = make_chunk(part, count, y, grad_out, in, scratch);
        add_chunk(chunk, weight);
      }
    }
  }

 private:
  std::int64_t source_size() const { return bundles_ * layout_.size(in_channels_); }
  std::int64_t tap_tiles() const { return divide_up(taps_, tile_taps_); }
  // Lanes beyond the end of a row must be multiplied by zeros.
  bool copies_grad() const { return width_ != conv_.out[1]; }

  Chunk<T> make_chunk(std::int64_t part, std::int64_t images, std::int64_t y, const T* grad_out,
                      const T* in, T* source) const {
    T* const grad = source + source_size();
    const std::int64_t rows = std::min(band_, conv_.out[0] - y);
    const std::int64_t positions = conv_.out[0] * conv_.out[1];
    const std::int64_t in_image = in_channels_ * conv_.in[0] * conv_.in[1];
    const T* const grads = grad_out + part * out_channels_ * positions + y * conv_.out[1];
    const std::int64_t in_step = conv_.groups * in_image;
    const std::int64_t grads_step = conv_.groups * out_channels_ * positions;
    const std::int64_t bundles = divide_up(images, bundle_);
    const std::int64_t source_bundle = layout_.size(in_channels_);
    if (band_ < conv_.out[0]) std::fill_n(source, source_size(), T{0});
    for (std::int64_t i = 0; i < bundles; ++i) {
      const std::int64_t image = i * bundle_;
      const std::int64_t count = std::min(bundle_, images - image);
      layout_.copy({in + part * in_image + image * in_step, in_step, count}, in_channels_, y,
                   source + i * source_bundle);
      if (copies_grad()) {
        for (std::int64_t c = 0; c < out_channels_; ++c)
          copy_rows({grads + image * grads_step + c * positions, grads_step, count}, rows,
                    grad + (i * out_channels_ + c) * rows * width_);
      }
    }
    Chunk<T> chunk{.bundles = bundles,
                   .vectors = static_cast<int>(rows * width_ / kLanes<T>),
                   .grad = grads,
                   .grad_bundle_stride = grads_step,
                   .grad_channel_stride = positions,
                   .source = source,
                   .source_bundle_stride = source_bundle,
                   .positions = positions_.data()};
    if (copies_grad()) {
      chunk.grad = grad;
      chunk.grad_bundle_stride = out_channels_ * rows * width_;
      chunk.grad_channel_stride = rows * width_;
    }
    return chunk;
  }

  void copy_rows(const ConvImages<const T>& from, std::int64_t rows, T* to) const {
    if (bundle_ > 1) return interleave(from, 1, rows * conv_.out[1], to);
    for (std::int64_t row = 0; row < rows; ++row, to += width_) {
      copy_short(from.first + row * conv_.out[1], conv_.out[1], to);
      std::fill(to + conv_.out[1], to + width_, T{0});
    }
  }

  void add_chunk(const Chunk<T>& chunk, T* weight) const {
    const std::int64_t strips = divide_up(out_channels_, tile_channels_);
    const std::int64_t work =
        chunk.bundles * chunk.vectors * kLanes<T> * tile_channels_ * tile_taps_;
    parallel_for(0, strips * tap_tiles(), divide_up(kMinWorkPerTask, work),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t tile = begin; tile < end; ++tile)
                     add_tile(chunk, tile / tap_tiles() * tile_channels_,
                              tile % tap_tiles() * tile_taps_, weight);
                 });
  }

  void add_tile(Chunk<T> chunk, std::int64_t channel, std::int64_t tap, T* weight) const {
    const std::int64_t channels = std::min(tile_channels_, out_channels_ - channel);
    const std::int64_t taps = std::min(tile_taps_, taps_ - tap);
    chunk.grad += channel * chunk.grad_channel_stride;
    std::array<T, kChannels * kTaps> sums;
    static_assert(kTapsAlone <= kChannels * kTaps);
    (tile_channels_ == 1
         ? weight_tile<T, 1, kTapsAlone>
         : weight_tile<T, kChannels, kTaps>)(chunk, channels, offsets_.data() + tap, sums.data());
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t t = 0; t < taps; ++t)
        weight[(channel + c) * taps_ + tap + t] += sums.data()[c * tile_taps_ + t];
    }
  }

  const Convolution& conv_;
  std::int64_t bundle_;
  std::int64_t in_channels_;
  std::int64_t out_channels_;
  std::int64_t width_;
  std::int64_t band_;
  PlaneLayout<T> layout_;
  std::int64_t tile_channels_;
  std::int64_t tile_taps_;
  std::int64_t taps_;
  std::int64_t bundles_;  // of a chunk
  std::vector<std::int32_t> offsets_;
  std::vector<std::int32_t> positions_;
};

// Sums the contributions of all images to the weight. Parts of the batch are computed in parallel,
// and their sums are added in order.
template <class T, class Gradient>
void add_images(const ConvPass& pass, const Gradient& gradient, const T* grad_out, const T* in,
                T* grad_weight) {
  const std::int64_t count = pass.groups * pass.group_weights;
  std::fill_n(grad_weight, count, T{0});
  const std::int64_t wanted =
      std::min(kMaxPartNumbers / count, pass.batch * pass.to_size / kMinPartPositions);
  const std::int64_t bundle = gradient.bundle();
  const std::int64_t bundles = divide_up(pass.batch, bundle);
  const std::int64_t parts = std::min(bundles, std::clamp<std::int64_t>(wanted, 1, kMaxParts));
  const auto first_image = [&](std::int64_t part) {
    return std::min(pass.batch, part * bundles / parts * bundle);
  };
  // The first part is summed in place, the others in separate buffers.
  const ScratchArray<T> partial((parts - 1) * count);
  std::fill_n(partial.data(), (parts - 1) * count, T{0});
  parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const ScratchArray<T> scratch(gradient.scratch_size());
    gradient.prepare(scratch.data());
    for (std::int64_t part = begin; part < end; ++part) {
      T* const sums = part == 0 ? grad_weight : partial.data() + (part - 1) * count;
      for (std::int64_t g = 0; g < pass.groups; ++g)
        gradient.add(first_image(part), first_image(part + 1), g, grad_out, in,
                     sums + g * pass.group_weights, scratch.data());
    }
  });
  for (std::int64_t part = 1; part < parts; ++part) {
    const T* const sums = partial.data() + (part - 1) * count;
    for (std::int64_t i = 0; i < count; ++i) grad_weight[i] += sums[i];
  }
}

// Returns whether bundling images saves more time than it costs: bundles need no padding at the end
// of rows, but operands that could be read in place have to be copied.
template <class T>
bool bundles_pay(const Convolution& conv, const ConvPass& pass) {
  // The minimum number of taps for a copy to pay off, and the maximum number of elements in a
  // bundle for it to stay in a cache.
  constexpr std::int64_t kWorthwhileTaps = 32;
  constexpr std::int64_t kMaxBundleNumbers = 1024 * 1024;
  const std::int64_t row = conv.out[1];
  const std::int64_t padded_row = divide_up(row, kLanes<T>) * kLanes<T>;
  const std::int64_t padded_batch = divide_up(conv.batch, kLanes<T>) * kLanes<T>;
  return padded_batch * row <= conv.batch * padded_row &&
         kLanes<T> * (pass.from_part() + pass.to_part()) <= kMaxBundleNumbers &&
         (row != padded_row || pass.depth() >= kWorthwhileTaps);
}

template <class T>
void convolve_backward_weight(const Convolution& conv, const T* grad_out, const T* in,
                              T* grad_weight) {
  const ConvPass pass = result_pass(conv);
  const std::int64_t count = pass.groups * pass.group_weights;
  if (conv.batch == 0 || count == 0) {
    std::fill_n(grad_weight, count, T{0});
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (winograd_weight_pays(pass)) {
      add_images(pass, WinogradWeightGradient(pass), grad_out, in, grad_weight);
      if (std::all_of(grad_weight, grad_weight + count, [](T g) { return std::isfinite(g); }))
        return;
    }
  }
  const std::int64_t bundle = bundles_pay<T>(conv, pass) ? kLanes<T> : 1;
  add_images(pass, WeightGradient<T>(conv, pass, bundle), grad_out, in, grad_weight);
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void ConvolveBackwardWeight::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() {
    cpu::convolve_backward_weight(conv, grad_y.as<T>(), x.as<T>(), grad_weight.as<T>());
  });
}

}  // namespace eg::kernel
