// The shader in which a workgroup computes a tile of a matrix product (tile_classes.ts says why it has this form).
//
// The lines of an operand are the rows of A and the columns of B. A tile of an operand is in workgroup memory as vectors of four numbers:
// four steps of a line if a line is contiguous in memory and can be read so, and otherwise four neighboring lines at a step. An invocation
// reads whole vectors in the same form, which decides where its lines are.

import { kWgslTypes } from "../../element_types";
import { range } from "../text";
import { linesOf, type Tile } from "./tile_classes";
import {
  factorText,
  mainHead,
  type OperandName,
  operandType,
  type TiledProduct,
} from "./tiled_product";

/** Whether the elements of a line are contiguous. */
function isAlong({ isARowMajor, isBRowMajor }: TiledProduct, name: OperandName): boolean {
  return name === "a" ? isARowMajor : !isBRowMajor;
}

/** Whether results of four columns are neighbors in an invocation, so that they can be written together. */
export function hasFourColumns(call: TiledProduct): boolean {
  return call.vec4s === undefined || !isAlong(call, "b");
}

/** Returns what the text depends on, apart from the functions that it calls. */
export function tileKey(call: TiledProduct, shape: Tile): string {
  const { across, down, columns, rows, steps } = shape;
  const form = `${call.isARowMajor} ${call.isBRowMajor} ${call.vec4s?.hasResults}${call.halves.map((name) => ` ${tileType(call, shape, name)}`)}`;
  return `tiles ${across} ${down} ${columns} ${rows} ${steps} ${form}`;
}

/** The WGSL type of numbers in workgroup memory. */
function tileType(call: TiledProduct, { keepsHalves }: Tile, name: OperandName): string {
  return keepsHalves ? operandType(call, name) : kWgslTypes[call.type];
}

/**
 * Returns the main function. The range of its sums is defined by batch_of(z), first_step(z) and last_step(z); give(z, row, column, sum)
 * receives the results, or give_vec4s those of four columns.
 */
export function tilesText(call: TiledProduct, shape: Tile, writesVec4s: boolean): string {
  const type = kWgslTypes[call.type];
  const { across, down, steps } = shape;
  const threads = across * down;
  const a = operandOf(call, shape, "a");
  const b = operandOf(call, shape, "b");
  const both = [a, b];
  const each = (text: (operand: Operand) => string) => both.map(text).join("\n  ");
  const vec4s = range(shape.columns / 4);
  const sums = range(shape.rows).flatMap((i) => vec4s.map((j) => `sum_${i}_${j}`));
  return `${both.map(({ name, type, size }) => `var<workgroup> ${name}_tile: array<vec4<${type}>, ${2 * size}>;\n`).join("")}${mainHead(threads)}
  let tile = group.x + group.y * groups.x;
  let row = tile / u.columns * ${linesOf(shape).a}u;
  let column = tile % u.columns * ${linesOf(shape).b}u;
  let x = thread % ${across}u;
  let y = thread / ${across}u;
  let end = last_step(group.z);
  ${each(({ placesText }) => placesText)}
  ${sums.map((sum) => `var ${sum} = vec4<${type}>(0);`).join("\n  ")}
  var step = first_step(group.z);
  ${each(({ loadText }) => loadText("step"))}
  ${each(({ storeText }) => storeText("0u"))}
  workgroupBarrier();
  var now = 0u;
  for (; step < end; step += ${steps}u) {
    let next = step + ${steps}u;
    if (next < end) {
      ${each(({ loadText }) => loadText("next"))}
    }
    for (var four = 0u; four < ${steps / 4}u; four++) {
      ${stepsText(shape, a, b)}
    }
    now = 1u - now;
    if (next < end) {
      ${each(({ storeText }) => storeText("now"))}
    }
    workgroupBarrier();
  }
  ${writesVec4s ? giveVec4sText(shape, a, b) : giveText(shape, a, b)}
}
`;
}

