// Scans along the middle dimension of packed arrays.
//
// A short row is processed by one invocation, a long row by a workgroup, block after block: the workgroup scans the
// neighbouring elements of a block in logarithmically many steps, starting from the total of the previous blocks.

import {
  type Recurrence,
  type Rows,
  type RunningExtreme,
  type Scan,
  ScanKind,
} from "../../../generated/stream";
import { type Access, kWgslTypes } from "../../shader";
import { forEach, invocations, kThreads, workgroups } from "../invocations";
import type { Commands, Kernel } from "../kernel";
import { lessText, orderedType } from "../ordered";

interface ScanShader {
  readonly key: string;
  readonly memory: readonly Access[];
  /** The WGSL type of a total, and the text that combines two of them, where `a` precedes `b`. */
  readonly type: string;
  readonly combine: string;
  /** The total of a single element: the one at `at`, which has index `k` in its row. */
  readonly load: string;
  /** The statement that stores `total` at `at`. */
  readonly store: string;
  /** Types and functions that these texts need. */
  readonly functions?: string;
}

const kLongRow = 512;

function dispatchScan(commands: Commands, rows: Rows, shader: ScanShader): void {
  const { outer, size, inner } = rows;
  const positions = outer * inner;
  if (positions * size === 0) return;
  const isLong = size >= kLongRow;
  const { key, memory, type, combine, load, store, functions = "" } = shader;
  const texts = () => `${functions}
fn combine(a: ${type}, b: ${type}) -> ${type} { ${combine} }
fn load_total(at: u32, k: u32) -> ${type} { return ${load}; }
fn store_total(at: u32, total: ${type}) { ${store} }
fn first_of(position: u32) -> u32 {
  return position / u.inner * u.inner * u.size + position % u.inner;
}
`;
  commands.dispatch({
    key: `${key} ${isLong}`,
    memory,
    uniforms: { u32: { count: positions, size, inner } },
    workgroups: isLong ? workgroups(positions) : invocations(positions),
    body: () => texts() + (isLong ? longText(type) : kShort),
  });
}

const kShort = forEach(`var at = first_of(i);
  var total = load_total(at, 0u);
  store_total(at, total);
  for (var k = 1u; k < u.size; k++) {
    at += u.inner;
    total = combine(total, load_total(at, k));
    store_total(at, total);
  }`);

function longText(type: string): string {
  return `var<workgroup> totals: array<${type}, ${kThreads}>;
@compute @workgroup_size(${kThreads})
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let position = group.x + group.y * groups.x;
  let first = first_of(min(position, u.count - 1u));
  var before = load_total(first, 0u);
  for (var block = 0u; block < u.size; block += ${kThreads}u) {
    let k = min(block + thread, u.size - 1u);
    let at = first + k * u.inner;
    var total = load_total(at, k);
    if (thread == 0u && block > 0u) {
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
    before = totals[${kThreads - 1}];
    if (block + thread < u.size && position < u.count) {
      store_total(at, total);
    }
    workgroupBarrier();
  }
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
      key: `scan ${kind}`,
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "y", view: y, mode: "write" },
      ],
      type: kWgslTypes[type],
      combine: `return ${kKinds[kind][type]};`,
      load: "load_x(at)",
      store: "store_y(at, total);",
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
    });
  },
};

export const runningExtreme: Kernel<RunningExtreme> = {
  supported: { views: [["float32", "int32", "int64", "uint8", "bool"], ["int64"]] },

  play({ largest, rows, x, indices }, commands): void {
    const type = orderedType(x.dtype);
    const isNan = (name: string) => (type === "f32" ? `is_nan_f32(${name}.value)` : "false");
    dispatchScan(commands, rows, {
      key: `running_extreme ${largest}`,
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
    });
  },
};
