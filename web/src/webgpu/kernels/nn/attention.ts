// softmax(scale * query keyᵀ + mask) value, and its gradients: products of matrices, and between them shaders
// over rows of scores, which are there for the time of the kernel.

import type { Access } from "../../shader";
import type { Reader, View } from "../../stream";
import type { Commands, Kernel } from "../kernel";
import { kMaximum, kSum } from "../lanes";
import { type Matrices, multiply } from "../matrix/matrix_product";
import { indexOf, mergeDimensions, packedStrides, product, sizeNumbers } from "../strides";
import { dispatchRows } from "./rows";

interface Attention {
  readonly batch: readonly number[];
  readonly queries: number;
  readonly keys: number;
  readonly features: number;
  readonly valueFeatures: number;
  readonly scale: number;
  readonly isCausal: boolean;
  readonly query: Matrices;
  readonly key: Matrices;
  readonly value: Matrices;
  readonly mask: Matrices | undefined;
}

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

/** Memory for a number per query and key. */
function scoresOf(commands: Commands, attention: Attention): Matrices {
  const { batch, queries, keys } = attention;
  const view = commands.scratch(4 * product(batch) * queries * keys, "float32");
  return packed(attention, view, queries, keys);
}

function multiplyQueries(commands: Commands, attention: Attention, scores: Matrices): void {
  const { batch, queries, keys, features, query, key, scale } = attention;
  multiply(commands, {
    batch,
    m: queries,
    n: keys,
    k: features,
    a: query,
    b: transposed(key),
    c: scores,
    alpha: scale,
  });
}

interface ScoresShader {
  readonly key: string;
  readonly memory: readonly Access[];
  readonly work: string;
}

// Over rows of scores, with a function `score(first, position, k)`: -infinity for what is not seen.
function dispatchScores(commands: Commands, attention: Attention, shader: ScoresShader): void {
  const { batch, queries, keys, isCausal, mask } = attention;
  const { key, memory, work } = shader;
  const walk = mergeDimensions(batch, [mask?.batchStrides ?? batch.map(() => 0)]);
  const head = indexOf(walk, 0, "mask", "batch");
  const masked = mask
    ? `
  value += load_mask(mask_of(position / u.queries) + query * u.mask_row + k * u.mask_column);`
    : "";
  dispatchRows(
    commands,
    { outer: product(batch) * queries, size: keys, inner: 1 },
    {
      key: `${key} ${isCausal} ${!!mask} ${head.key} ${walk.sizes.length}`,
      memory: [
        ...memory,
        ...(mask ? [{ name: "mask", view: mask.view, mode: "read" } as const] : []),
      ],
      numbers: {
        u32: {
          queries,
          ...sizeNumbers(walk, "batch"),
          ...head.numbers,
          mask_row: mask?.rowStride ?? 0,
          mask_column: mask?.columnStride ?? 0,
        },
      },
      combine: { largest_of_lanes: kMaximum, sum_of_lanes: kSum },
      functions: `${mask ? head.text("mask_of") : ""}
fn score(first: u32, position: u32, k: u32) -> f32 {
  let query = position % u.queries;
  ${isCausal ? "if (k > query) {\n    return -infinity_f32();\n  }" : ""}
  var value = load_scores(first + k);${masked}
  return value;
}`,
      work,
    },
  );
}

export const attend: Kernel = {
  supported: { all: ["float32"] },

  play(fields: Reader, commands: Commands): void {
    const attention = readAttention(fields);
    const y = matricesOf(fields.out(), fields.longs());
    const logSums = fields.out();
    const { batch, queries, keys, valueFeatures, value } = attention;
    const scores = scoresOf(commands, attention);
    multiplyQueries(commands, attention, scores);
    dispatchScores(commands, attention, {
      key: "attend",
      memory: [
        { name: "scores", view: scores.view, mode: "write" },
        { name: "log_sums", view: logSums, mode: "write" },
      ],
      work: `var largest = -infinity_f32();
  for (var k = lane; k < u.size; k += kLanes) {
    largest = maximum_f32(largest, score(first, position, k));
  }
  largest = largest_of_lanes(thread, largest);
  // A query that sees nothing.
  let is_blind = is_infinite_f32(largest) && largest < 0f;
  var sum = 0f;
  if (!is_blind) {
    for (var k = lane; k < u.size; k += kLanes) {
      sum += exp_f32(score(first, position, k) - largest);
    }
  }
  sum = sum_of_lanes(thread, sum);
  if (is_inside) {
    for (var k = lane; k < u.size; k += kLanes) {
      let weight = exp_f32(score(first, position, k) - largest) / sum;
      store_scores(first + k, select(weight, 0f, is_blind));
    }
    if (lane == 0u) {
      store_log_sums(position, select(largest + log_f32(sum), infinity_f32(), is_blind));
    }
  }`,
    });
    multiply(commands, {
      batch,
      m: queries,
      n: valueFeatures,
      k: keys,
      a: scores,
      b: value,
      c: y,
    });
  },
};

export const attendBackward: Kernel = {
  supported: { all: ["float32"] },

  play(fields: Reader, commands: Commands): void {
    const attention = readAttention(fields);
    const gradY = matricesOf(fields.in(), fields.longs());
    const logSums = fields.in();
    const gradQuery = fields.optionalOut();
    const gradKey = fields.optionalOut();
    const gradValue = fields.optionalOut();
    const { batch, queries, keys, features, valueFeatures, scale, query, key, value } = attention;
    const weights = scoresOf(commands, attention);
    const grads = scoresOf(commands, attention);
    multiplyQueries(commands, attention, weights);
    multiply(commands, {
      batch,
      m: queries,
      n: keys,
      k: valueFeatures,
      a: gradY,
      b: transposed(value),
      c: grads,
    });
    // With weights w and their gradients g, those of the scores are w (g - sum(g w)).
    dispatchScores(commands, attention, {
      key: "attend_backward",
      memory: [
        { name: "scores", view: weights.view, mode: "write" },
        { name: "grads", view: grads.view, mode: "write" },
        { name: "log_sums", view: logSums, mode: "read" },
      ],
      work: `let log_sum = load_log_sums(position);
  var sum = 0f;
  for (var k = lane; k < u.size; k += kLanes) {
    sum += load_grads(first + k) * exp_f32(score(first, position, k) - log_sum);
  }
  sum = sum_of_lanes(thread, sum);
  if (is_inside) {
    for (var k = lane; k < u.size; k += kLanes) {
      let weight = exp_f32(score(first, position, k) - log_sum);
      store_grads(first + k, weight * (load_grads(first + k) - sum));
      store_scores(first + k, weight);
    }
  }`,
    });
    if (gradValue)
      multiply(commands, {
        batch,
        m: keys,
        n: valueFeatures,
        k: queries,
        a: transposed(weights),
        b: gradY,
        c: packed(attention, gradValue, keys, valueFeatures),
      });
    if (gradQuery)
      multiply(commands, {
        batch,
        m: queries,
        n: features,
        k: keys,
        a: grads,
        b: key,
        c: packed(attention, gradQuery, queries, features),
        alpha: scale,
      });
    if (gradKey)
      multiply(commands, {
        batch,
        m: keys,
        n: features,
        k: queries,
        a: transposed(grads),
        b: query,
        c: packed(attention, gradKey, keys, features),
        alpha: scale,
      });
  },
};
