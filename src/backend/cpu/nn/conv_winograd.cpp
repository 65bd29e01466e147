#include "backend/cpu/nn/conv_winograd.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/matrix/gemm/tiles.h"
#include "backend/cpu/nn/scratch_array.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using namespace winograd;

// Tiles per band: with 64 channels, they and their sums stay in an L2 cache next to the weights.
constexpr std::int64_t kBandTiles = 32;
static_assert(kBandTiles <= kMaxVectors * kFloatLanes);

constexpr std::int64_t kPanel = gemm::kPanelColumns<float>;
static_assert(kPanel == 2 * kFloatLanes, "a panel is a pair of vectors");

// The matrix products of a band, p = 0..15: sums[p] = weights[p] * source[p]. Rows of `weights` are
// output channels and its columns input channels; columns of `source` are tiles. Weights are packed
// in strips of rows, the source in panels of columns.
class Convolver {
 public:
  explicit Convolver(const ConvPass& pass)
      : pass_(pass),
        tiling_(pass, kBandTiles),
        strips_(pass.out_channels),
        columns_(divide_up(tiling_.band_vectors(), 2) * kPanel) {}

  std::int64_t strips() const { return strips_.size(); }
  std::int64_t bands() const { return divide_up(pass_.batch * tiling_.units(), tiling_.band); }
  std::int64_t weights_size() const { return kProducts * weights_step(); }
  std::int64_t scratch_size() const { return kProducts * (source_step() + sums_step()); }
  std::int64_t work() const {
    return kProducts * columns_ * pass_.in_channels * pass_.out_channels;
  }

  void pack_strip(std::int64_t s, const float* weight, float* packed) const {
    const auto& [out_stride, in_stride, row_stride, column_stride] = pass_.weight_strides;
    const std::int64_t first = strips_.begin(s);
    packed += first * pass_.in_channels;
    for (std::int64_t i = 0; i < pass_.in_channels; ++i) {
      for (std::int64_t o = first; o < strips_.begin(s + 1); ++o)
        transform_weight(weight + pass_.first_weight + o * out_stride + i * in_stride, row_stride,
                         column_stride, packed++, weights_step());
    }
  }

  /// Clears the columns beyond the last tile, which take part in the multiplication.
  void clear_edge(float* scratch) const {
    if (tiling_.vectors % 2 == 1) std::fill_n(scratch, kProducts * source_step(), 0.0F);
  }

  /// Computes a band of a group. Its steps are shared with threads that have no band of their own.
  void run(std::int64_t group, std::int64_t band, const float* from, const float* weights,
           const float* bias, float* to, float* scratch,
           std::vector<std::atomic<bool>>& needs_fallback) const {
    const std::int64_t first = band * tiling_.band;
    const std::int64_t last = std::min(first + tiling_.band, pass_.batch * tiling_.units());
    float* const sums = scratch + kProducts * source_step();
    const std::int64_t channel_work = kProducts * columns_ * kTransformWork;
    parallel_for(0, pass_.in_channels, grain_of(channel_work),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t u = first; u < last; ++u)
                     read(u, u - first, begin, end, group, from, scratch);
                 });
    const std::int64_t columns = divide_up((last - first) * tiling_.vectors, 2) * kPanel;
    parallel_for(0, strips(), grain_of(work() / strips()),
                 [&](std::int64_t begin, std::int64_t end) {
                   multiply(begin, end, columns, scratch, weights, sums);
                 });
    parallel_for(0, pass_.out_channels, grain_of(channel_work),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t u = first; u < last; ++u)
                     write(u, u - first, begin, end, group, sums, bias, to, needs_fallback);
                 });
  }

 private:
  std::int64_t weights_step() const { return spread(pass_.in_channels * pass_.out_channels); }
  std::int64_t source_step() const { return spread(columns_ * pass_.in_channels); }
  std::int64_t sums_step() const { return spread(columns_ * pass_.out_channels); }

  void read(std::int64_t u, std::int64_t position, std::int64_t begin, std::int64_t end,
            std::int64_t group, const float* from, float* source) const {
    TileRow tiles = source_of(pass_, tiling_, Unit(tiling_, u), group, from);
    tiles.plane += begin * pass_.from_size();
    for (std::int64_t i = begin; i < end; ++i, tiles.plane += pass_.from_size())
      transform_source(tiles, {.data = source + i * kPanel,
                               .first_vector = position * tiling_.vectors,
                               .product_stride = source_step(),
                               .pair_stride = pass_.in_channels * kPanel,
                               .half_stride = kFloatLanes});
  }

  void multiply(std::int64_t begin, std::int64_t end, std::int64_t columns, const float* source,
                const float* weights, float* sums) const {
    constexpr std::ptrdiff_t kBytes = sizeof(float);
    const auto depth = static_cast<std::ptrdiff_t>(pass_.in_channels);
    const auto stride = static_cast<std::ptrdiff_t>(columns_);
    for (int p = 0; p < kProducts; ++p) {
      std::int64_t alike = 0;
      for (std::int64_t s = begin; s < end; s += alike) {
        alike = std::min(strips_.same_height(s), end - s);
        const auto rows = static_cast<std::ptrdiff_t>(strips_.rows(s));
        gemm::TileRun<float> run{
            .tiles = alike,
            .depth = static_cast<int>(depth),
            .a = weights + p * weights_step() + strips_.begin(s) * pass_.in_channels,
            .a_step = rows * kBytes,
            .a_row = 0,
            .a_tile = rows * depth,
            .b = source + p * source_step(),
            .b_step = kPanel * kBytes,
            .b_tile = 0,
            .c = sums + p * sums_step() + strips_.begin(s) * stride,
            .c_row = stride,
            .c_tile = rows * stride,
            .addend = nullptr,
            .addend_row = 0,
            .addend_tile = 0};
        for (std::int64_t j = 0; j < columns; j += kPanel) {
          gemm::kKernels<float, gemm::Reads::kColumns>[strips_.rows(s) - 1]
                                                      [gemm::kPanelVectors - 1](run);
          run.b += kPanel * depth;
          run.c += kPanel;
        }
      }
    }
  }

  void write(std::int64_t u, std::int64_t position, std::int64_t begin, std::int64_t end,
             std::int64_t group, const float* sums, const float* bias, float* to,
             std::vector<std::atomic<bool>>& needs_fallback) const {
    const Unit unit(tiling_, u);
    const std::int64_t part = unit.image * pass_.groups + group;
    OutputTarget target{.data = to + part * pass_.to_part() + begin * pass_.to_size +
                                pass_.to_first + unit.row * pass_.to_row_step + unit.column,
                        .row_stride = pass_.to_row_step,
                        .rows = std::min<std::int64_t>(2, pass_.rows.positions - unit.row),
                        .columns = pass_.columns.positions - unit.column};
    Floats check{};
    for (std::int64_t o = begin; o < end; ++o, target.data += pass_.to_size)
      check += transform_sums(sums + o * columns_ + position * tiling_.vectors * kFloatLanes,
                              sums_step(), tiling_.vectors,
                              gemm::splat(bias == nullptr ? 0.0F : bias[o]), target);
    if (std::isnan(check[0] + check[1] + check[2] + check[3]))
      needs_fallback[static_cast<std::size_t>(part)].store(true, std::memory_order_relaxed);
  }

  const ConvPass& pass_;
  Tiling tiling_;
  gemm::Strips strips_;
  std::int64_t columns_;  // per matrix
};

