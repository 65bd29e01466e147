// The steps of recurrent layers: one dispatch each, forward and backward. An invocation computes one unit of the state, for a few
// rows, because the rows share the weights.

import type {
  RecurrentSizes,
  RecurrentStep,
  RecurrentStepBackward,
} from "../../../generated/stream";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";
import { type CellText, kCells } from "./recurrent_cells";
import { accesses } from "./rows";

/** A device with more invocations than this is busy. */
const kBusy = 2 ** 15;

/** Chooses the rows of an invocation; on a device that computes on the CPU, reading weights costs most. */
function rowsPerInvocation({ isSoftware }: Commands, { rows, width }: RecurrentSizes): number {
  if (rows < 4) return 1;
  return isSoftware || rows * width >= 4 * kBusy ? 4 : 1;
}

/** The size of a dispatch whose invocations have `each` rows. */
function dispatchSize({ rows, width }: RecurrentSizes, each: number) {
  const count = Math.ceil(rows / each) * width;
  return { uniforms: { u32: { count, rows, width } }, workgroups: invocations(count) };
}

const repeat = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join("\n  ");

// The unit of an invocation and its first row. A row after the last one computes the same as the last one, but stores nothing.
const rowsText = (each: number) => `let unit = i % u.width;
  let first = i / u.width * ${each}u;
  ${repeat(each, (r) => `let row_${r} = min(first + ${r}u, u.rows - 1u);`)}`;

const ofRow = (r: number, text: string) => `if (first + ${r}u < u.rows) {
    let row = row_${r};
    let here = row * u.width + unit;
    ${text}
  }`;

// One number for each gate, as a vector or, for one gate, as a number.
function ofGates({ gates }: CellText, text: (gate: number) => string): string {
  const numbers = Array.from({ length: gates }, (_, gate) => text(gate));
  return gates === 1 ? (numbers[0] as string) : `vec${gates}(${numbers.join(", ")})`;
}

export const recurrentStep: Kernel<RecurrentStep> = {
  supported: { all: ["float32"] },

  play(call, commands): void {
    const { sizes, inputGates, hidden, weight, bias, state, kept, nextState, nextHidden } = call;
    const cell = kCells[sizes.cell];
    const each = rowsPerInvocation(commands, sizes);
    commands.dispatch({
      key: `recurrent_step ${sizes.cell} ${each} ${!!bias}`,
      memory: [
        ...accesses("read", { x: inputGates, hidden, weight, bias, state }),
        ...accesses("write", { kept, next_state: nextState, next_hidden: nextHidden }),
      ],
      ...dispatchSize(sizes, each),
      body: () =>
        forEach(`${rowsText(each)}
  let start = ${ofGates(cell, (gate) => (bias ? `load_bias(unit + ${gate}u * u.width)` : "0f"))};
  ${repeat(each, (r) => `var sums_${r} = start;`)}
  let block = u.width * u.width;
  for (var k = 0u; k < u.width; k++) {
    let at = unit * u.width + k;
    let weights = ${ofGates(cell, (gate) => `load_weight(at + ${gate}u * block)`)};
    ${repeat(each, (r) => `sums_${r} += weights * load_hidden(row_${r} * u.width + k);`)}
  }
  ${repeat(each, (r) => ofRow(r, `let sums = sums_${r};\n    ${cell.step}`))}`),
    });
  },
};

export const recurrentStepBackward: Kernel<RecurrentStepBackward> = {
  supported: { all: ["float32"] },

  play(call, commands): void {
    const { sizes, weight, kept, state, nextState, gradOutput, gradHidden, nextGradGates } = call;
    const cell = kCells[sizes.cell];
    const each = rowsPerInvocation(commands, sizes);
    const product = `for (var k = 0u; k < ${cell.gates}u * u.width; k++) {
    let weight = load_weight(k * u.width + unit);
    ${repeat(each, (r) => `sum_${r} += weight * load_next_gates(row_${r} * ${cell.gates}u * u.width + k);`)}
  }`;
    const finish = (r: number) => {
      const others = `${gradOutput ? " + load_grad_output(here)" : ""}${gradHidden ? " + load_grad_hidden(here)" : ""}`;
      return ofRow(r, `let g = sum_${r}${others};\n    ${cell.gradient}`);
    };
    commands.dispatch({
      key: `recurrent_step_backward ${sizes.cell} ${each} ${!!gradOutput} ${!!gradHidden} ${!!nextGradGates}`,
      memory: [
        ...accesses("read", {
          weight: nextGradGates && weight,
          kept,
          state: cell.readsState ? state : undefined,
          next_state: cell.readsNextState ? nextState : undefined,
          grad_output: gradOutput,
          grad_hidden: gradHidden,
          next_gates: nextGradGates,
        }),
        ...accesses("write", {
          grad_state: call.gradState,
          grad_gates: call.gradGates,
          grad_input_gates: call.gradInputGates,
        }),
      ],
      ...dispatchSize(sizes, each),
      body: () =>
        forEach(`${rowsText(each)}
  ${repeat(each, (r) => `var sum_${r} = 0f;`)}
  ${nextGradGates ? product : ""}
  ${repeat(each, finish)}`),
    });
  },
};
