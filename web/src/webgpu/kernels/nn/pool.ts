// Pooling over windows of planes (src/kernels/pool.h). Gradients are gathered: each element of x iterates over the windows
// that contain it, so that the order of the sums is fixed.

import type {
  AvgPool,
  AvgPoolBackward,
  MaxPool,
  MaxPoolBackward,
  MaxPoolPick,
  PoolDivisor,
  PoolPlanes,
} from "../../../generated/stream";
import type { Access } from "../../shader";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";
import { lessText, orderedType } from "../ordered";
import { type Axis, axisText, makeAxis } from "./pool_axis";

interface Planes {
  readonly planes: number;
  readonly rows: Axis;
  readonly columns: Axis;
}

function makePlanes({ planes, rows, columns }: PoolPlanes): Planes {
  return { planes, rows: makeAxis(rows, "rows"), columns: makeAxis(columns, "columns") };
}

function functionsOf({ rows, columns }: Planes): string {
  return `struct Window { begin: i32, end: i32, padded: i32 }
struct Range { begin: i32, end: i32 }
${axisText("rows", rows)}${axisText("columns", columns)}`;
}

interface PoolShader {
  readonly key: string;
  readonly memory: readonly Access[];
  readonly f32?: Record<string, number>;
  /** What an invocation computes: a window, an element of the planes, or a tile of them. */
  readonly each: "out" | "in" | "tiles";
  /** The WGSL for one of these; it uses `plane`, and `row` and `column` of the element, window or tile. */
  readonly work: string;
}

function dispatchPool(commands: Commands, pool: Planes, shader: PoolShader): void {
  const { planes, rows, columns } = pool;
  const { key, memory, f32 = {}, each, work } = shader;
  const count = planes * rows[each] * columns[each];
  commands.dispatch({
    key: `${key} ${rows.isAdaptive} ${columns.isAdaptive}`,
    memory,
    uniforms: { u32: { count }, i32: { ...rows.uniforms, ...columns.uniforms }, f32 },
    workgroups: invocations(count),
    body: () =>
      functionsOf(pool) +
      forEach(`let column = i32(i) % u.columns_${each};
  let row = i32(i) / u.columns_${each} % u.rows_${each};
  let plane = i32(i) / (u.columns_${each} * u.rows_${each});
  let first_in = plane * u.rows_in * u.columns_in;
  let first_out = plane * u.rows_out * u.columns_out;
  ${work}`),
  });
}

// Runs `work` for all elements (y, x) of the window at (row, column).
function overWindow(work: string): string {
  return `let tall = rows_window(row);
  let wide = columns_window(column);
  for (var y = tall.begin; y < tall.end; y += u.rows_dilation) {
    for (var x = wide.begin; x < wide.end; x += u.columns_dilation) {
      ${work}
    }
  }`;
}

// Runs `work` for all windows that may contain the element at (row, column); `place` is the window's index in the result.
function overWindows(work: string): string {
  return `let rows = rows_windows_of(row);
  let columns = columns_windows_of(column);
  for (var y = rows.begin; y < rows.end; y++) {
    for (var x = columns.begin; x < columns.end; x++) {
      let place = first_out + y * u.columns_out + x;
      ${work}
    }
  }`;
}

/** The index for a window without elements, which covers only padding. */
const kNoIndex = -1;

const kPooled = ["float32", "int64"] as const;

export const maxPool: Kernel<MaxPool> = {
  supported: { views: [kPooled, kPooled, ["int64"]] },

  play({ pool, x, y, indices }, commands): void {
    const isFloat = x.dtype === "float32";
    const least = isFloat ? "-infinity_f32()" : "vec2(0u, 0x80000000u)";
    const type = orderedType(x.dtype);
    dispatchPool(commands, makePlanes(pool), {
      key: "max_pool",
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "y", view: y, mode: "write" },
        { name: "places", view: indices, mode: "write", as: "index" },
      ],
      each: "out",
      work: `var largest = ${least};
  let rows = rows_window(row);
  let columns = columns_window(column);
  let is_empty = rows.begin >= rows.end || columns.begin >= columns.end;
  var place = select(rows.begin * u.columns_in + columns.begin, ${kNoIndex}, is_empty);
  ${overWindow(`let value = load_x(u32(first_in + y * u.columns_in + x));
      if (${lessText(type, "largest", "value")}${isFloat ? " || is_nan_f32(value)" : ""}) {
        largest = value;
        place = y * u.columns_in + x;
      }`)}
  store_y(i, largest);
  store_places(i, place);`,
    });
  },
};

