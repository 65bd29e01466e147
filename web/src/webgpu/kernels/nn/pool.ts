// Pooling over windows of planes (src/kernels/pool.h). Gradients are gathered: an element of x goes through
// the windows that it lies in, so that sums have an order.

import type { Access } from "../../shader";
import type { Reader } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";

interface Axis {
  readonly numbers: Record<string, number>;
  readonly isAdaptive: boolean;
  readonly in: number;
  readonly out: number;
}

interface Planes {
  readonly planes: number;
  readonly rows: Axis;
  readonly columns: Axis;
}

function readAxis(fields: Reader, name: string): Axis {
  const [size, out, kernel, stride, padding, dilation] = Array.from({ length: 6 }, () =>
    fields.long(),
  ) as [number, number, number, number, number, number];
  return {
    in: size,
    out,
    isAdaptive: fields.bool(),
    numbers: {
      [`${name}_in`]: size,
      [`${name}_out`]: out,
      [`${name}_kernel`]: kernel,
      [`${name}_stride`]: stride,
      [`${name}_padding`]: padding,
      [`${name}_dilation`]: dilation,
    },
  };
}

function readPlanes(fields: Reader): Planes {
  return {
    planes: fields.long(),
    rows: readAxis(fields, "rows"),
    columns: readAxis(fields, "columns"),
  };
}

// What a window reads along an axis: begin, begin + dilation, ... before end; and its length with the
// padding. Then the windows that an element may lie in, and whether it does.
function axisText(name: string, { isAdaptive }: Axis): string {
  if (isAdaptive)
    return `fn ${name}_window(i: i32) -> Window {
  let begin = i * u.${name}_in / u.${name}_out;
  let end = ((i + 1) * u.${name}_in + u.${name}_out - 1) / u.${name}_out;
  return Window(begin, end, end - begin);
}
fn ${name}_windows_of(at: i32) -> Range {
  return Range(at * u.${name}_out / u.${name}_in, ((at + 1) * u.${name}_out - 1) / u.${name}_in + 1);
}
fn is_in_${name}(window: Window, at: i32) -> bool { return at >= window.begin && at < window.end; }
`;
  return `fn ${name}_window(i: i32) -> Window {
  let first = i * u.${name}_stride - u.${name}_padding;
  let padded_end = min(first + u.${name}_dilation * (u.${name}_kernel - 1) + 1, u.${name}_in + u.${name}_padding);
  let missed = max(0, -first);
  let begin = first + (missed + u.${name}_dilation - 1) / u.${name}_dilation * u.${name}_dilation;
  return Window(begin, min(padded_end, u.${name}_in), padded_end - first);
}
fn ${name}_windows_of(at: i32) -> Range {
  let reach = u.${name}_dilation * (u.${name}_kernel - 1);
  let least = max(0, at + u.${name}_padding - reach + u.${name}_stride - 1);
  return Range(least / u.${name}_stride, min((at + u.${name}_padding) / u.${name}_stride + 1, u.${name}_out));
}
fn is_in_${name}(window: Window, at: i32) -> bool {
  return at >= window.begin && at < window.end && (at - window.begin) % u.${name}_dilation == 0;
}
`;
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
  /** The result is a number per window, or one per element of the planes. */
  readonly isPerWindow: boolean;
  /** With `row` and `column` in the plane (or of the window) and `plane`. */
  readonly work: string;
}

function dispatchPool(commands: Commands, pool: Planes, shader: PoolShader): void {
  const { planes, rows, columns } = pool;
  const { key, memory, f32 = {}, isPerWindow, work } = shader;
  const size = isPerWindow ? rows.out * columns.out : rows.in * columns.in;
  const side = isPerWindow ? "out" : "in";
  const count = planes * size;
  commands.dispatch({
    key: `${key} ${rows.isAdaptive} ${columns.isAdaptive}`,
    memory,
    numbers: { u32: { count }, i32: { ...rows.numbers, ...columns.numbers }, f32 },
    workgroups: invocations(count),
    body: () =>
      functionsOf(pool) +
      forEach(`let column = i32(i) % u.columns_${side};
  let row = i32(i) / u.columns_${side} % u.rows_${side};
  let plane = i32(i) / (u.columns_${side} * u.rows_${side});
  let first_in = plane * u.rows_in * u.columns_in;
  let first_out = plane * u.rows_out * u.columns_out;
  ${work}`),
  });
}

