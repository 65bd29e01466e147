// The shader of attention without a matrix of scores: an invocation owns rows of one operand in registers and passes over the rows
// of the others. flash_attention.ts has what is computed from the scores.
//
// On a GPU the rows passed over are first loaded into workgroup memory, kTile at a time, where all invocations read the same row at
// once. On a device that computes on the CPU, an invocation reads them from memory for several rows of its own. Tiles that a
// causal row does not see are skipped.

import type { Access } from "../../shader";
import type { View } from "../../stream";
import { workgroups } from "../invocations";
import type { Commands } from "../kernel";
import type { Matrices } from "../matrix/matrix_product";
import { readOperand } from "../matrix/tiled_product";
import { vectorsOf } from "../matrix/vec4s";
import { indexOf, mergeDimensions, product, sizeUniforms } from "../strides";
import type { Attention } from "./attention_scores";

/** Rows longer than this, in vectors of four, do not fit into registers. */
const kMaxVec4s = 16;
/** The rows that are in workgroup memory at a time: 8 KiB of two operands with the longest rows. */
const kTile = 16;
const kThreads = { hardware: 64, software: 16 };

/** Whether rows are short enough. */
export function fitsFlash({ features, valueFeatures }: Attention): boolean {
  return [features, valueFeatures].every((width) => width > 0 && vec4sOf(width) <= kMaxVec4s);
}

/** Returns how many vectors of four hold the features of a row. */
export const vec4sOf = (features: number) => Math.ceil(features / 4);

/** Returns `count` lines of WGSL. */
export const lines = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join("\n    ");

type Operands = Readonly<Record<string, Matrices>>;

/** A shader in which every invocation owns rows of one side, queries or keys. */
export interface FlashShader {
  readonly key: string;
  readonly attention: Attention;
  /** The side whose rows invocations own. */
  readonly owner: "queries" | "keys";
  /** The operands by their names in the shader: of the owner's side, and of the side that is passed over. */
  readonly own: Operands;
  readonly passed: Operands;
  /** Memory that is not indexed by features, and results. */
  readonly memory: readonly Access[];
  /** Matrices that the shader writes. */
  readonly results?: Operands;
  /** Declares the variables of row `r`. */
  start(r: number): string;
  /** The passes: what is done for row `r` with row `other` and its score `score`, and between the passes. */
  readonly passes: readonly { each(r: number): string; end(r: number): string }[];
}

/** Returns the WGSL for the sum of products of the own operand `a` of row `r` and the row of `b` that is passed. */
export const dot = (a: string, r: number, b: string, vec4s: number) =>
  Array.from({ length: vec4s }, (_, c) => `dot(${a}_${r}_${c}, ${b}_${c})`).join(" + ");

/** Runs the shader for all heads and rows. */
export function dispatchFlash(commands: Commands, shader: FlashShader): void {
  const { attention, owner, own, passed, memory, results = {} } = shader;
  const { batch, queries, keys, isCausal, mask, features, valueFeatures, scale } = attention;
  const { isSoftware } = commands;
  const operands: Operands = { ...own, ...passed, ...(mask && { mask }), ...results };
  const names = Object.keys(operands);
  const space = mergeDimensions(
    batch,
    names.map((name) => (operands[name] as Matrices).batchStrides),
  );
  const heads = Object.fromEntries(
    names.map((name, i) => [name, indexOf(space, i, name, "batch")] as const),
  );
  const widths = Object.fromEntries(
    names.map((name) => [name, isOfValue(name) ? valueFeatures : features] as const),
  );
  const read = Object.entries({ ...own, ...passed }).map(
    ([name, matrices]): Read => ({
      matrices,
      access: readOperand(commands, name, matrices.view),
    }),
  );
  const asVec4s = canReadVec4s(read, [...memory, ...written(results, mask)]);
  const longest = Math.max(vec4sOf(features), vec4sOf(valueFeatures));
  const rows = isSoftware ? (longest <= 4 ? 4 : longest <= 8 ? 2 : 1) : 1;
  const threads = isSoftware ? kThreads.software : kThreads.hardware;
  const count = owner === "queries" ? queries : keys;
  const blocks = Math.ceil(count / (threads * rows));
  const total = product(batch);
  commands.dispatch({
    key: [
      `flash ${shader.key} ${features} ${valueFeatures} ${isCausal} ${asVec4s} ${rows} ${space.sizes.length}`,
      ...names.map((name) => heads[name]?.key),
      names.map((name) => (operands[name]?.columnStride === 1 ? 1 : "n")).join(""),
    ].join(" "),
    memory: [
      ...read.map(({ access }): Access => {
        const as = asVec4s && vectorsOf(access);
        return as ? { ...access, as } : access;
      }),
      ...(mask ? [{ name: "mask", view: mask.view, mode: "read" } as const] : []),
      ...memory,
      ...Object.entries(results).map(([name, { view }]): Access => ({ name, view, mode: "write" })),
    ],
    uniforms: {
      u32: {
        ...{ queries, keys, blocks, heads: total },
        ...sizeUniforms(space, "batch"),
        ...Object.assign({}, ...Object.values(heads).map(({ uniforms }) => uniforms)),
        ...Object.assign(
          {},
          ...names.map((name) => {
            const { rowStride, columnStride } = operands[name] as Matrices;
            return { [`${name}_row`]: rowStride, [`${name}_column`]: columnStride };
          }),
        ),
      },
      f32: { scale },
    },
    workgroups: workgroups(blocks * total),
    body: () =>
      [
        ...names.map((name) => heads[name]?.text(`${name}_of`)),
        ...read.map(({ access }) => getText(access, widths[access.name] as number, asVec4s)),
        ...Object.keys(results).map((name) => putText(name, widths[name] as number)),
        ...(isSoftware ? [] : Object.keys(passed).map((name) => tileText(name, widths))),
        mainText(shader, { rows, threads, isSoftware, widths, hasMask: mask !== undefined }),
      ].join("\n"),
  });
}