export const maxPoolBackward: Kernel<MaxPoolBackward> = {
  supported: { views: [["float32"], ["int64"], ["float32"]] },

  play({ pool, gradY, indices, gradX }, commands): void {
    const memory: readonly Access[] = [
      { name: "g", view: gradY, mode: "read" },
      { name: "places", view: indices, mode: "read", as: "index" },
      { name: "grad_x", view: gradX, mode: "write" },
    ];
    const planes = makePlanes(pool);
    const isTiled = planes.rows.isTiled && planes.columns.isTiled;
    dispatchPool(
      commands,
      planes,
      isTiled
        ? { key: "max_pool_backward tiles", memory, each: "tiles", work: kFillTile }
        : { key: "max_pool_backward", memory, each: "in", work: kSumOfWindows },
    );
  },
};

const kSumOfWindows = `var sum = 0f;
  ${overWindows(`if (load_places(u32(place)) == row * u.columns_in + column) {
        sum += load_g(u32(place));
      }`)}
  store_grad_x(i, sum);`;

const kFillTile = `var place = ${kNoIndex};
  var g = 0f;
  if (row < u.rows_out && column < u.columns_out) {
    let window = u32(first_out + row * u.columns_out + column);
    place = load_places(window);
    g = load_g(window);
  }
  for (var y = row * u.rows_stride; y < min((row + 1) * u.rows_stride, u.rows_in); y++) {
    for (var x = column * u.columns_stride; x < min((column + 1) * u.columns_stride, u.columns_in); x++) {
      let at = y * u.columns_in + x;
      store_grad_x(u32(first_in + at), select(0f, g, at == place));
    }
  }`;

export const maxPoolPick: Kernel<MaxPoolPick> = {
  supported: { views: [kPooled, ["int64"], kPooled] },

  play({ pool, x, indices, y }, commands): void {
    dispatchPool(commands, makePlanes(pool), {
      key: "max_pool_pick",
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "places", view: indices, mode: "read", as: "index" },
        { name: "y", view: y, mode: "write" },
      ],
      each: "out",
      work: `let place = load_places(i);
  if (place == ${kNoIndex}) {
    store_y(i, ${x.dtype === "float32" ? "0f" : "vec2<u32>()"});
  } else {
    store_y(i, load_x(u32(first_in + place)));
  }`,
    });
  },
};

interface DivisorText {
  readonly key: string;
  /** The divisor for the sum of the window with rows `tall` and columns `wide`. */
  readonly text: string;
  /** The value of the uniform `divisor`, if the text uses it. */
  readonly number: number;
}

function divisorText({ countIncludePad, divisorOverride }: PoolDivisor): DivisorText {
  if (divisorOverride !== 0) return { key: "o", text: "u.divisor", number: divisorOverride };
  const size = (name: string) =>
    countIncludePad ? `${name}.padded` : `(${name}.end - ${name}.begin)`;
  const text = `f32(${size("tall")} * ${size("wide")})`;
  return { key: countIncludePad ? "p" : "", text, number: 1 };
}

export const avgPool: Kernel<AvgPool> = {
  supported: { all: ["float32"] },

  play({ pool, divisor, x, y }, commands): void {
    const { key, text, number } = divisorText(divisor);
    dispatchPool(commands, makePlanes(pool), {
      key: `avg_pool ${key}`,
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "y", view: y, mode: "write" },
      ],
      f32: { divisor: number },
      each: "out",
      work: `var sum = 0f;
  ${overWindow("sum += load_x(u32(first_in + y * u.columns_in + x));")}
  store_y(i, sum / ${text});`,
    });
  },
};

export const avgPoolBackward: Kernel<AvgPoolBackward> = {
  supported: { all: ["float32"] },

  play({ pool, divisor, gradY, gradX }, commands): void {
    const { key, text, number } = divisorText(divisor);
    dispatchPool(commands, makePlanes(pool), {
      key: `avg_pool_backward ${key}`,
      memory: [
        { name: "g", view: gradY, mode: "read" },
        { name: "grad_x", view: gradX, mode: "write" },
      ],
      f32: { divisor: number },
      each: "in",
      work: `var sum = 0f;
  ${overWindows(`let tall = rows_window(y);
      let wide = columns_window(x);
      if (is_in_rows(tall, row) && is_in_columns(wide, column)) {
        sum += load_g(u32(place)) / ${text};
      }`)}
  store_grad_x(i, sum);`,
    });
  },
};