interface Operand {
  readonly name: OperandName;
  /** The WGSL type of its numbers in a tile. */
  readonly type: string;
  /** Vectors of a tile. */
  readonly size: number;
  /** Whether vectors are steps of a line (true) or lines at a step. */
  readonly isInSteps: boolean;
  /** Vectors that an invocation reads: for four steps (true), or for one. */
  readonly own: number;
  /** Statements before the loop; statements that read the vectors of a tile from memory, and that put them into tile 0 or 1. */
  readonly placesText: string;
  loadText(step: string): string;
  storeText(tile: string): string;
  /** The statement that reads the i-th vector of an invocation, at a step of the four unless the vectors are in steps. */
  readText(i: number, step: number): string;
  /** The value of the i-th line of an invocation at a step, and the values of four. */
  one(i: number, step: number): string;
  four(j: number, step: number): string;
  /** The row or column of the i-th line of an invocation. */
  at(i: number): string;
}

function operandOf(call: TiledProduct, shape: Tile, name: OperandName): Operand {
  const { across, down, columns, rows, steps } = shape;
  const threads = across * down;
  const lines = linesOf(shape)[name];
  const [own, spread, me, first] =
    name === "a"
      ? ([rows, down, "y", "row"] as const)
      : ([columns, across, "x", "column"] as const);
  const along = isAlong(call, name);
  const isInSteps = along && call.vec4s !== undefined;
  const size = (lines * steps) / 4;
  const loads = range(size / threads);
  // Invocations that write neighboring steps would ask the same banks.
  const isSwizzled = along && !isInSteps;
  const line = (i: number) => `${name}_line_${i}`;
  const type = tileType(call, shape, name);
  const isKept = type === "f16";
  // Four numbers as they come from memory, in the type of the tile, and four of a tile, in the type of the sums.
  const toTile = (four: string) => (isKept ? four : factorText(call, name, four, "vec4<f32>"));
  const fromTile = (four: string) => (isKept ? factorText(call, name, four, "vec4<f32>") : four);
  const shared = { name, type, size, isInSteps };
  const ownText = {
    readText: (i: number, step: number) =>
      isInSteps
        ? `let ${name}_${i} = ${fromTile(`${name}_tile[now * ${size}u + four * ${lines}u + ${me} + ${i * spread}u]`)};`
        : `let ${name}_${step}_${i} = ${fromTile(`${name}_tile[now * ${size}u + (4u * four + ${step}u) * ${lines / 4}u + ${isSwizzled ? `(${me} ^ ((4u * four + ${step}u) & 7u))` : me} + ${i * spread}u]`)};`,
    one: (i: number, step: number) =>
      isInSteps ? `${name}_${i}[${step}]` : `${name}_${step}_${i >> 2}[${i & 3}]`,
    four: (j: number, step: number) =>
      isInSteps
        ? `vec4(${range(4).map((part) => `${name}_${4 * j + part}[${step}]`)})`
        : `${name}_${step}_${j}`,
    at: (i: number) =>
      isInSteps
        ? `${first} + ${me} + ${i * spread}u`
        : `${first} + 4u * (${me} + ${(i >> 2) * spread}u) + ${i & 3}u`,
    own: isInSteps ? own : own / 4,
    storeText: (tile: string) =>
      loads
        .map((i) => `${name}_tile[${tile} * ${size}u + ${name}_slot_${i}] = ${name}_next_${i};`)
        .join("\n      "),
  };
  const nextText = loads.map((i) => `var ${name}_next_${i}: vec4<${type}>;`);
  const id = (i: number) => (i === 0 ? "thread" : `(thread + ${i * threads}u)`);
  // The step of a vector within the tile, its line or lines, and its place in workgroup memory.
  const placeText = (i: number) => {
    if (isInSteps)
      return `let ${name}_k_${i} = ${id(i)} % ${steps / 4}u * 4u;
  let ${name}_first_${i} = ${first} + ${id(i)} / ${steps / 4}u;
  let ${name}_slot_${i} = ${id(i)} % ${steps / 4}u * ${lines}u + ${id(i)} / ${steps / 4}u;`;
    const [k, place] = along
      ? [`${id(i)} % ${steps}u`, `${id(i)} / ${steps}u`]
      : [`${id(i)} / ${lines / 4}u`, `${id(i)} % ${lines / 4}u`];
    return `let ${name}_k_${i} = ${k};
  let ${name}_first_${i} = ${first} + ${place} * 4u;
  let ${name}_slot_${i} = ${name}_k_${i} * ${lines / 4}u + ${isSwizzled ? `((${place}) ^ (${name}_k_${i} & 7u))` : place};`;
  };
  const zero = `vec4<${type}>(0)`;
  if (call.vec4s === undefined) {
    const linesText = (i: number) =>
      range(4).map(
        (part) =>
          `let ${line(i)}_${part} = ${name}_line(from_${name}, ${name}_first_${i} + ${part}u);`,
      );
    return {
      ...shared,
      ...ownText,
      placesText: loads.flatMap((i) => [placeText(i), ...linesText(i), nextText[i]]).join("\n  "),
      loadText: (step) =>
        loads
          .map(
            (i) => `let ${name}_step_${i} = ${name}_step(from_${name}, ${step} + ${name}_k_${i});
      ${name}_next_${i} = select(${zero}, ${toTile(`vec4(${range(4).map((part) => `${name}_value(${line(i)}_${part}, ${name}_step_${i})`)})`)}, ${step} + ${name}_k_${i} < end);`,
          )
          .join("\n      "),
    };
  }
  // Strides of lines and steps, in vec4s.
  const [perLine, perStep] = name === "a" ? ["a_row", "a_column"] : ["b_column", "b_row"];
  const from = (i: number) =>
    isInSteps
      ? `(from_${name} + ${name}_first_${i} * u.${perLine} + ${name}_k_${i}) / 4u`
      : `(from_${name} + ${name}_first_${i} + ${name}_k_${i} * u.${perStep}) / 4u`;
  const offset = (step: string) => (isInSteps ? `${step} / 4u` : `${step} * (u.${perStep} / 4u)`);
  return {
    ...shared,
    ...ownText,
    placesText: loads
      .flatMap((i) => [placeText(i), `let ${line(i)} = ${from(i)};`, nextText[i]])
      .join("\n  "),
    loadText: (step) =>
      loads
        .map(
          (i) =>
            `${name}_next_${i} = select(${zero}, ${toTile(`load_${name}(${line(i)} + ${offset(step)})`)}, ${step} + ${name}_k_${i} < end);`,
        )
        .join("\n      "),
  };
}

