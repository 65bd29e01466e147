// Attention without a matrix of scores (T. Dao and others, "FlashAttention", 2022): memory does not grow with the product of queries
// and keys. Softmax is computed online: a larger score than all before scales what has been summed. Backward computes the scores
// again, from the logarithms of their sums. flash_shader.ts has the passes over rows.

import type { View } from "../../stream";
import type { Commands } from "../kernel";
import type { Matrices } from "../matrix/matrix_product";
import { product } from "../strides";
import type { Attention } from "./attention_scores";
import { dispatchFlash, dot, lines, vec4sOf } from "./flash_shader";

/** With longer rows, in vectors of four, the gradients of keys and values are computed by separate dispatches. */
const kMaxVec4sOfBoth = 8;

/** Returns the WGSL that declares, changes or stores the vectors of a row. */
const declared = (name: string, r: number, vec4s: number) =>
  lines(vec4s, (c) => `var ${name}_${r}_${c} = vec4(0f);`);
const addedText = (name: string, r: number, vec4s: number, factor: string, to: string) =>
  lines(vec4s, (c) => `${to}_${r}_${c} += ${factor} * ${name}_${c};`);
const storedRow = (name: string, to: string, r: number, vec4s: number, factor: string) =>
  lines(vec4s, (c) => `put_${to}(head, row_${r}, ${c}u, ${name}_${r}_${c} * ${factor});`);

const at = (r: number) => `head * u.queries + row_${r}`;
const isOwn = (r: number, owner: string, text: string) =>
  `if (asked_${r} < u.${owner}) {\n    ${text}\n  }`;

/** Computes y and the logarithms of the sums. */
export function flashAttend(
  commands: Commands,
  attention: Attention,
  y: Matrices,
  logSums: View,
): void {
  const vec4s = vec4sOf(attention.valueFeatures);
  const { query, key, value } = attention;
  dispatchFlash(commands, {
    ...{ key: "attend", attention, owner: "queries" },
    own: { query },
    passed: { key, value },
    results: { y },
    memory: [{ name: "log_sums", view: logSums, mode: "write" }],
    start: (r) => `var largest_${r} = -infinity_f32();
  var sum_${r} = 0f;
  ${declared("sums", r, vec4s)}`,
    passes: [
      {
        // A score of -infinity has no weight, not even among others like it.
        each: (r) => `if (differ_f32(score, -infinity_f32())) {
        if (score > largest_${r}) {
          let scaled = exp_f32(largest_${r} - score);
          largest_${r} = score;
          sum_${r} *= scaled;
          ${lines(vec4s, (c) => `sums_${r}_${c} *= scaled;`)}
        }
        let weight = exp_f32(score - largest_${r});
        sum_${r} += weight;
        ${addedText("value", r, vec4s, "weight", "sums")}
      }`,
        end: (r) =>
          isOwn(
            r,
            "queries",
            `let is_blind_${r} = sum_${r} == 0f;
    let inverse_${r} = select(1f / sum_${r}, 0f, is_blind_${r});
    ${storedRow("sums", "y", r, vec4s, `inverse_${r}`)}
    store_log_sums(${at(r)}, select(largest_${r} + log_f32(sum_${r}), infinity_f32(), is_blind_${r}));`,
          ),
      },
    ],
  });
}

/** The gradients that are wanted. */
export interface FlashGradients {
  readonly query: Matrices | undefined;
  readonly key: Matrices | undefined;
  readonly value: Matrices | undefined;
}

/** Computes gradients from that of y. */
export function flashBackward(
  commands: Commands,
  attention: Attention,
  gradY: Matrices,
  logSums: View,
  wanted: FlashGradients,
): void {
  const { batch, queries, features, valueFeatures, mask } = attention;
  const needsDots = wanted.query !== undefined || wanted.key !== undefined;
  const dots = needsDots ? commands.scratch(4 * product(batch) * queries, "float32") : undefined;
  if (dots !== undefined)
    backwardOfQueries(commands, attention, gradY, logSums, dots, wanted.query);
  const isShort = Math.max(vec4sOf(features), vec4sOf(valueFeatures)) <= kMaxVec4sOfBoth;
  // With a mask, a dispatch for both would access nine buffers, one more than every device has.
  const parts =
    isShort && mask === undefined ? [wanted] : [{ key: wanted.key }, { value: wanted.value }];
  for (const { key, value } of parts as Partial<FlashGradients>[])
    if (key || value) backwardOfKeys(commands, attention, gradY, logSums, dots, { key, value });
}

