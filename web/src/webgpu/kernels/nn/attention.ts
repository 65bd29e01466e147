// softmax(scale * query keyᵀ + mask) value, and its gradients: products of matrices, and between them shaders
// over rows of scores. Scores are there for some queries at a time.

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

/** Some queries of all heads. */
interface Part {
  readonly first: number;
  readonly count: number;
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

interface ScoresShader {
  readonly key: string;
  readonly memory: readonly Access[];
  readonly work: string;
}

// Over rows of scores, with a function `score(first, position, k)`: -infinity for what is not seen; and
// `row_of(position)`, the place of a query among those of all heads.
function dispatchScores(
  commands: Commands,
  attention: Attention,
  part: Part,
  shader: ScoresShader,
): void {
  const { batch, queries, keys, isCausal, mask } = attention;
  const { key, memory, work } = shader;
  const walk = mergeDimensions(batch, [mask?.batchStrides ?? batch.map(() => 0)]);
  const head = indexOf(walk, 0, "mask", "batch");
  const masked = mask
    ? `
  value += load_mask(mask_of(position / u.rows) + query * u.mask_row + k * u.mask_column);`
    : "";
  dispatchRows(
    commands,
    { outer: product(batch) * part.count, size: keys, inner: 1 },
    {
      key: `${key} ${isCausal} ${!!mask} ${head.key} ${walk.sizes.length}`,
      memory: [
        ...memory,
        ...(mask ? [{ name: "mask", view: mask.view, mode: "read" } as const] : []),
      ],
      numbers: {
        u32: {
          queries,
          rows: part.count,
          first_query: part.first,
          ...sizeNumbers(walk, "batch"),
          ...head.numbers,
          mask_row: mask?.rowStride ?? 0,
          mask_column: mask?.columnStride ?? 0,
        },
      },
      combine: { largest_of_lanes: kMaximum, sum_of_lanes: kSum },
      functions: `${mask ? head.text("mask_of") : ""}
fn query_of(position: u32) -> u32 { return u.first_query + position % u.rows; }
fn row_of(position: u32) -> u32 { return position / u.rows * u.queries + query_of(position); }
fn score(first: u32, position: u32, k: u32) -> f32 {
  let query = query_of(position);
  ${isCausal ? "if (k > query) {\n    return -infinity_f32();\n  }" : ""}
  var value = load_scores(first + k);${masked}
  return value;
}`,
      work,
    },
  );
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

// Scores become weights.
const kWeights = `var largest = -infinity_f32();
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
      store_log_sums(row_of(position), select(largest + log_f32(sum), infinity_f32(), is_blind));
    }
  }`;

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

// With weights w and their gradients g, those of the scores are w (g - sum(g w)).
const kScoreGradients = `let log_sum = load_log_sums(row_of(position));
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
  }`;