// For all elements of the window at (row, column).
function overWindow(work: string): string {
  return `let tall = rows_window(row);
  let wide = columns_window(column);
  for (var y = tall.begin; y < tall.end; y += u.rows_dilation) {
    for (var x = wide.begin; x < wide.end; x += u.columns_dilation) {
      ${work}
    }
  }`;
}

// For all windows, by their `place` in the result, that the element at (row, column) may lie in.
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

const kPooled = ["float32", "int64"] as const;

export const maxPool: Kernel = {
  supported: { views: [kPooled, kPooled, ["int64"]] },

  play(fields: Reader, commands: Commands): void {
    const pool = readPlanes(fields);
    const x = fields.in();
    const y = fields.out();
    const places = fields.out();
    const isFloat = x.dtype === "float32";
    const least = isFloat ? "-infinity_f32()" : "-2147483647 - 1";
    dispatchPool(commands, pool, {
      key: "max_pool",
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "y", view: y, mode: "write" },
        { name: "places", view: places, mode: "write" },
      ],
      isPerWindow: true,
      work: `var largest = ${least};
  var place = rows_window(row).begin * u.columns_in + min(columns_window(column).begin, u.columns_in - 1);
  ${overWindow(`let value = load_x(u32(first_in + y * u.columns_in + x));
      if (value > largest${isFloat ? " || is_nan_f32(value)" : ""}) {
        largest = value;
        place = y * u.columns_in + x;
      }`)}
  store_y(i, largest);
  store_places(i, place);`,
    });
  },
};

export const maxPoolBackward: Kernel = {
  supported: { views: [["float32"], ["int64"], ["float32"]] },

  play(fields: Reader, commands: Commands): void {
    const pool = readPlanes(fields);
    const g = fields.in();
    const places = fields.in();
    const gradX = fields.out();
    dispatchPool(commands, pool, {
      key: "max_pool_backward",
      memory: [
        { name: "g", view: g, mode: "read" },
        { name: "places", view: places, mode: "read" },
        { name: "grad_x", view: gradX, mode: "write" },
      ],
      isPerWindow: false,
      work: `var sum = 0f;
  ${overWindows(`if (load_places(u32(place)) == row * u.columns_in + column) {
        sum += load_g(u32(place));
      }`)}
  store_grad_x(i, sum);`,
    });
  },
};

export const maxPoolPick: Kernel = {
  supported: { views: [kPooled, ["int64"], kPooled] },

  play(fields: Reader, commands: Commands): void {
    const pool = readPlanes(fields);
    const x = fields.in();
    const places = fields.in();
    const y = fields.out();
    dispatchPool(commands, pool, {
      key: "max_pool_pick",
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "places", view: places, mode: "read" },
        { name: "y", view: y, mode: "write" },
      ],
      isPerWindow: true,
      work: "store_y(i, load_x(u32(first_in + load_places(i))));",
    });
  },
};

interface Divisor {
  readonly key: string;
  /** What the sum of a window is divided by, which is `tall` and `wide`. */
  readonly text: string;
  /** If it is one that is given. */
  readonly number: number;
}

function readDivisor(fields: Reader): Divisor {
  const countsPadding = fields.bool();
  const override = fields.double();
  if (override !== 0) return { key: "o", text: "u.divisor", number: override };
  const size = (name: string) =>
    countsPadding ? `${name}.padded` : `(${name}.end - ${name}.begin)`;
  const text = `f32(${size("tall")} * ${size("wide")})`;
  return { key: countsPadding ? "p" : "", text, number: 1 };
}

export const avgPool: Kernel = {
  supported: { all: ["float32"] },

  play(fields: Reader, commands: Commands): void {
    const pool = readPlanes(fields);
    const { key, text, number } = readDivisor(fields);
    const x = fields.in();
    const y = fields.out();
    dispatchPool(commands, pool, {
      key: `avg_pool ${key}`,
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "y", view: y, mode: "write" },
      ],
      f32: { divisor: number },
      isPerWindow: true,
      work: `var sum = 0f;
  ${overWindow("sum += load_x(u32(first_in + y * u.columns_in + x));")}
  store_y(i, sum / ${text});`,
    });
  },
};

export const avgPoolBackward: Kernel = {
  supported: { all: ["float32"] },

  play(fields: Reader, commands: Commands): void {
    const pool = readPlanes(fields);
    const { key, text, number } = readDivisor(fields);
    const g = fields.in();
    const gradX = fields.out();
    dispatchPool(commands, pool, {
      key: `avg_pool_backward ${key}`,
      memory: [
        { name: "g", view: g, mode: "read" },
        { name: "grad_x", view: gradX, mode: "write" },
      ],
      f32: { divisor: number },
      isPerWindow: false,
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
