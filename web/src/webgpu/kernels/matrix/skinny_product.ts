// Matrix products with few rows or columns. The other operand is the long one: its elements are read once, four at a time and in the order
// of its memory, and each is used for all of the few lines. What limits them is the memory of the long operand: 2 to 16 multiply-adds for
// every 4 bytes of it.

import type { Commands } from "../kernel";
import { chooseLanes, combineLanes, dispatchOfLanes, forEachLane } from "../lanes";
import { range } from "../text";
import { factorText, type OperandName, type TiledProduct } from "./tiled_product";

/** With more rows and columns, tiles have more work for every number that they read. */
const kMostLines = { hardware: 8, software: 3 };

/** Whether this way is better than tiles. */
export function isSkinny({ isSoftware }: Commands, { m, n, fours }: TiledProduct): boolean {
  const most = isSoftware ? kMostLines.software : kMostLines.hardware;
  return fours !== undefined && Math.min(m, n) <= most;
}

/** A line is a row of A or a column of B; its elements may be contiguous in memory. */
interface Operand {
  readonly name: OperandName;
  /** Returns the WGSL of four numbers at a place. */
  load(place: string): string;
  readonly isAlong: boolean;
  /** The uniforms with the distances of lines and of steps. */
  readonly perLine: string;
  readonly perStep: string;
}

/** Multiplies the matrices of a call whose layout permits access as fours; returns false if its results cannot be written so. */
export function multiplySkinny(commands: Commands, call: TiledProduct): boolean {
  const { m, n, k, count, isARowMajor, isBRowMajor } = call;
  const load = (name: OperandName) => (place: string) =>
    factorText(call, name, `load_${name}(${place})`, "vec4<f32>");
  const a: Operand = {
    name: "a",
    load: load("a"),
    isAlong: isARowMajor,
    perLine: "a_row",
    perStep: "a_column",
  };
  const b: Operand = {
    name: "b",
    load: load("b"),
    isAlong: !isBRowMajor,
    perLine: "b_column",
    perStep: "b_row",
  };
  const isTall = n <= m;
  const [long, short] = isTall ? [a, b] : [b, a];
  const few = Math.min(m, n);
  // Four columns of a row are neighbours; rows are not.
  const givesFours = call.fours?.hasResults === true && !isTall && !long.isAlong;
  const fours = call.fours?.hasResults && !givesFours ? call.fours.withSingleResults : call.fours;
  if (fours === undefined) return false;
  const lines = long.isAlong ? Math.max(m, n) : Math.ceil(Math.max(m, n) / 4);
  const positions = count * lines;
  const chosen = chooseLanes(commands, positions, k / 4, long.isAlong);
  const { memory, functions } = fours;
  const type = long.isAlong ? "f32" : "vec4<f32>";
  const dispatch = dispatchOfLanes(chosen, positions, (lanes) => ({
    key: `skinny_product ${few} ${isTall} ${long.isAlong} ${short.isAlong} ${givesFours} ${call.key}`,
    memory,
    uniforms: { ...call.uniforms, u32: { ...call.uniforms.u32, positions, lines } },
    stores: call.stores ?? [],
    body: () =>
      [
        functions(),
        combineLanes("sum_of_lanes", lanes, { type, text: "a + b" }),
        forEachLane(
          lanes,
          `let batch = position / u.lines;
  let line = position % u.lines${long.isAlong ? "" : " * 4u"};
  let from_a = first_a(batch);
  let from_b = first_b(batch);
  ${range(few)
    .map((i) => `var sum_${i} = ${type}();`)
    .join("\n  ")}
  for (var four = lane; four < u.k / 4u; four += kLanes) {
    ${longText(long)}
    ${shortText(short, few)}
    ${range(few)
      .map((i) => `sum_${i} += ${sumText(long, short, i)};`)
      .join("\n    ")}
  }
  ${range(few)
    .map((i) => `sum_${i} = sum_of_lanes(thread, sum_${i});`)
    .join("\n  ")}
  if (lane == 0u && is_inside) {
    ${range(few)
      .map((i) => finishText(i, isTall, long.isAlong, givesFours))
      .join("\n    ")}
  }`,
        ),
      ].join("\n"),
  }));
  commands.dispatch(dispatch);
  return true;
}

// Four steps of a line, or four lines at each of four steps.
function longText({ name, load, isAlong, perLine, perStep }: Operand): string {
  if (isAlong) return `let long = ${load(`(from_${name} + line * u.${perLine}) / 4u + four`)};`;
  return range(4)
    .map(
      (step) =>
        `let long_${step} = ${load(`(from_${name} + line + (4u * four + ${step}u) * u.${perStep}) / 4u`)};`,
    )
    .join("\n    ");
}

function shortText({ name, load, isAlong, perLine, perStep }: Operand, few: number): string {
  const texts = isAlong
    ? range(few).map(
        (i) => `let short_${i} = ${load(`(from_${name} + ${i}u * u.${perLine}) / 4u + four`)};`,
      )
    : range(Math.ceil(few / 4)).flatMap((j) =>
        range(4).map(
          (step) =>
            `let short_${step}_${j} = ${load(`(from_${name} + (4u * four + ${step}u) * u.${perStep}) / 4u + ${j}u`)};`,
        ),
      );
  return texts.join("\n    ");
}

function sumText(long: Operand, short: Operand, i: number): string {
  const one = (step: number) =>
    short.isAlong ? `short_${i}[${step}]` : `short_${step}_${i >> 2}[${i & 3}]`;
  if (!long.isAlong)
    return range(4)
      .map((step) => `${one(step)} * long_${step}`)
      .join(" + ");
  return `dot(long, ${short.isAlong ? `short_${i}` : `vec4(${range(4).map(one)})`})`;
}

function finishText(i: number, isTall: boolean, isAlong: boolean, givesFours: boolean): string {
  if (givesFours) return `finish_fours(first_c(batch), ${i}u, line, sum_${i});`;
  const finish = (line: string, sum: string) =>
    `finish(first_c(batch), ${isTall ? `${line}, ${i}u` : `${i}u, ${line}`}, ${sum});`;
  if (isAlong) return finish("line", `sum_${i}`);
  return range(4)
    .map(
      (part) => `if (line + ${part}u < u.${isTall ? "m" : "n"}) {
      ${finish(`line + ${part}u`, `sum_${i}[${part}]`)}
    }`,
    )
    .join("\n    ");
}
