#pragma once

// How the tiles of a pass are dealt out: its rows of tiles, of all images one after the other, in
// bands that are computed at once. What a tile gives does not depend on the band it is in.

#include <algorithm>
#include <cstdint>

#include "backend/cpu/nn/conv_pass.h"
#include "backend/cpu/nn/winograd_transforms.h"
#include "base/divide_up.h"

namespace eg::cpu::winograd {

/// Numbers from one of the 16 matrices to the next: a cache line more than a matrix takes, for at
/// multiples of a power of two they would fight for the same few lines of a first-level cache.
constexpr std::int64_t spread(std::int64_t size) { return size + 16; }

/// Items that a task should have at least, at so many multiplications each, so that it outlasts the
/// waking of its thread.
constexpr std::int64_t grain_of(std::int64_t work) {
  return divide_up(256 * 1024, std::max<std::int64_t>(1, work));
}

/// Multiplications that transforming one number takes as long as, about.
inline constexpr std::int64_t kTransformWork = 8;

/// Long rows of tiles are cut; bands are of whole ones, and of several images where these are
/// small.
struct Tiling {
  Tiling(const ConvPass& pass, std::int64_t max_band_tiles)
      : rows(divide_up(pass.rows.places, 2)),
        cuts(divide_up(pass.columns.places, 2 * max_band_tiles)),
        vectors(divide_up(pass.columns.places, 2 * kFloatLanes * cuts)),
        band(std::max<std::int64_t>(1, max_band_tiles / (vectors * kFloatLanes))) {
    band = std::min(band, pass.batch * units());
  }

  /// Rows of tiles of an image.
  std::int64_t units() const { return rows * cuts; }
  std::int64_t band_vectors() const { return band * vectors; }

  std::int64_t rows;
  std::int64_t cuts;
  std::int64_t vectors;  ///< in a row
  std::int64_t band;     ///< rows in a band
};

/// One row of tiles: the image it is of and its first place.
struct Unit {
  Unit(const Tiling& tiling, std::int64_t unit)
      : image(unit / tiling.units()),
        row(unit / tiling.cuts % tiling.rows * 2),
        column(unit % tiling.cuts * tiling.vectors * 2 * kFloatLanes) {}

  std::int64_t image;
  std::int64_t row;
  std::int64_t column;
};

/// What the tiles of a unit read of the first channel of a group.
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
