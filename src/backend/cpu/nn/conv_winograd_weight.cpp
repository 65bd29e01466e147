// The gradient of a 3 x 3 weight by Winograd's algorithm: each of the 16 products of a tile is the
// sum over all tiles of the transformed source times the transformed output gradient. Both are
// stored tile by tile in vectors, so the sums are computed lane by lane, and the lanes are added up
// at the end of a band.

#include "backend/cpu/nn/conv_tile.h"
#include "backend/cpu/nn/conv_winograd.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using namespace winograd;

constexpr std::int64_t kBandTiles = 64;
static_assert(kBandTiles <= kMaxVectors * kFloatLanes);

// Channels of the register tile.
constexpr int kOutTile = 2;
constexpr int kInTile = kRegisterSums / kOutTile;
constexpr int kTileSums = kRegisterSums;
static_assert(kTileSums % kFloatLanes == 0);

// Adds the sums of a register tile over vectors. The channels of each operand are interleaved.
void add_products(std::int64_t vectors, const float* out, const float* in, float* sums) {
  Floats tile[kTileSums] = {};
  for (int v = 0; v < static_cast<int>(vectors); ++v) {
    Floats factor[kOutTile];
    EG_GEMM_UNROLL
    for (int o = 0; o < kOutTile; ++o) factor[o] = gemm::load(out + o * kFloatLanes);
    EG_GEMM_UNROLL
    for (int i = 0; i < kInTile; ++i) {
      const Floats read = gemm::load(in + i * kFloatLanes);
      EG_GEMM_UNROLL
      for (int o = 0; o < kOutTile; ++o)
        tile[i * kOutTile + o] = gemm::multiply_add(factor[o], read, tile[i * kOutTile + o]);
    }
    out += kOutTile * kFloatLanes;
    in += kInTile * kFloatLanes;
  }
  EG_GEMM_UNROLL
  for (int i = 0; i < kTileSums; i += kFloatLanes) {
    Floats lanes[kFloatLanes] = {tile[i], tile[i + 1], tile[i + 2], tile[i + 3]};
    gemm::transpose(lanes);
    gemm::store(sums + i, gemm::load(sums + i) + ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])));
  }
}

// Returns where the vectors of a channel are stored if Tile channels are interleaved.
template <int Tile>
TileTarget target_of(float* data, std::int64_t channel, std::int64_t band_vectors,
                     std::int64_t first_vector, std::int64_t step) {
  return {.data = data + (channel / Tile * band_vectors * Tile + channel % Tile) * kFloatLanes,
          .first_vector = first_vector,
          .product_stride = step,
          .pair_stride = 2 * Tile * kFloatLanes,
          .half_stride = Tile * kFloatLanes};
}

}  // namespace

WinogradWeightGradient::WinogradWeightGradient(const ConvPass& pass)
    : pass_(pass),
      tiling_(pass, kBandTiles),
      in_tiles_(divide_up(pass.in_channels, kInTile)),
      out_tiles_(divide_up(pass.out_channels, kOutTile)) {}

std::int64_t WinogradWeightGradient::in_step() const {
  return spread(in_tiles_ * kInTile * tiling_.band_vectors() * kFloatLanes);
}

std::int64_t WinogradWeightGradient::out_step() const {
  return spread(out_tiles_ * kOutTile * tiling_.band_vectors() * kFloatLanes);
}

std::int64_t WinogradWeightGradient::sums_step() const {
  return spread(in_tiles_ * out_tiles_ * kTileSums);
}

std::int64_t WinogradWeightGradient::scratch_size() const {
  return kProducts * (in_step() + out_step() + sums_step());
}

void WinogradWeightGradient::add(std::int64_t first, std::int64_t last, std::int64_t group,
                                 const float* grad_out, const float* in, float* weight,
                                 float* scratch) const {
  float* const sums = scratch + kProducts * (in_step() + out_step());
  std::fill_n(sums, kProducts * sums_step(), 0.0F);
  const std::int64_t end = last * tiling_.units();
  for (std::int64_t unit = first * tiling_.units(); unit < end; unit += tiling_.band)
    add_band(unit, std::min(unit + tiling_.band, end), group, grad_out, in, scratch);
  for (std::int64_t o = 0; o < pass_.out_channels; ++o) {
    for (std::int64_t i = 0; i < pass_.in_channels; ++i, weight += 9) {
      const std::int64_t tile = o / kOutTile * in_tiles_ + i / kInTile;
      add_weight_gradient(sums + tile * kTileSums + i % kInTile * kOutTile + o % kOutTile,
                          sums_step(), weight);
    }
  }
}

void WinogradWeightGradient::add_band(std::int64_t first, std::int64_t last, std::int64_t group,
                                      const float* grad_out, const float* in,
                                      float* scratch) const {
  float* const source = scratch;
  float* const grad = source + kProducts * in_step();
  float* const sums = grad + kProducts * out_step();
  const std::int64_t band_vectors = tiling_.band_vectors();
  // An incomplete tile repeats the last channel.
  const std::int64_t in_channels = in_tiles_ * kInTile;
  const std::int64_t channels = in_channels + out_tiles_ * kOutTile;
  parallel_for(0, channels, grain_of(kProducts * band_vectors * kFloatLanes * kTransformWork),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t u = first; u < last; ++u) {
                   const Unit unit(tiling_, u);
                   const std::int64_t vector = (u - first) * tiling_.vectors;
                   const TileRow tiles = source_of(pass_, tiling_, unit, group, in);
                   const float* const grads =
                       grad_out + (unit.image * pass_.groups + group) * pass_.to_part();
                   for (std::int64_t c = begin; c < end; ++c) {
                     if (c < in_channels) {
                       TileRow channel = tiles;
                       channel.plane += std::min(c, pass_.in_channels - 1) * pass_.from_size();
                       transform_source(
                           channel, target_of<kInTile>(source, c, band_vectors, vector, in_step()));
                     } else {
                       const std::int64_t o = c - in_channels;
                       transform_gradient(
                           {grads + std::min(o, pass_.out_channels - 1) * pass_.to_size,
                            pass_.rows.positions, pass_.columns.positions, unit.row, unit.column,
                            tiling_.vectors},
                           target_of<kOutTile>(grad, o, band_vectors, vector, out_step()));
                     }
                   }
                 }
               });
  const std::int64_t vectors = (last - first) * tiling_.vectors;
  parallel_for(0, kProducts * in_tiles_, grain_of(out_tiles_ * kTileSums * vectors * kFloatLanes),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   const std::int64_t p = task / in_tiles_;
                   const std::int64_t i = task % in_tiles_;
                   const float* const in_tile =
                       source + p * in_step() + i * band_vectors * kInTile * kFloatLanes;
                   for (std::int64_t o = 0; o < out_tiles_; ++o)
                     add_products(
                         vectors, grad + p * out_step() + o * band_vectors * kOutTile * kFloatLanes,
                         in_tile, sums + p * sums_step() + (o * in_tiles_ + i) * kTileSums);
                 }
               });
}

}  // namespace eg::cpu