// Four steps of all sums. What is in steps is read once; of the rest, only the values of one step are needed at a time.
function stepsText(shape: Tile, a: Operand, b: Operand): string {
  const vec4s = range(shape.columns / 4);
  const add = (i: number, step: number) =>
    vec4s.map((j) => `sum_${i}_${j} += ${a.one(i, step)} * ${b.four(j, step)};`);
  const reads = (operand: Operand, step: number) =>
    range(operand.own).map((i) => operand.readText(i, step));
  const rows = range(shape.rows);
  const lines = a.isInSteps
    ? [
        ...(b.isInSteps ? reads(b, 0) : range(4).flatMap((step) => reads(b, step))),
        ...rows.flatMap((i) => [a.readText(i, 0), ...range(4).flatMap((step) => add(i, step))]),
      ]
    : [
        ...(b.isInSteps ? reads(b, 0) : []),
        ...range(4).flatMap((step) => [
          ...(b.isInSteps ? [] : reads(b, step)),
          ...reads(a, step),
          ...rows.flatMap((i) => add(i, step)),
        ]),
      ];
  return lines.join("\n      ");
}

function giveText(shape: Tile, a: Operand, b: Operand): string {
  const results = range(shape.rows).flatMap((i) =>
    range(shape.columns).map(
      (j) => `if (${a.at(i)} < u.m && ${b.at(j)} < u.n) {
    give(group.z, ${a.at(i)}, ${b.at(j)}, sum_${i}_${j >> 2}[${j & 3}]);
  }`,
    ),
  );
  return results.join("\n  ");
}

function giveVec4sText(shape: Tile, a: Operand, b: Operand): string {
  const results = range(shape.rows).flatMap((i) =>
    range(shape.columns / 4).map(
      (j) => `if (${a.at(i)} < u.m && ${b.at(4 * j)} < u.n) {
    give_vec4s(group.z, ${a.at(i)}, ${b.at(4 * j)}, sum_${i}_${j});
  }`,
    ),
  );
  return results.join("\n  ");
}
