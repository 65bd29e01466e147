// A convolution and the gradient of its input, pass by pass (conv_pass.h). There is no im2col
// matrix: output tiles are summed in registers from input planes that were copied once, with their
// padding (conv_planes.h).

#include "kernels/conv.h"

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <vector>

#include "backend/cpu/nn/conv_pass.h"
#include "backend/cpu/nn/conv_tile.h"
#include "backend/cpu/nn/conv_winograd.h"
#include "backend/cpu/nn/scratch_array.h"
#include "base/checked_int.h"
#include "base/divide_up.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// Elements in a band of copied planes: together with the weights they stay in an L2 cache.
constexpr std::int64_t kBandNumbers = 32 * 1024;
// Minimum number of multiplications per task, so that the work outweighs waking a thread.
constexpr std::int64_t kMinWorkPerTask = 256 * 1024;

// Divides channels into strips whose heights differ by at most one.
template <class T>
struct Strips {
  explicit Strips(std::int64_t channels)
      : count(divide_up(channels, kConvRows<T>)), channels(channels) {}
  std::int64_t begin(std::int64_t i) const { return i * channels / count; }
  std::int64_t lowest() const { return channels / count; }
  std::int64_t highest() const { return divide_up(channels, count); }

  std::int64_t count;
  std::int64_t channels;
};

// Packs the weights of a group in the order in which tiles read them: for every strip and tap, one
// element per output channel. Taps are ordered by row, column and input channel, so that the taps
// of consecutive rows are contiguous.
template <class T>
void pack_weights(const ConvPass& pass, const T* weight, T* packed) {
  const Strips<T> strips(pass.out_channels);
  const auto& [out_stride, in_stride, row_stride, column_stride] = pass.weight_strides;
  for (std::int64_t s = 0; s < strips.count; ++s) {
    for (std::int64_t y = 0; y < pass.rows.taps; ++y) {
      for (std::int64_t x = 0; x < pass.columns.taps; ++x) {
        const T* const tap = weight + pass.first_weight + y * row_stride + x * column_stride;
        for (std::int64_t i = 0; i < pass.in_channels; ++i) {
          for (std::int64_t o = strips.begin(s); o < strips.begin(s + 1); ++o)
            *packed++ = tap[o * out_stride + i * in_stride];
        }
      }
    }
  }
}

// Returns the union of the taps that positions [first, last) use. Later positions use earlier taps.
TapRange join(const std::vector<TapRange>& taps, std::int64_t first, std::int64_t last) {
  const std::int64_t begin = taps[static_cast<std::size_t>(last - 1)].begin;
  return {begin, std::max(begin, taps[static_cast<std::size_t>(first)].end)};
}

// Positions are computed two lines at a time: two rows, or if there is only one row, two parts of
// it.
bool is_one_line(const ConvPass& pass) { return pass.rows.positions == 1; }

// Returns the width of a tile with `channels` channels: the fewer channels, the wider.
template <class T>
std::int64_t tile_width(std::int64_t channels) {
  return gemm::kLanes<T> * conv_tile_columns(channels);
}

using Columns = std::vector<ConvColumn>;

// Divides a row of positions into columns of tiles with `channels` channels.
template <class T>
Columns cut_columns(const ConvPass& pass, std::int64_t channels, std::int64_t bundle) {
  Columns columns;
  const std::int64_t width = tile_width<T>(channels) / bundle;
  std::vector<TapRange> taps;
  const std::int64_t end = pass.columns.positions;
  taps.reserve(checked_count(end));
  for (std::int64_t x = 0; x < end; ++x) taps.push_back(taps_inside(pass.columns, x));
  const std::int64_t step = is_one_line(pass) ? 2 * width : width;
  for (std::int64_t next = 0; next < end; next += step) {
    // The last tile overlaps its neighbor instead of extending past the end.
    const std::int64_t x = std::max<std::int64_t>(0, std::min(next, end - step));
    const TapRange range = join(taps, x, std::min(x + step, end));
    const std::int64_t second = is_one_line(pass) ? end - x - width : end - x;
    columns.push_back({.first = x * bundle,
                       .first_step = range.begin * pass.in_channels,
                       .steps = (range.end - range.begin) * pass.in_channels,
                       .positions = {bundle * std::min(width, end - x),
                                     bundle * std::clamp<std::int64_t>(second, 0, width)}});
  }
  return columns;
}

