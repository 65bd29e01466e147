// The steps of attention between its matrix products: converting scores to weights, and gradients of weights to gradients of scores.

import type { Attention as AttentionFields } from "../../../generated/stream";
import type { Access } from "../../shader";
import type { Commands } from "../kernel";
import { kMaximum, kSum } from "../lanes";
import type { Matrices } from "../matrix/matrix_product";
import { indexOf, mergeDimensions, product, sizeUniforms } from "../strides";
import { dispatchRows } from "./rows";

/** The sizes of an attention, and its operands in the form that matrix products use. */
export interface Attention extends Omit<AttentionFields, "query" | "key" | "value" | "mask"> {
  readonly query: Matrices;
  readonly key: Matrices;
  readonly value: Matrices;
  readonly mask: Matrices | undefined;
}

/** A range of queries, of all heads. */
export interface Part {
  readonly first: number;
  readonly count: number;
}

interface ScoresShader {
  readonly key: string;
  readonly memory: readonly Access[];
  readonly work: string;
}

/**
 * Runs a shader over rows of scores. It can call `seen_of(position)`, the number of keys that a query attends to apart from its
 * mask, `score(first, position, k)` for those keys, and `row_of(position)`, the index of a query among the queries of all heads.
 */
export function dispatchScores(
  commands: Commands,
  attention: Attention,
  part: Part,
  shader: ScoresShader,
): void {
  const { batch, queries, keys, isCausal, mask } = attention;
  const { key, memory, work } = shader;
  const space = mergeDimensions(batch, [mask?.batchStrides ?? batch.map(() => 0)]);
  const head = indexOf(space, 0, "mask", "batch");
  const masked = mask
    ? `
  value += load_mask(mask_of(position / u.rows) + query * u.mask_row + k * u.mask_column);`
    : "";
  dispatchRows(
    commands,
    { outer: product(batch) * part.count, size: keys, inner: 1 },
    {
      key: `${key} ${isCausal} ${!!mask} ${head.key} ${space.sizes.length}`,
      memory: [
        ...memory,
        ...(mask ? [{ name: "mask", view: mask.view, mode: "read" } as const] : []),
      ],
      uniforms: {
        u32: {
          queries,
          rows: part.count,
          first_query: part.first,
          ...sizeUniforms(space, "batch"),
          ...head.uniforms,
          mask_row: mask?.rowStride ?? 0,
          mask_column: mask?.columnStride ?? 0,
        },
      },
      combine: { largest_of_lanes: kMaximum, sum_of_lanes: kSum },
      functions: `${mask ? head.text("mask_of") : ""}
fn query_of(position: u32) -> u32 { return u.first_query + position % u.rows; }
fn row_of(position: u32) -> u32 { return position / u.rows * u.queries + query_of(position); }
fn seen_of(position: u32) -> u32 { return ${isCausal ? "min(u.size, query_of(position) + 1u)" : "u.size"}; }
fn score(first: u32, position: u32, k: u32) -> f32 {
${mask ? "  let query = query_of(position);" : ""}
  var value = load_scores(first + k);${masked}
  return value;
}`,
      work,
    },
  );
}

/** Converts scores to weights. */
export const kWeights = `let seen = seen_of(position);
  var largest = -infinity_f32();
  for (var k = lane; k < seen; k += kLanes) {
    largest = maximum_f32(largest, score(first, position, k));
  }
  largest = largest_of_lanes(thread, largest);
  // A query that attends to no key.
  let is_blind = is_infinite_f32(largest) && largest < 0f;
  var sum = 0f;
  if (!is_blind) {
    for (var k = lane; k < seen; k += kLanes) {
      sum += exp_f32(score(first, position, k) - largest);
    }
  }
  sum = sum_of_lanes(thread, sum);
  if (is_inside) {
    for (var k = lane; k < seen; k += kLanes) {
      let weight = exp_f32(score(first, position, k) - largest) / sum;
      store_scores(first + k, select(weight, 0f, is_blind));
    }
    for (var k = seen + lane; k < u.size; k += kLanes) {
      store_scores(first + k, 0f);
    }
    if (lane == 0u) {
      store_log_sums(row_of(position), select(largest + log_f32(sum), infinity_f32(), is_blind));
    }
  }`;

/** Computes the gradients of scores, w (g - sum(g w)), from the weights w and their gradients g. */
export const kScoreGradients = `let log_sum = load_log_sums(row_of(position));
  let seen = seen_of(position);
  var sum = 0f;
  for (var k = lane; k < seen; k += kLanes) {
    sum += load_grads(first + k) * exp_f32(score(first, position, k) - log_sum);
  }
  sum = sum_of_lanes(thread, sum);
  if (is_inside) {
    for (var k = lane; k < seen; k += kLanes) {
      let weight = exp_f32(score(first, position, k) - log_sum);
      store_grads(first + k, weight * (load_grads(first + k) - sum));
      store_scores(first + k, weight);
    }
    for (var k = seen + lane; k < u.size; k += kLanes) {
      store_grads(first + k, 0f);
      store_scores(first + k, 0f);
    }
  }`;
