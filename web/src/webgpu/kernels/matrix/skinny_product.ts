// Matrix products with few rows or columns. The other operand is the long one: its elements are read once, four at a time and in the order
// of its memory, and each is used for all of the few lines. What limits them is the memory of the long operand: 2 to 16 multiply-adds for
// every 4 bytes of it.

import type { Commands } from "../kernel";
import { chooseLanes, combineLanes, dispatchOfLanes, forEachLane } from "../lanes";
import { range } from "../text";
import { factorText, type OperandName, type TiledProduct } from "./tiled_product";

/** With more rows and columns, tiles have more work for every number that they read. */
const kMostLines = { hardware: 8, software: 3 };

/** Lines of the long operand that software reads together if they are neighbors, so that fewer numbers of the short one are read again. */
const kSharedLines = 8;
/** With fewer positions that share, some cores would be idle. */
const kEnoughPositions = 64;

/** Whether this way is better than tiles. */
export function isSkinny({ isSoftware }: Commands, { m, n, vec4s }: TiledProduct): boolean {
  const most = isSoftware ? kMostLines.software : kMostLines.hardware;
  return vec4s !== undefined && Math.min(m, n) <= most;
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

/** The sums of one of the few lines with a line, or with the four lines of a part. */
interface Sum {
  readonly name: string;
  readonly i: number;
  readonly part: number;
}

/** Multiplies the matrices of a call whose layout permits access as vec4s; returns false if its results cannot be written so. */
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
  // Four columns of a row are neighbors; rows are not.
  const writesVec4s = call.vec4s?.hasResults === true && !isTall && !long.isAlong;
  const vec4s = call.vec4s?.hasResults && !writesVec4s ? call.vec4s.withSingleResults : call.vec4s;
  if (vec4s === undefined) return false;
  const most = Math.max(m, n);
  const sharesShort =
    commands.isSoftware &&
    !long.isAlong &&
    most % kSharedLines === 0 &&
    (count * most) / kSharedLines >= kEnoughPositions;
  // Vec4s of neighboring lines.
  const parts = range(sharesShort ? kSharedLines / 4 : 1);
  const lines = long.isAlong ? most : Math.ceil(most / 4 / parts.length);
  const positions = count * lines;
  const chosen = chooseLanes(commands, positions, k / 4, long.isAlong);
  const sums = range(few).flatMap((i) =>
    parts.map((part): Sum => ({ name: `sum_${i}_${part}`, i, part })),
  );
  const { memory, functions } = vec4s;
  const type = long.isAlong ? "f32" : "vec4<f32>";
  const dispatch = dispatchOfLanes(chosen, positions, (lanes) => ({
    key: `skinny_product ${few} ${isTall} ${long.isAlong} ${short.isAlong} ${writesVec4s} ${parts.length} ${call.key}`,
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
  let line = position % u.lines${long.isAlong ? "" : ` * ${4 * parts.length}u`};
  let from_a = first_a(batch);
  let from_b = first_b(batch);
  ${sums.map(({ name }) => `var ${name} = ${type}();`).join("\n  ")}
  ${startText(long)}
  let vec4s = u.k / 4u;
  for (var four = lane; four < vec4s; four += kLanes) {
    ${longText(long, parts)}
    ${shortText(short, few)}
    ${sums.map((sum) => `${sum.name} += ${sumText(long, short, sum)};`).join("\n    ")}
  }
  ${sums.map(({ name }) => `${name} = sum_of_lanes(thread, ${name});`).join("\n  ")}
  if (lane == 0u && is_inside) {
    ${sums.map((sum) => finishText(sum, isTall, long.isAlong, writesVec4s)).join("\n    ")}
  }`,
        ),
      ].join("\n"),
  }));
  commands.dispatch(dispatch);
  return true;
}

// Where the lines of a position begin, and how far its steps are apart, in vec4s: uniforms are not read again in every step.
function startText({ name, isAlong, perLine, perStep }: Operand): string {
  const line = isAlong ? `line * u.${perLine}` : "line";
  const start = `var at = (from_${name} + ${line}) / 4u`;
  if (isAlong) return `${start} + lane;`;
  return `let apart = u.${perStep} / 4u;
  ${start} + 4u * lane * apart;`;
}

// Four steps of a line, or the lines at each of four steps.
function longText({ load, isAlong }: Operand, parts: readonly number[]): string {
  if (isAlong) return `let long = ${load("at")};\n    at += kLanes;`;
  const loads = range(4).flatMap((step) =>
    parts.map((part) => `let long_${step}_${part} = ${load(`at + ${step}u * apart + ${part}u`)};`),
  );
  return [...loads, "at += 4u * kLanes * apart;"].join("\n    ");
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

function sumText(long: Operand, short: Operand, { i, part }: Sum): string {
  const elementText = (step: number) =>
    short.isAlong ? `short_${i}[${step}]` : `short_${step}_${i >> 2}[${i & 3}]`;
  if (!long.isAlong)
    return range(4)
      .map((step) => `${elementText(step)} * long_${step}_${part}`)
      .join(" + ");
  return `dot(long, ${short.isAlong ? `short_${i}` : `vec4(${range(4).map(elementText)})`})`;
}

function finishText(
  { name, i, part }: Sum,
  isTall: boolean,
  isAlong: boolean,
  writesVec4s: boolean,
): string {
  const first = part === 0 ? "line" : `line + ${4 * part}u`;
  if (writesVec4s) return `finish_vec4s(first_c(batch), ${i}u, ${first}, ${name});`;
  const finish = (line: string, sum: string) =>
    `finish(first_c(batch), ${isTall ? `${line}, ${i}u` : `${i}u, ${line}`}, ${sum});`;
  if (isAlong) return finish("line", name);
  return range(4)
    .map(
      (lane) => `if (${first} + ${lane}u < u.${isTall ? "m" : "n"}) {
      ${finish(`${first} + ${lane}u`, `${name}[${lane}]`)}
    }`,
    )
    .join("\n    ");
}
