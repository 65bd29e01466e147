// softmax(scale * query keyᵀ + mask) value, and its gradients: without scores in memory (flash_attention.ts) or, where rows are too
// long for that or the device computes on the CPU, matrix products, with shaders over rows of scores between them. To limit memory,
// those scores are computed for a part of the queries at a time.

import type {
  Attend,
  AttendBackward,
  Attention as AttentionFields,
  HeadMatrices,
} from "../../../generated/stream";
import type { View } from "../../stream";
import type { Commands, Kernel } from "../kernel";
import { type Matrices, multiply } from "../matrix/matrix_product";
import { packedStrides, product } from "../strides";
import {
  type Attention,
  dispatchScores,
  kScoreGradients,
  kWeights,
  type Part,
} from "./attention_scores";
import { flashAttend, flashBackward } from "./flash_attention";
import { fitsFlash } from "./flash_shader";

function attentionOf(call: AttentionFields): Attention {
  const { query, key, value, mask } = call;
  return {
    ...call,
    query: matricesOf(query),
    key: matricesOf(key),
    value: matricesOf(value),
    mask: mask.memory && matricesOf({ memory: mask.memory, strides: mask.strides }),
  };
}

function matricesOf({ memory, strides }: HeadMatrices): Matrices {
  const [rowStride, columnStride] = strides.slice(-2) as [number, number];
  return { view: memory, batchStrides: strides.slice(0, -2), rowStride, columnStride };
}

function packed({ batch }: Attention, memory: View, rows: number, columns: number): Matrices {
  return matricesOf({ memory, strides: packedStrides([...batch, rows, columns]) });
}

function transposed(matrices: Matrices): Matrices {
  return {
    ...matrices,
    rowStride: matrices.columnStride,
    columnStride: matrices.rowStride,
  };
}

interface AttentionKernels {
  readonly attend: Kernel<Attend>;
  readonly attend_backward: Kernel<AttendBackward>;
}

/** The maximum memory for scores, unless a single query needs more. */
const kMaxScoreBytes = 2 ** 26;

/** Returns both kernels by name; tests pass a lower memory limit. */
export function attentionKernels(maxScoreBytes = kMaxScoreBytes): AttentionKernels {
  return { attend: attend(maxScoreBytes), attend_backward: attendBackward(maxScoreBytes) };
}

// On a device that computes on the CPU, products of matrices are two to four times faster, as long as all scores have room.
function isFlash({ isSoftware }: Commands, attention: Attention, maxBytes: number): boolean {
  const { batch, queries, keys } = attention;
  const hasRoom = 4 * product(batch) * queries * keys <= maxBytes;
  return fitsFlash(attention) && !(isSoftware && hasRoom);
}

function* partsOf({ batch, queries, keys }: Attention, maxBytes: number): Generator<Part> {
  const most = Math.max(1, Math.floor(maxBytes / (4 * product(batch) * keys)));
  for (let first = 0; first < queries; first += most)
    yield { first, count: Math.min(most, queries - first) };
}

/** Returns the matrices from the first row of a part on. */
function rowsFrom(matrices: Matrices, { first }: Part): Matrices {
  const { view, rowStride } = matrices;
  return { ...matrices, view: { ...view, offset: view.offset + 4 * first * rowStride } };
}

/** Returns scratch memory for one number per query of a part and key. */
function scoresOf(commands: Commands, attention: Attention): (part: Part) => Matrices {
  const { batch, keys } = attention;
  let view: View | undefined;
  return ({ count }) => {
    view ??= commands.scratch(4 * product(batch) * count * keys, "float32");
    return packed(attention, view, count, keys);
  };
}

function multiplyQueries(
  commands: Commands,
  attention: Attention,
  part: Part,
  scores: Matrices,
): void {
  const { batch, keys, features, query, key, scale } = attention;
  multiply(commands, {
    batch,
    m: part.count,
    n: keys,
    k: features,
    a: rowsFrom(query, part),
    b: transposed(key),
    c: scores,
    alpha: scale,
  });
}

const attend = (maxBytes: number): Kernel<Attend> => ({
  supported: { all: ["float32"] },

  play(call, commands): void {
    const { logSums } = call;
    const attention = attentionOf(call.attention);
    const y = matricesOf({ memory: call.y, strides: call.yStrides });
    const { batch, keys, valueFeatures, value } = attention;
    if (isFlash(commands, attention, maxBytes)) {
      flashAttend(commands, attention, y, logSums);
      return;
    }
    const memory = scoresOf(commands, attention);
    for (const part of partsOf(attention, maxBytes)) {
      const scores = memory(part);
      multiplyQueries(commands, attention, part, scores);
      dispatchScores(commands, attention, part, {
        key: "attend",
        memory: [
          { name: "scores", view: scores.view, mode: "write" },
          { name: "log_sums", view: logSums, mode: "write" },
        ],
        work: kWeights,
      });
      multiply(commands, {
        batch,
        m: part.count,
        n: valueFeatures,
        k: keys,
        a: scores,
        b: value,
        c: rowsFrom(y, part),
      });
    }
  },
});

const attendBackward = (maxBytes: number): Kernel<AttendBackward> => ({
  supported: { all: ["float32"] },

  play(call, commands): void {
    const { logSums, gradQuery, gradKey, gradValue } = call;
    const attention = attentionOf(call.attention);
    const gradY = matricesOf(call.gradY);
    const { batch, queries, keys, features, valueFeatures, scale, query, key, value } = attention;
    const results = {
      query: gradQuery && packed(attention, gradQuery, queries, features),
      key: gradKey && packed(attention, gradKey, keys, features),
      value: gradValue && packed(attention, gradValue, keys, valueFeatures),
    };
    if (isFlash(commands, attention, maxBytes)) {
      flashBackward(commands, attention, gradY, logSums, results);
      return;
    }
    const weightsMemory = scoresOf(commands, attention);
    const gradsMemory = scoresOf(commands, attention);
    for (const part of partsOf(attention, maxBytes)) {
      const weights = weightsMemory(part);
      const grads = gradsMemory(part);
      const gradRows = rowsFrom(gradY, part);
      // The gradients of keys and values are sums over all parts.
      const beta = part.first === 0 ? 0 : 1;
      const sizes = { batch, m: keys, k: part.count, beta };
      multiplyQueries(commands, attention, part, weights);
      multiply(commands, {
        batch,
        m: part.count,
        n: keys,
        k: valueFeatures,
        a: gradRows,
        b: transposed(value),
        c: grads,
      });
      dispatchScores(commands, attention, part, {
        key: "attend_backward",
        memory: [
          { name: "scores", view: weights.view, mode: "write" },
          { name: "grads", view: grads.view, mode: "write" },
          { name: "log_sums", view: logSums, mode: "read" },
        ],
        work: kScoreGradients,
      });
      if (results.query)
        multiply(commands, {
          batch,
          m: part.count,
          n: features,
          k: keys,
          a: grads,
          b: key,
          c: rowsFrom(results.query, part),
          alpha: scale,
        });
      if (results.key)
        multiply(commands, {
          ...sizes,
          n: features,
          a: transposed(grads),
          b: rowsFrom(query, part),
          c: results.key,
          alpha: scale,
        });
      if (results.value)
        multiply(commands, {
          ...sizes,
          n: valueFeatures,
          a: transposed(weights),
          b: gradRows,
          c: results.value,
        });
    }
  },
});
