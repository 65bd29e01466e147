#pragma once

// The list of all kernels, for code that describes every one of them: the interface to the device
// players (bindings/border_schema.h) and tests. Add a new kernel to the list at the end of its
// header.

#include "kernels/attention.h"
#include "kernels/channel_norm.h"
#include "kernels/class_loss.h"
#include "kernels/conv.h"
#include "kernels/copy.h"
#include "kernels/decompositions.h"
#include "kernels/distance.h"
#include "kernels/distinct.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"
#include "kernels/fft.h"
#include "kernels/index.h"
#include "kernels/linalg.h"
#include "kernels/matmul.h"
#include "kernels/norm.h"
#include "kernels/optim.h"
#include "kernels/order.h"
#include "kernels/pool.h"
#include "kernels/quantized.h"
#include "kernels/random.h"
#include "kernels/recurrent.h"
#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "kernels/softmax.h"
#include "kernels/sparse.h"

namespace eg::kernel {

using Kernels =
    Concat<AttentionKernels, ChannelNormKernels, ClassLossKernels, ConvKernels, CopyKernels,
           DecompositionsKernels, DistanceKernels, DistinctKernels, DropoutKernels,
           ElementwiseKernels, FftKernels, IndexKernels, LinalgKernels, MatmulKernels, NormKernels,
           OptimKernels, OrderKernels, PoolKernels, QuantizedKernels, RandomKernels,
           RecurrentKernels, ReduceKernels, ScanKernels, SoftmaxKernels, SparseKernels>;

}  // namespace eg::kernel