// The operands and results whose rows have the features of values.
const isOfValue = (name: string) => ["value", "grad_y", "y", "grad_value"].includes(name);

function written(results: Operands, mask: Matrices | undefined): { view: View }[] {
  return [...Object.values(results), ...(mask ? [mask] : [])];
}

/** An operand whose rows the shader reads. */
interface Read {
  readonly matrices: Matrices;
  readonly access: Access;
}

// A buffer is read either always or never as vec4s.
function canReadVec4s(read: readonly Read[], others: readonly { view: View }[]): boolean {
  return read.every(
    ({ matrices: { rowStride, columnStride, batchStrides }, access }) =>
      columnStride === 1 &&
      vectorsOf(access) !== undefined &&
      [rowStride, ...batchStrides].every((stride) => stride % 4 === 0) &&
      others.every((other) => other.view.block !== access.view.block) &&
      read.every(
        (other) => other.access.as === access.as || other.access.view.block !== access.view.block,
      ),
  );
}

// Features after the last one are 0, if they can be loaded at all. Halves become floats here: all invocations read the same place of
// workgroup memory at a time, so that vectors of half the size would not be read faster.
function getText({ name, as }: Access, width: number, asVec4s: boolean): string {
  const load = (place: string, type: string) =>
    as === "half" ? `${type}(load_${name}(${place}))` : `load_${name}(${place})`;
  const begin = `fn get_${name}(base: u32, row: u32, c: u32) -> vec4<f32> {
  let at = base + row * u.${name}_row`;
  const vec4s = `${begin};
  return ${load("(at >> 2u) + c", "vec4<f32>")}`;
  if (asVec4s && width % 4 === 0) return `${vec4s};\n}`;
  const inside = (i: number) => `4u * c + ${i}u < ${width}u`;
  if (asVec4s)
    return `${vec4s} * vec4(1f, ${[1, 2, 3].map((i) => `select(0f, 1f, ${inside(i)})`).join(", ")});\n}`;
  const partText = (i: number) => {
    const value = load(`at + ${i}u * u.${name}_column`, "f32");
    return `  if (${inside(i)}) { four[${i}] = ${value}; }`;
  };
  return `${begin} + 4u * c * u.${name}_column;
  var four = vec4(0f);
${[0, 1, 2, 3].map(partText).join("\n")}
  return four;
}`;
}

function putText(name: string, width: number): string {
  const partText = (i: number) =>
    `  if (4u * c + ${i}u < ${width}u) { store_${name}(at + ${i}u * u.${name}_column, four[${i}]); }`;
  return `fn put_${name}(head: u32, row: u32, c: u32, four: vec4<f32>) {
  let at = ${name}_of(head) + row * u.${name}_row + 4u * c * u.${name}_column;
${[0, 1, 2, 3].map(partText).join("\n")}
}`;
}

