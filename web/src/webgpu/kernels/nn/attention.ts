// softmax(scale * query keyᵀ + mask) value, and its gradients: products of matrices, and between them shaders
// over rows of scores. Scores are there for some queries at a time.

import type { Reader, View } from "../../stream";
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

function readAttention(fields: Reader): Attention {
  return {
    batch: fields.longs(),
    queries: fields.long(),
    keys: fields.long(),
    features: fields.long(),
    valueFeatures: fields.long(),
    scale: fields.double(),
    isCausal: fields.bool(),
    query: matricesOf(fields.in(), fields.longs()),
    key: matricesOf(fields.in(), fields.longs()),
    value: matricesOf(fields.in(), fields.longs()),
    mask: readMask(fields),
  };
}

function readMask(fields: Reader): Matrices | undefined {
  const view = fields.optionalIn();
  const strides = fields.longs();
  return view && matricesOf(view, strides);
}

/** `strides` are those of the batch's dimensions, of rows and of columns. */
function matricesOf(view: View, strides: readonly number[]): Matrices {
  const [rowStride, columnStride] = strides.slice(-2) as [number, number];
  return { view, batchStrides: strides.slice(0, -2), rowStride, columnStride };
}

function packed({ batch }: Attention, view: View, rows: number, columns: number): Matrices {
  return matricesOf(view, packedStrides([...batch, rows, columns]));
}

function transposed(matrices: Matrices): Matrices {
  return {
    ...matrices,
    rowStride: matrices.columnStride,
    columnStride: matrices.rowStride,
  };
}

/** Memory for scores is not larger than this, if one query's are not. */
const kMostScoreBytes = 2 ** 26;

/** Both kernels, of which tests may want less memory. */
export function attentionKernels(mostScoreBytes = kMostScoreBytes): Record<string, Kernel> {
  return { attend: attend(mostScoreBytes), attend_backward: attendBackward(mostScoreBytes) };
}

function* partsOf({ batch, queries, keys }: Attention, mostBytes: number): Generator<Part> {
  const most = Math.max(1, Math.floor(mostBytes / (4 * product(batch) * keys)));
  for (let first = 0; first < queries; first += most)
    yield { first, count: Math.min(most, queries - first) };
}

/** From a row on. */
function rowsFrom(matrices: Matrices, { first }: Part): Matrices {
  const { view, rowStride } = matrices;
  return { ...matrices, view: { ...view, offset: view.offset + 4 * first * rowStride } };
}

/** Memory for a number per query of a part and key. */
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

const attend = (mostBytes: number): Kernel => ({
  supported: { all: ["float32"] },

  play(fields: Reader, commands: Commands): void {
    const attention = readAttention(fields);
    const y = matricesOf(fields.out(), fields.longs());
    const logSums = fields.out();
    const { batch, keys, valueFeatures, value } = attention;
    const memory = scoresOf(commands, attention);
    for (const part of partsOf(attention, mostBytes)) {
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

const attendBackward = (mostBytes: number): Kernel => ({
  supported: { all: ["float32"] },

  play(fields: Reader, commands: Commands): void {
    const attention = readAttention(fields);
    const gradY = matricesOf(fields.in(), fields.longs());
    const logSums = fields.in();
    const gradQuery = fields.optionalOut();
    const gradKey = fields.optionalOut();
    const gradValue = fields.optionalOut();
    const { batch, queries, keys, features, valueFeatures, scale, query, key, value } = attention;
    const weightsMemory = scoresOf(commands, attention);
    const gradsMemory = scoresOf(commands, attention);
    const results = {
      query: gradQuery && packed(attention, gradQuery, queries, features),
      key: gradKey && packed(attention, gradKey, keys, features),
      value: gradValue && packed(attention, gradValue, keys, valueFeatures),
    };
    for (const part of partsOf(attention, mostBytes)) {
      const weights = weightsMemory(part);
      const grads = gradsMemory(part);
      const gradRows = rowsFrom(gradY, part);
      // Keys and values have a share of every part's gradients.
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