template <class T>
class PassRunner {
 public:
  /// Processes images in bundles of `bundle` (conv_images.h).
  PassRunner(const ConvPass& pass, std::int64_t bundle)
      : pass_(pass),
        bundle_(bundle),
        strips_(pass.out_channels),
        band_(band_rows(pass, bundle)),
        layout_(pass.rows, pass.columns, band_,
                (is_one_line(pass) ? 2 : 1) * tile_width<T>(strips_.lowest()) / bundle, bundle) {
    for (std::int64_t channels = strips_.lowest(); channels <= strips_.highest(); ++channels)
      columns_.push_back(cut_columns<T>(pass, channels, bundle));
    offsets_.reserve(checked_count(pass.depth()));
    for (std::int64_t y = 0; y < pass.rows.taps; ++y) {
      for (std::int64_t x = 0; x < pass.columns.taps; ++x) {
        for (std::int64_t i = 0; i < pass.in_channels; ++i)
          offsets_.push_back(layout_.bytes_to(i, y, x));
      }
    }
    for (std::int64_t y = 0; y < pass.rows.positions; ++y)
      row_taps_.push_back(taps_inside(pass.rows, y));
  }

  std::int64_t bands() const { return divide_up(pass_.rows.positions, band_); }
  std::int64_t scratch_size() const {
    return source_size() + (bundle_ > 1 ? pass_.out_channels * band_size() : 0);
  }
  std::int64_t work() const {
    return bundle_ * band_ * pass_.columns.positions * std::max<std::int64_t>(1, pass_.depth()) *
           pass_.out_channels;
  }

  /// Computes one band of positions for one group of a bundle.
  void run(std::int64_t band, const ConvImages<const T>& from, const T* weights, const T* bias,
           const ConvImages<T>& to, T* scratch) const {
    const std::int64_t first = band * band_;
    const std::int64_t last = std::min(first + band_, pass_.rows.positions);
    if (bands() > 1) std::fill_n(scratch, source_size(), T{0});
    layout_.copy(from, pass_.in_channels, first, scratch);
    T* const out = to.first + pass_.to_first + first * pass_.to_row_step;
    // The results of a bundle are interleaved in scratch memory before they are copied to its
    // images.
    const Target target =
        bundle_ == 1
            ? Target{out, pass_.to_size, pass_.to_row_step, pass_.to_column_step}
            : Target{scratch + source_size(), band_size(), bundle_ * pass_.columns.positions, 1};
    for (std::int64_t s = 0; s < strips_.count; ++s) {
      const std::int64_t channel = strips_.begin(s);
      for (std::int64_t next = first; next < last; next += 2) {
        // The last lines overlap their neighbors instead of extending past the end.
        const std::int64_t y = std::max(first, std::min(next, last - 2));
        run_lines(s, y, std::min(y + 2, last), weights + channel * pass_.depth(),
                  scratch + (y - first) * layout_.position_stride(),
                  bias == nullptr ? nullptr : bias + channel, target,
                  target.first + channel * target.channel + (y - first) * target.row);
      }
    }
    if (bundle_ == 1) return;
    for (std::int64_t c = 0; c < pass_.out_channels; ++c) {
      for (std::int64_t y = 0; y < last - first; ++y)
        deinterleave<T>(target.first + c * target.channel + y * target.row, pass_.columns.positions,
                        pass_.to_column_step,
                        {out + c * pass_.to_size + y * pass_.to_row_step, to.stride, to.count});
    }
  }

 private:
  // Where tiles are written, and the distances between channels, rows and columns there.
  struct Target {
    T* first;
    std::int64_t channel;
    std::int64_t row;
    std::int64_t column;
  };

  static std::int64_t band_rows(const ConvPass& pass, std::int64_t bundle) {
    if (is_one_line(pass)) return 1;
    const std::int64_t row = std::max<std::int64_t>(
        1, pass.in_channels * pass.rows.position_step * pass.columns.reach(1) +
               pass.in_channels * pass.rows.position_step * pass.columns.position_step *
                   pass.columns.positions);
    const std::int64_t wanted =
        std::max<std::int64_t>(1, 2 * num_threads() * bundle / pass.parts());
    const std::int64_t rows =
        std::min(kBandNumbers / (bundle * row), divide_up(pass.rows.positions, wanted));
    return std::max<std::int64_t>(1, (rows + 1) / 2) * 2;
  }

  std::int64_t source_size() const { return layout_.size(pass_.in_channels); }
  // Elements per channel in a band of the result.
  std::int64_t band_size() const { return bundle_ * band_ * pass_.columns.positions; }

  // Computes one or two rows [first, last) of positions for the channels of a strip.
  void run_lines(std::int64_t strip, std::int64_t first, std::int64_t last, const T* weights,
                 const T* positions, const T* bias, const Target& target, T* to) const {
    const std::int64_t channels = strips_.begin(strip + 1) - strips_.begin(strip);
    const std::int64_t width = tile_width<T>(channels);
    const TapRange rows = join(row_taps_, first, last);
    const std::int64_t row_steps = pass_.columns.taps * pass_.in_channels;
    const bool is_line = is_one_line(pass_);
    kConvTiles<T>[static_cast<std::size_t>(channels - 1)](
        {.columns = columns_[checked_count(channels - strips_.lowest())],
         .weights = weights + rows.begin * row_steps * channels,
         .offsets = offsets_.data() + rows.begin * row_steps,
         .runs = rows.end - rows.begin,
         .run_length = row_steps,
         .from = positions,
         .from_line = is_line ? width : layout_.position_stride(),
         .bias = bias,
         .to = to,
         .to_channel = target.channel,
         .to_line = is_line ? width * target.column : target.row,
         .to_column = target.column,
         .has_second = is_line || last - first > 1});
  }