function tileText(name: string, widths: Readonly<Record<string, number>>): string {
  const size = kTile * vec4sOf(widths[name] as number);
  return `var<workgroup> tile_${name}: array<vec4<f32>, ${size}>;`;
}

interface Layout {
  readonly rows: number;
  readonly threads: number;
  readonly isSoftware: boolean;
  readonly widths: Readonly<Record<string, number>>;
  readonly hasMask: boolean;
}

function mainText(shader: FlashShader, layout: Layout): string {
  const { owner, own, passed, attention } = shader;
  const { rows, threads, isSoftware, widths, hasMask } = layout;
  const { isCausal } = attention;
  const other = owner === "queries" ? "keys" : "queries";
  const vec4s = (name: string) => vec4sOf(widths[name] as number);
  const [mine, theirs] = owner === "queries" ? ["query", "key"] : ["key", "query"];
  const each = (text: (r: number) => string) => lines(rows, text);
  const passedNames = Object.keys(passed);
  const loads = passedNames.flatMap((name) =>
    Array.from({ length: vec4s(name) }, (_, c) =>
      isSoftware
        ? `let ${name}_${c} = get_${name}(${name}_base, other, ${c}u);`
        : `let ${name}_${c} = tile_${name}[j * ${vec4s(name)}u + ${c}u];`,
    ),
  );
  const tiles = passedNames.map(
    (name) => `for (var e = thread; e < ${kTile * vec4s(name)}u; e += ${threads}u) {
      let other = min(begin + e / ${vec4s(name)}u, u.${other} - 1u);
      tile_${name}[e] = get_${name}(${name}_base, other, e % ${vec4s(name)}u);
    }`,
  );
  const seen = (r: number) => (owner === "queries" ? `other <= row_${r}` : `other >= row_${r}`);
  const masked = (r: number) => {
    const [query, key] = owner === "queries" ? [`row_${r}`, "other"] : ["other", `row_${r}`];
    return ` + load_mask(mask_base + ${query} * u.mask_row + ${key} * u.mask_column)`;
  };
  const scored = (r: number, text: string) => `${isCausal ? `if (${seen(r)}) ` : ""}{
      let score = u.scale * (${dot(mine as string, r, theirs as string, vec4s("query"))})${hasMask ? masked(r) : ""};
      ${text}
    }`;
  // What a causal block does not see at all; the tile with the first row that is seen begins at a multiple of kTile.
  const first = isCausal && owner === "keys" ? `block_first / ${kTile}u * ${kTile}u` : "0u";
  const end =
    isCausal && owner === "queries"
      ? `min(u.keys, block_first + ${threads * rows}u)`
      : `u.${other}`;
  const loop = (body: string) =>
    isSoftware
      ? `for (var other = ${first}; other < ${end}; other++) {
    ${loads.join("\n    ")}
    ${body}
  }`
      : `for (var begin = ${first}; begin < ${end}; begin += ${kTile}u) {
    ${tiles.join("\n    ")}
    workgroupBarrier();
    for (var j = 0u; j < min(${kTile}u, ${end} - begin); j++) {
    let other = begin + j;
    ${loads.join("\n    ")}
    ${body}
    }
    workgroupBarrier();
  }`;
  return `@compute @workgroup_size(${threads})
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let block = group.x + group.y * groups.x;
  let head = block / u.blocks;
  if (head >= u.heads) {
    return;
  }
  let block_first = block % u.blocks * ${threads * rows}u;
  ${each((r) => `let asked_${r} = block_first + thread * ${rows}u + ${r}u;`)}
  ${each((r) => `let row_${r} = min(asked_${r}, u.${owner} - 1u);`)}
  ${passedNames.map((name) => `let ${name}_base = ${name}_of(head);`).join("\n  ")}
  ${hasMask ? "let mask_base = mask_of(head);" : ""}
  ${Object.keys(own)
    .map((name) =>
      each((r) =>
        lines(
          vec4s(name),
          (c) => `let ${name}_${r}_${c} = get_${name}(${name}_of(head), row_${r}, ${c}u);`,
        ),
      ),
    )
    .join("\n  ")}
  ${each((r) => shader.start(r))}
  ${shader.passes
    .map(
      (pass) => `${loop(each((r) => scored(r, pass.each(r))))}
  ${each((r) => pass.end(r))}`,
    )
    .join("\n  ")}
}`;
}