// Costs for deciding whether Winograd takes fewer multiplications for a single image. Transforms
// count as a number of multiplications, per tile and channel or per weight, fitted to measured
// times. The plain gradient of a weight is slower than the plain convolution, so there transforms
// count less.
constexpr std::int64_t kTransformPerChannel = 250;
constexpr std::int64_t kWeightTransformPerChannel = 176;
constexpr std::int64_t kTransformPerWeight = 176;

bool pays(const ConvPass& pass, std::int64_t per_channel) {
  for (const ConvAxis& axis : {pass.rows, pass.columns}) {
    // With large padding, many tiles would be all zeros; the plain algorithm skips those.
    if (axis.taps != 3 || axis.tap_step != 1 || axis.position_step != 1 || axis.first < -2)
      return false;
  }
  if (pass.to_column_step != 1) return false;
  const std::int64_t products = pass.in_channels * pass.out_channels;
  const std::int64_t rows = divide_up(pass.rows.positions, 2);
  const std::int64_t columns = divide_up(pass.columns.positions, 2 * kFloatLanes) * kFloatLanes;
  const std::int64_t plain_columns = divide_up(pass.columns.positions, kFloatLanes) * kFloatLanes;
  const std::int64_t per_tile =
      kProducts * products + per_channel * (pass.in_channels + pass.out_channels);
  return rows * columns * per_tile + kTransformPerWeight * products <
         2 * rows * plain_columns * 9 * products;
}

}  // namespace

bool winograd_pays(const ConvPass& pass) { return pays(pass, kTransformPerChannel); }

bool winograd_weight_pays(const ConvPass& pass) { return pays(pass, kWeightTransformPerChannel); }

void winograd_convolve(const ConvPass& pass, const float* from, const float* weight,
                       const float* bias, float* to,
                       std::vector<std::atomic<bool>>& needs_fallback) {
  const Convolver convolver(pass);
  const std::int64_t size = convolver.weights_size();
  const std::int64_t strips = convolver.strips();
  const ScratchArray<float> weights(pass.groups * size);
  parallel_for(0, pass.groups * strips,
               grain_of(gemm::kStripRows * pass.in_channels * kProducts * kTransformWork),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i)
                   convolver.pack_strip(i % strips, weight + i / strips * pass.group_weights,
                                        weights.data() + i / strips * size);
               });
  const std::int64_t bands = convolver.bands();
  const std::int64_t tasks = pass.groups * bands;
  // If there are few bands, they are computed one after the other, each by all threads.
  const std::int64_t grain = tasks < num_threads() ? tasks : grain_of(convolver.work());
  parallel_for(0, tasks, grain, [&](std::int64_t begin, std::int64_t end) {
    const ScratchArray<float> scratch(convolver.scratch_size());
    convolver.clear_edge(scratch.data());
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t group = task / bands;
      convolver.run(group, task % bands, from, weights.data() + group * size,
                    bias == nullptr ? nullptr : bias + group * pass.out_channels, to,
                    scratch.data(), needs_fallback);
    }
  });
}

}  // namespace eg::cpu