  const ConvPass& pass_;
  std::int64_t bundle_;
  Strips<T> strips_;
  std::int64_t band_;
  PlaneLayout<T> layout_;
  std::vector<Columns>
      columns_;  // of strips of the lowest height, and of those with one channel more
  std::vector<std::int32_t> offsets_;
  std::vector<TapRange> row_taps_;  // taps of each row of positions that are not in the padding
};

// Returns whether bundling images saves more time than the copies cost.
template <class T>
bool bundles_pay(const ConvPass& pass) {
  constexpr std::int64_t kLanes = gemm::kLanes<T>;
  const std::int64_t lowest = Strips<T>(pass.out_channels).lowest();
  const auto products = [&](std::int64_t bundle) {
    std::int64_t steps = 0;
    for (const ConvColumn& column : cut_columns<T>(pass, lowest, bundle)) steps += column.steps;
    return steps * divide_up(pass.batch, bundle);
  };
  return pass.batch > 1 && 8 * products(kLanes) < 7 * products(1);
}

template <class T>
void run_tiles(const ConvPass& pass, const T* from, const T* weight, const T* bias, T* to) {
  const std::int64_t bundle = bundles_pay<T>(pass) ? gemm::kLanes<T> : 1;
  const PassRunner<T> runner(pass, bundle);
  const std::int64_t depth = pass.depth();
  const ScratchArray<T> weights(pass.groups * pass.out_channels * depth);
  for (std::int64_t g = 0; g < pass.groups; ++g)
    pack_weights(pass, weight + g * pass.group_weights,
                 weights.data() + g * pass.out_channels * depth);
  const std::int64_t bands = runner.bands();
  const std::int64_t parts = divide_up(pass.batch, bundle) * pass.groups;
  const std::int64_t grain = divide_up(kMinWorkPerTask, runner.work());
  parallel_for(0, parts * bands, grain, [&](std::int64_t begin, std::int64_t end) {
    const ScratchArray<T> scratch(runner.scratch_size());
    std::fill_n(scratch.data(), runner.scratch_size(), T{0});
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t group = task / bands % pass.groups;
      const std::int64_t image = task / bands / pass.groups * bundle;
      const std::int64_t count = std::min(bundle, pass.batch - image);
      const std::int64_t part = image * pass.groups + group;
      runner.run(task % bands,
                 {from + part * pass.from_part(), pass.groups * pass.from_part(), count},
                 weights.data() + group * pass.out_channels * depth,
                 bias == nullptr ? nullptr : bias + group * pass.out_channels,
                 {to + part * pass.to_part(), pass.groups * pass.to_part(), count}, scratch.data());
    }
  });
}

template <class T>
void run_pass(const ConvPass& pass, const T* from, const T* weight, const T* bias, T* to) {
  if (pass.parts() == 0 || pass.out_channels == 0 || pass.rows.positions <= 0 ||
      pass.columns.positions <= 0)
    return;
  if constexpr (std::is_same_v<T, float>) {
    if (winograd_pays(pass)) {
      std::vector<std::atomic<bool>> needs_fallback(checked_count(pass.parts()));
      winograd_convolve(pass, from, weight, bias, to, needs_fallback);
      ConvPass one = pass;
      one.batch = one.groups = 1;
      for (std::int64_t part = 0; part < pass.parts(); ++part) {
        const std::int64_t group = part % pass.groups;
        if (needs_fallback[static_cast<std::size_t>(part)])
          run_tiles(one, from + part * pass.from_part(), weight + group * pass.group_weights,
                    bias == nullptr ? nullptr : bias + group * pass.out_channels,
                    to + part * pass.to_part());
      }
      return;
    }
  }
  run_tiles(pass, from, weight, bias, to);
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Convolve::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() {
    cpu::run_pass(cpu::result_pass(conv), x.as<T>(), weight.as<T>(), bias.as<T>(), y.as<T>());
  });
}

void ConvolveBackwardInput::compute_on_cpu() const {
  visit_floating(grad_y.dtype(), name, [&]<class T>() {
    // The stride may be far larger than the part of the input that is read.
    for (std::int64_t y = 0; y < std::min(conv.stride[0], conv.in[0]); ++y) {
      for (std::int64_t x = 0; x < std::min(conv.stride[1], conv.in[1]); ++x)
        cpu::run_pass(cpu::input_pass(conv, y, x), grad_y.as<T>(), weight.as<T>(), bias.as<T>(),
                      grad_x.as<T>());
    }
  });
}

}  // namespace eg::kernel
