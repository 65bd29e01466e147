#pragma once

// How the tiles of a pass are partitioned: the rows of tiles of all images, in order, are grouped
// into bands that are computed at once. The result of a tile does not depend on the band it is in.

#include <algorithm>
#include <cstdint>

#include "backend/cpu/nn/conv_pass.h"
#include "backend/cpu/nn/winograd_transforms.h"
#include "base/divide_up.h"

namespace eg::cpu::winograd {

/// Returns the distance between consecutive ones of the 16 matrices: a cache line more than the
/// size of a matrix, because at multiples of a power of two the matrices would compete for the same
/// lines of an L1 cache.
constexpr std::int64_t spread(std::int64_t size) { return size + 16; }

/// Returns the minimum number of items per task, at `work` multiplications each, so that the work
/// outweighs waking a thread.
constexpr std::int64_t grain_of(std::int64_t work) {
  return divide_up(256 * 1024, std::max<std::int64_t>(1, work));
}

/// The approximate cost of transforming one element, in multiplications.
inline constexpr std::int64_t kTransformWork = 8;

/// Long rows of tiles are split. Bands consist of whole rows, and of several images if these are
/// small.
struct Tiling {
  Tiling(const ConvPass& pass, std::int64_t max_band_tiles)
      : rows(divide_up(pass.rows.positions, 2)),
        cuts(divide_up(pass.columns.positions, 2 * max_band_tiles)),
        vectors(divide_up(pass.columns.positions, 2 * kFloatLanes * cuts)),
        band(std::max<std::int64_t>(1, max_band_tiles / (vectors * kFloatLanes))) {
    band = std::min(band, pass.batch * units());
  }

  /// Rows of tiles per image.
  std::int64_t units() const { return rows * cuts; }
  std::int64_t band_vectors() const { return band * vectors; }

  std::int64_t rows;
  std::int64_t cuts;
  std::int64_t vectors;  ///< in a row
  std::int64_t band;     ///< rows in a band
};

/// One row of tiles: its image and its first position.
struct Unit {
  Unit(const Tiling& tiling, std::int64_t unit)
      : image(unit / tiling.units()),
        row(unit / tiling.cuts % tiling.rows * 2),
        column(unit % tiling.cuts * tiling.vectors * 2 * kFloatLanes) {}

  std::int64_t image;
  std::int64_t row;
  std::int64_t column;
};

/// Returns the part of the first channel of a group that the tiles of a unit read.
inline TileRow source_of(const ConvPass& pass, const Tiling& tiling, const Unit& unit,
                         std::int64_t group, const float* from) {
  return {from + (unit.image * pass.groups + group) * pass.from_part(),
          pass.rows.size,
          pass.columns.size,
          pass.rows.first + unit.row,
          pass.columns.first + unit.column,
          tiling.vectors};
}

}  // namespace eg::cpu::winograd
