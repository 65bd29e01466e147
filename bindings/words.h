#pragma once

// The words and flags that plain exports of the module exchange with TypeScript, which knows them
// from web/src/generated/border.ts by these names.

#include <array>
#include <cstring>
#include <vector>

#include "base/type_list.h"

namespace eg::bindings {

/// The words of `info`; the shape and the strides follow.
struct TensorWords {
  double dtype;
  double device;
  double ndim;
  double numel;
  double offset;
  double version;     ///< -1 for an inference tensor
  double output_nr;   ///< the position among the results of its node
  double flags;       ///< TensorFlags
  double nnz;         ///< the number of values of a sparse tensor, or of each matrix of a batch
  double sparse_dim;  ///< its number of dimensions that are not those of its values
};

enum TensorFlags : int {
  kRequiresGrad = 1,
  kIsLeaf = 2,
  kIsContiguous = 4,
  kIsView = 8,
  kRetainsGrad = 16,
  kIsInference = 32,
  kIsSparse = 64,
  kIsCsr = 128,
  kIsCoalesced = 256,
};

/// The words of `memory`.
struct MemoryWords {
  double tensors;
  double storages;
  double bytes;
  double peak_bytes;
  double cached_bytes;
  double nodes;
  double handles;
};

/// The words of `gpuMemory`.
struct GpuMemoryWords {
  double gpu_bytes;
  double gpu_peak_bytes;
  double gpu_buffers;
};

/// Flags of `invoke`.
enum InvokeFlags : int { kInPlace = 1 };

/// Flags of `runGraph`.
enum GraphFlags : int {
  kRetainGraphGiven = 1,
  kRetainGraph = 2,
  kCreateGraph = 4,
  kAllowUnusedGiven = 8,
  kAllowUnused = 16,
  kMaterializeGrads = 32,
  kGradsBatched = 64,
  kCaptureGrads = 128,
};

/// Flags of `anomalyMode`.
enum AnomalyFlags : int { kAnomalyEnabled = 1, kAnomalyCheckNan = 2 };

/// Flags of `features`.
enum Features : int { kHasThreads = 1, kHasSimd = 2, kHasRelaxedSimd = 4 };

using WordStructs = TypeList<TensorWords, MemoryWords, GpuMemoryWords>;
using FlagEnums = TypeList<TensorFlags, InvokeFlags, GraphFlags, AnomalyFlags, Features>;

/// Writes words to the front of a frame; returns how many.
template <class Words>
std::size_t write_words(std::vector<double>& frame, const Words& words) {
  static_assert(sizeof(Words) % sizeof(double) == 0);
  std::memcpy(frame.data(), &words, sizeof words);
  return sizeof(Words) / sizeof(double);
}

}  // namespace eg::bindings
