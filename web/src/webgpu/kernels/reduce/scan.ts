// Scans along the middle dimension of packed arrays.
//
// A short row is processed by one invocation, a longer one by a workgroup, block after block: the workgroup scans the
// neighboring elements of a block in logarithmically many steps, starting from the total of the previous blocks. The longest
// rows are divided into chunks, for which three dispatches run: the totals of all chunks, a scan of these, and a scan of every
// chunk that starts from the total of the chunks before it.

import {
  type Recurrence,
  type Rows,
  type RunningExtreme,
  type Scan,
  ScanKind,
} from "../../../generated/stream";
import { kRealDTypes } from "../../dtype";
import { kWgslTypes } from "../../element_types";
import type { Access } from "../../shader";
import type { View } from "../../stream";
import { forEach, invocations, kThreads, workgroups } from "../invocations";
import type { Commands, Kernel } from "../kernel";
import { lessText, orderedType } from "../ordered";

interface ScanShader {
  /** Identifies the texts also where the memory is words, whose dtype says nothing of the totals in them. */
  readonly key: string;
  readonly memory: readonly Access[];
  /** The WGSL type of a total, and the text that combines two of them, where `a` precedes `b`. */
  readonly type: string;
  readonly combine: string;
  /** The total of a single element: the one at `at`, which has index `k` in its row. */
  readonly load: string;
  /** The statement that stores `total` at `at`. */
  readonly store: string;
  /** A total as words of 32 bits: the expressions for the words of `total`, and that for the total of `words`. */
  readonly pack: readonly string[];
  readonly unpack: string;
  /** Types and functions that these texts need. */
  readonly functions?: string;
}

/** Rows of a GPU that are processed by a workgroup. */
const kLongRow = 512;
/** The elements of a chunk. A single invocation adds up fewer, because its sums are less accurate. */
const kChunk = { hardware: 4096, software: 512 };

/** Scans every row. */
export function dispatchScan(commands: Commands, rows: Rows, shader: ScanShader): void {
  const { outer, size, inner } = rows;
  const positions = outer * inner;
  if (positions * size === 0) return;
  const sharesWork = !commands.isSoftware && size >= kLongRow;
  const chunk = commands.isSoftware ? kChunk.software : kChunk.hardware;
  if (size < 4 * chunk) {
    dispatchChunks(commands, rows, shader, { sharesWork, chunk: size, stores: true });
    return;
  }
  const chunks = Math.ceil(size / chunk);
  const { pack, unpack } = shader;
  const view = commands.scratch(4 * pack.length * positions * chunks, "int32");
  const work = { sharesWork, chunk };
  dispatchChunks(commands, rows, shader, { ...work, stores: false, totals: view });
  const word = (i: number) => `${pack.length}u * at + ${i}u`;
  dispatchScan(
    commands,
    { outer: positions, size: chunks, inner: 1 },
    {
      ...shader,
      key: `${shader.key} totals`,
      memory: [{ name: "totals", view, mode: "write", as: "word" }],
      load: unpack.replaceAll(/words\[(\d)\]/g, (_, i) => `load_totals(${word(Number(i))})`),
      store: pack.map((text, i) => `store_totals(${word(i)}, ${text});`).join(" "),
    },
  );
  dispatchChunks(commands, rows, shader, { ...work, stores: true, totals: view });
}

/** How chunks are scanned. */
interface Chunks {
  /** Whether the invocations of a workgroup share a chunk. */
  readonly sharesWork: boolean;
  readonly chunk: number;
  /** Whether the totals of elements are stored, else only that of the chunk. */
  readonly stores: boolean;
  /** The totals of chunks or, if elements are stored, of all chunks up to each. */
  readonly totals?: View;
}

function dispatchChunks(
  commands: Commands,
  { outer, size, inner }: Rows,
  shader: ScanShader,
  { sharesWork, chunk, stores, totals }: Chunks,
): void {
  const { key, memory, type, combine, load, store, pack, unpack, functions = "" } = shader;
  const chunks = Math.ceil(size / chunk);
  const count = outer * inner * chunks;
  const words = pack.length;
  const carried = unpack.replaceAll(
    /words\[(\d)\]/g,
    (_, i) => `load_carry(${words}u * (i - 1u) + ${i}u)`,
  );
  const kept = pack.map((text, i) => `store_carry(${words}u * i + ${i}u, ${text});`).join(" ");
  const texts = () => `${functions}
fn combine(a: ${type}, b: ${type}) -> ${type} { ${combine} }
fn load_total(at: u32, k: u32) -> ${type} { return ${load}; }
fn first_of(position: u32) -> u32 {
  return position / u.inner * u.inner * u.size + position % u.inner;
}
${stores ? `fn store_total(at: u32, total: ${type}) { ${store} }` : ""}
${totals && stores ? `fn carried(i: u32) -> ${type} { return ${carried}; }` : ""}
${totals && !stores ? `fn keep(i: u32, total: ${type}) { ${kept} }` : ""}
`;
  const text = sharesWork ? sharedText : singleText;
  commands.dispatch({
    key: `${key} ${sharesWork} ${stores} ${totals !== undefined}`,
    memory: [
      ...memory,
      ...(totals
        ? [{ name: "carry", view: totals, mode: stores ? "read" : "write", as: "word" } as const]
        : []),
    ],
    uniforms: { u32: { count, size, inner, chunks, chunk } },
    workgroups: sharesWork ? workgroups(count) : invocations(count),
    body: () => texts() + text(type, stores, totals !== undefined),
  });
}

// The range of chunk i, the first total, and those before it.
const kRange = `let position = i / u.chunks;
  let first = first_of(position);
  let begin = i % u.chunks * u.chunk;
  let end = min(begin + u.chunk, u.size);`;

