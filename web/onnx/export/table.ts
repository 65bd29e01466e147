// All ops that ONNX can express.

import type { DType } from "edgegrad";
import type { Writers } from "./call.js";
import { kActivations } from "./ops/activations.js";
import { kComparisons } from "./ops/comparisons.js";
import { kConv, kConvComposites } from "./ops/conv.js";
import { kCreate } from "./ops/create.js";
import { kDiagonals } from "./ops/diagonals.js";
import { kElementwise } from "./ops/elementwise.js";
import { kIndexing, kIndexingComposites } from "./ops/indexing.js";
import { kJoins } from "./ops/joins.js";
import { kLosses } from "./ops/losses.js";
import { kMatrix } from "./ops/matrix.js";
import { kNormComposites, kNorms } from "./ops/norms.js";
import { kRecurrent, kRecurrentLayers } from "./ops/recurrent.js";
import { kReductions } from "./ops/reductions.js";
import { kShapes } from "./ops/shapes.js";

/** Ops by topic, by the names of their functions. In-place ops use the entry without the underscore. */
export const kTopics: Readonly<Record<string, Writers>> = {
  elementwise: kElementwise,
  comparisons: kComparisons,
  activations: kActivations,
  shapes: kShapes,
  joins: kJoins,
  diagonals: kDiagonals,
  indexing: kIndexing,
  reductions: kReductions,
  products: kMatrix,
  convolutions: kConv,
  norms: kNorms,
  losses: kLosses,
  creation: kCreate,
  recurrent: kRecurrent,
};

/** Functions and layers that are composed of ops and are single nodes in ONNX where possible. */
export const kComposites: Writers = {
  ...kConvComposites,
  ...kIndexingComposites,
  ...kNormComposites,
  ...kRecurrentLayers,
};

/** The lowest dtypes that nodes accept, for ops that accept more dtypes than their nodes. */
export const kLeastTypes: ReadonlyMap<string, DType> = new Map([
  ...typed(
    "float16",
    "prelu rrelu glu interpolate maxPool1d maxPool2d maxPool3d adaptiveMaxPool2d gridSample addmm",
  ),
  ...typed(
    "float16",
    "multilabelSoftMarginLoss softMarginLoss marginRankingLoss tripletMarginLoss pairwiseDistance",
  ),
  ...typed(
    "int32",
    "neg pow relu mm bmm mv dot matmul baddbmm linear bilinear einsum addmv addbmm",
  ),
  ...typed(
    "uint8",
    "addcmul addr heaviside sign sgn relu6 threshold outer kron diag fillDiagonal_ scatterReduce indexReduce",
  ),
  ...typed("uint8", "max min sort argsort msort topk kthvalue median scatter scatterAdd indexAdd"),
]);

function typed(dtype: DType, ops: string): [string, DType][] {
  return ops.split(" ").map((op) => [op, dtype]);
}

/** All ops. */
export const kOps: Writers = Object.assign({}, ...Object.values(kTopics));
