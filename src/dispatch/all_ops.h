#pragma once

// Every op there is. The order gives the ids of the op table.

#include "dispatch/attention_ops.h"
#include "dispatch/branch_ops.h"
#include "dispatch/channel_norm_ops.h"
#include "dispatch/complex_ops.h"
#include "dispatch/conv_ops.h"
#include "dispatch/copy_ops.h"
#include "dispatch/distance_ops.h"
#include "dispatch/einsum_ops.h"
#include "dispatch/factory_ops.h"
#include "dispatch/fft_ops.h"
#include "dispatch/index_ops.h"
#include "dispatch/join_ops.h"
#include "dispatch/linalg_ops.h"
#include "dispatch/loss_ops.h"
#include "dispatch/matmul_ops.h"
#include "dispatch/norm_ops.h"
#include "dispatch/optim_ops.h"
#include "dispatch/order_ops.h"
#include "dispatch/pool_ops.h"
#include "dispatch/reduction_composite_ops.h"
#include "dispatch/resize_ops.h"
#include "dispatch/scan_ops.h"
#include "dispatch/softmax_ops.h"
#include "dispatch/stride_ops.h"
#include "dispatch/tensor_index_ops.h"
#include "dispatch/view_ops.h"
#include "ops/all.h"

namespace eg {

using FunctionOps =
    Concat<CopyOps, StrideOps, ViewOps, JoinOps, IndexOps, TensorIndexOps, FactoryOps, ReductionOps,
           ReductionCompositeOps, BranchOps, SoftmaxOps, LossOps, MatmulOps, NormOps,
           ChannelNormOps, DistanceOps, ResizeOps, PoolOps, ConvOps, AttentionOps, LinalgOps,
           EinsumOps, OrderOps, ScanOps, ComplexOps, FftOps, OptimOps>;
using AllOps = Concat<op::ElementwiseOps, FunctionOps>;

}  // namespace eg
