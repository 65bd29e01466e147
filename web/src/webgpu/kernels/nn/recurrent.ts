// The steps of LSTM layers: one dispatch each, forward and backward. An invocation computes one unit of the state, for a few
// rows, because the rows share the weights.

import type { LstmStep, LstmStepBackward } from "../../../generated/stream";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";
import { accesses } from "./rows";

/** A device with more invocations than this is busy. */
const kBusy = 2 ** 15;

/** Chooses the rows of an invocation; on a device that computes on the CPU, reading weights costs most. */
function rowsPerInvocation({ isSoftware }: Commands, rows: number, width: number): number {
  if (rows < 4) return 1;
  return isSoftware || rows * width >= 4 * kBusy ? 4 : 1;
}

function sizesOf(rows: number, width: number, each: number) {
  return { count: Math.ceil(rows / each) * width, rows, width };
}

const repeat = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join("\n");

// The unit of an invocation and its first row; a row after the last one computes the same as the last one.
const rowsText = (each: number) => `let unit = i % u.width;
  let first = i / u.width * ${each}u;
  ${repeat(each, (r) => `let row_${r} = min(first + ${r}u, u.rows - 1u);`)}`;

export const lstmStep: Kernel<LstmStep> = {
  supported: { all: ["float32"] },

  play(call, commands): void {
    const { rows, width, inputGates, hidden, weight, bias, state, gates } = call;
    const each = rowsPerInvocation(commands, rows, width);
    const finish = (r: number) => `if (first + ${r}u < u.rows) {
    let at = row_${r} * 4u * u.width + unit;
    let input = sigmoid_f32(sums_${r}.x + load_x(at));
    let forget = sigmoid_f32(sums_${r}.y + load_x(at + u.width));
    let candidate = tanh_f32(sums_${r}.z + load_x(at + 2u * u.width));
    let output = sigmoid_f32(sums_${r}.w + load_x(at + 3u * u.width));
    let kept = forget * load_state(row_${r} * u.width + unit) + input * candidate;
    store_gates(at, input);
    store_gates(at + u.width, forget);
    store_gates(at + 2u * u.width, candidate);
    store_gates(at + 3u * u.width, output);
    store_next_state(row_${r} * u.width + unit, kept);
    store_next_hidden(row_${r} * u.width + unit, output * tanh_f32(kept));
  }`;
    const start = bias
      ? "vec4(load_bias(unit), load_bias(unit + u.width), load_bias(unit + 2u * u.width), load_bias(unit + 3u * u.width))"
      : "vec4(0f)";
    commands.dispatch({
      key: `lstm_step ${each} ${!!bias}`,
      memory: [
        ...accesses("read", { x: inputGates, hidden, weight, bias, state }),
        ...accesses("write", { gates, next_state: call.nextState, next_hidden: call.nextHidden }),
      ],
      uniforms: { u32: sizesOf(rows, width, each) },
      workgroups: invocations(Math.ceil(rows / each) * width),
      body: () =>
        forEach(`${rowsText(each)}
  let start = ${start};
  ${repeat(each, (r) => `var sums_${r} = start;`)}
  let block = u.width * u.width;
  for (var k = 0u; k < u.width; k++) {
    let at = unit * u.width + k;
    let weights = vec4(load_weight(at), load_weight(at + block), load_weight(at + 2u * block), load_weight(at + 3u * block));
    ${repeat(each, (r) => `sums_${r} += weights * load_hidden(row_${r} * u.width + k);`)}
  }
  ${repeat(each, finish)}`),
    });
  },
};

export const lstmStepBackward: Kernel<LstmStepBackward> = {
  supported: { all: ["float32"] },

  play(call, commands): void {
    const { rows, width, weight, gates, state, nextState, gradOutput, gradHidden } = call;
    const { nextGradGates, gradState, gradGates } = call;
    const each = rowsPerInvocation(commands, rows, width);
    const finish = (r: number) => `if (first + ${r}u < u.rows) {
    let at = row_${r} * 4u * u.width + unit;
    let here = row_${r} * u.width + unit;
    let input = load_gates(at);
    let forget = load_gates(at + u.width);
    let candidate = load_gates(at + 2u * u.width);
    let output = load_gates(at + 3u * u.width);
    let shown = tanh_f32(load_next_state(here));
    let g = sum_${r}${gradOutput ? " + load_grad_output(here)" : ""}${gradHidden ? " + load_grad_hidden(here)" : ""};
    let kept = load_grad_state(here) + g * output * (1f - shown * shown);
    store_grad_gates(at, kept * candidate * (input * (1f - input)));
    store_grad_gates(at + u.width, kept * load_state(here) * (forget * (1f - forget)));
    store_grad_gates(at + 2u * u.width, kept * input * (1f - candidate * candidate));
    store_grad_gates(at + 3u * u.width, g * shown * (output * (1f - output)));
    store_grad_state(here, kept * forget);
  }`;
    const product = `for (var k = 0u; k < 4u * u.width; k++) {
    let weight = load_weight(k * u.width + unit);
    ${repeat(each, (r) => `sum_${r} += weight * load_next_gates(row_${r} * 4u * u.width + k);`)}
  }`;
    commands.dispatch({
      key: `lstm_step_backward ${each} ${!!gradOutput} ${!!gradHidden} ${!!nextGradGates}`,
      memory: [
        ...accesses("read", {
          weight: nextGradGates && weight,
          gates,
          state,
          next_state: nextState,
          grad_output: gradOutput,
          grad_hidden: gradHidden,
          next_gates: nextGradGates,
        }),
        ...accesses("write", { grad_state: gradState, grad_gates: gradGates }),
      ],
      uniforms: { u32: sizesOf(rows, width, each) },
      workgroups: invocations(Math.ceil(rows / each) * width),
      body: () =>
        forEach(`${rowsText(each)}
  ${repeat(each, (r) => `var sum_${r} = 0f;`)}
  ${nextGradGates ? product : ""}
  ${repeat(each, finish)}`),
    });
  },
};