// Stores the sums over keys of weight times gradient of the weight, which are subtracted from the gradients of scores.
function backwardOfQueries(
  commands: Commands,
  attention: Attention,
  gradY: Matrices,
  logSums: View,
  dots: View,
  result: Matrices | undefined,
): void {
  const { features, valueFeatures, query, key, value } = attention;
  const ofWeight = (r: number) => `let weight = exp_f32(score - log_sum_${r});
      let slope = ${dot("grad_y", r, "value", vec4sOf(valueFeatures))};`;
  const vec4s = vec4sOf(features);
  dispatchFlash(commands, {
    ...{ key: `backward_queries ${result !== undefined}`, attention, owner: "queries" },
    own: { query, grad_y: gradY },
    passed: { key, value },
    results: result ? { grad_query: result } : {},
    memory: [
      { name: "log_sums", view: logSums, mode: "read" },
      { name: "dots", view: dots, mode: "write" },
    ],
    start: (r) => `let log_sum_${r} = load_log_sums(${at(r)});
  var dot_${r} = 0f;
  ${declared("sums", r, vec4s)}`,
    passes: [
      {
        each: (r) => `${ofWeight(r)}
      dot_${r} += weight * slope;`,
        end: (r) => isOwn(r, "queries", `store_dots(${at(r)}, dot_${r});`),
      },
      ...(result
        ? [
            {
              each: (r: number) => `${ofWeight(r)}
      let of_score = weight * (slope - dot_${r});
      ${addedText("key", r, vec4s, "of_score", "sums")}`,
              end: (r: number) =>
                isOwn(r, "queries", storedRow("sums", "grad_query", r, vec4s, "u.scale")),
            },
          ]
        : []),
    ],
  });
}

function backwardOfKeys(
  commands: Commands,
  attention: Attention,
  gradY: Matrices,
  logSums: View,
  dots: View | undefined,
  results: Partial<FlashGradients>,
): void {
  const { features, valueFeatures, query, key, value } = attention;
  const needsSlope = results.key !== undefined;
  const [keyVec4s, valueVec4s] = [vec4sOf(features), vec4sOf(valueFeatures)];
  dispatchFlash(commands, {
    key: `backward_keys ${needsSlope} ${!!results.value}`,
    ...{ attention, owner: "keys" },
    own: { key, ...(needsSlope ? { value } : {}) },
    passed: { query, grad_y: gradY },
    results: {
      ...(results.key ? { grad_key: results.key } : {}),
      ...(results.value ? { grad_value: results.value } : {}),
    },
    memory: [
      { name: "log_sums", view: logSums, mode: "read" },
      ...(needsSlope && dots ? [{ name: "dots", view: dots, mode: "read" } as const] : []),
    ],
    start: (r) => `${needsSlope ? declared("keys", r, keyVec4s) : ""}
  ${results.value ? declared("values", r, valueVec4s) : ""}`,
    passes: [
      {
        each: (r) => `let query = head * u.queries + other;
      let weight = exp_f32(score - load_log_sums(query));
      ${results.value ? addedText("grad_y", r, valueVec4s, "weight", "values") : ""}
      ${
        needsSlope
          ? `let slope = ${dot("value", r, "grad_y", valueVec4s)};
      let of_score = weight * (slope - load_dots(query));
      ${addedText("query", r, keyVec4s, "of_score", "keys")}`
          : ""
      }`,
        end: (r) =>
          isOwn(
            r,
            "keys",
            `${needsSlope ? storedRow("keys", "grad_key", r, keyVec4s, "u.scale") : ""}
    ${results.value ? storedRow("values", "grad_value", r, valueVec4s, "1f") : ""}`,
          ),
      },
    ],
  });
}