function singleText(_: string, stores: boolean, hasTotals: boolean): string {
  const store = stores ? "store_total(at, total);" : "";
  return forEach(`${kRange}
  var at = first + begin * u.inner;
  var total = load_total(at, begin);
  ${stores && hasTotals ? "if (begin > 0u) { total = combine(carried(i), total); }" : ""}
  ${store}
  for (var k = begin + 1u; k < end; k++) {
    at += u.inner;
    total = combine(total, load_total(at, k));
    ${store}
  }
  ${stores ? "" : "keep(i, total);"}`);
}

function sharedText(type: string, stores: boolean, hasTotals: boolean): string {
  const carry =
    stores && hasTotals
      ? `if (begin > 0u) { before = carried(i); }
  let has_before = begin > 0u;`
      : "let has_before = false;";
  return `var<workgroup> totals: array<${type}, ${kThreads}>;
@compute @workgroup_size(${kThreads})
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let asked = group.x + group.y * groups.x;
  let i = min(asked, u.count - 1u);
  ${kRange}
  var before = load_total(first, 0u);
  ${carry}
  for (var block = begin; block < end; block += ${kThreads}u) {
    let k = min(block + thread, end - 1u);
    let at = first + k * u.inner;
    var total = load_total(at, k);
    if (thread == 0u && (has_before || block > begin)) {
      total = combine(before, total);
    }
    totals[thread] = total;
    workgroupBarrier();
    for (var step = 1u; step < ${kThreads}u; step <<= 1u) {
      if (thread >= step) {
        total = combine(totals[thread - step], total);
      }
      workgroupBarrier();
      totals[thread] = total;
      workgroupBarrier();
    }
    // After the last element of a chunk, elements are repeated, whose totals nobody uses.
    before = totals[min(${kThreads}u, end - block) - 1u];
    ${stores ? "if (block + thread < end && asked < u.count) { store_total(at, total); }" : ""}
    workgroupBarrier();
  }
  ${stores ? "" : "if (thread == 0u && asked < u.count) { keep(i, before); }"}
}
`;
}

// The combination of two totals.
const kKinds: Readonly<Record<ScanKind, { readonly f32: string; readonly i64?: string }>> = {
  [ScanKind.Sum]: { f32: "a + b", i64: "add_i64(a, b)" },
  [ScanKind.Prod]: { f32: "a * b", i64: "mul_i64(a, b)" },
  // The difference of equal infinities would be NaN.
  [ScanKind.LogSumExp]: {
    f32: "select(maximum_f32(a, b) + log1p_f32(exp_f32(-abs_f32(a - b))), a + 0.6931472f, a == b)",
  },
};

export const scan: Kernel<Scan> = {
  supported: {
    views: [
      ["float32", "int64"],
      ["float32", "int64"],
    ],
  },

  play({ kind, rows, x, y }, commands): void {
    const type = x.dtype === "float32" ? "f32" : "i64";
    dispatchScan(commands, rows, {
      key: `scan ${kind} ${type}`,
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "y", view: y, mode: "write" },
      ],
      type: kWgslTypes[type],
      combine: `return ${kKinds[kind][type]};`,
      load: "load_x(at)",
      store: "store_y(at, total);",
      ...(type === "i64"
        ? { pack: ["total.x", "total.y"], unpack: "vec2(words[0], words[1])" }
        : { pack: ["bitcast<u32>(total)"], unpack: "bitcast<f32>(words[0])" }),
    });
  },
};

export const recurrence: Kernel<Recurrence> = {
  supported: { all: ["float32"] },

  play({ rows, x, factor, y }, commands): void {
    dispatchScan(commands, rows, {
      key: "recurrence",
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "factor", view: factor, mode: "read" },
        { name: "y", view: y, mode: "write" },
      ],
      // A step maps the previous result to factor * previous + term. The first element has no previous result.
      functions: "struct Step { factor: f32, term: f32 }",
      type: "Step",
      combine: "return Step(a.factor * b.factor, b.factor * a.term + b.term);",
      load: "Step(select(load_factor(at), 0f, k == 0u), load_x(at))",
      store: "store_y(at, total.term);",
      pack: ["bitcast<u32>(total.factor)", "bitcast<u32>(total.term)"],
      unpack: "Step(bitcast<f32>(words[0]), bitcast<f32>(words[1]))",
    });
  },
};

export const runningExtreme: Kernel<RunningExtreme> = {
  supported: { views: [kRealDTypes, ["int64"]] },

  play({ largest, rows, x, indices }, commands): void {
    const type = orderedType(x.dtype);
    const isNan = (name: string) => (type === "f32" ? `is_nan_f32(${name}.value)` : "false");
    dispatchScan(commands, rows, {
      key: `running_extreme ${largest} ${type}`,
      memory: [
        { name: "x", view: x, mode: "read", as: type },
        { name: "indices", view: indices, mode: "write", as: "index" },
      ],
      functions: `struct Place { value: ${kWgslTypes[type]}, index: u32 }`,
      type: "Place",
      // Selects the last of equal elements. NaN beats all others, and the last NaN wins.
      combine: `let takes = (!${largest ? lessText(type, "b.value", "a.value") : lessText(type, "a.value", "b.value")} && !(${isNan("a")})) || ${isNan("b")};
  if (takes) {
    return b;
  }
  return a;`,
      load: "Place(load_x(at), k)",
      store: "store_indices(at, i32(total.index));",
      ...(type === "i64"
        ? {
            pack: ["total.value.x", "total.value.y", "total.index"],
            unpack: "Place(vec2(words[0], words[1]), words[2])",
          }
        : {
            pack: ["bitcast<u32>(total.value)", "total.index"],
            unpack: `Place(bitcast<${type}>(words[0]), words[1])`,
          }),
    });
  },
};
