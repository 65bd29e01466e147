// The shader of steps: a table tells which workgroups each has, and where its memory begins.

import type { Block } from "../blocks";
import { forEach, invocations, kThreads, workgroups } from "../kernels/invocations";
import type { Dispatch } from "../recorder";
import { type Access, isFoursAligned, kFoursType, kTableFours, unitBytes } from "../shader";
import type { StepFunctions, StepMemory, StepOptions } from "./step_kernel";

/** One step, and where its memory is. */
export interface Step {
  readonly kernel: StepFunctions;
  /** What tells shaders apart, besides the options. */
  readonly key: string;
  /** Seen in fours or not, all of it alike. */
  readonly memory: readonly Access[];
  /** In what it is seen in. */
  readonly count: number;
}

/** That a workgroup does: so many that finding out which does not matter. */
const kPerGroup = 4 * kThreads;

export function makeStep(kernel: StepFunctions, { memory, count }: StepMemory): Step {
  const inFours = count % 4 === 0 && memory.every(({ view }) => isFoursAligned(view));
  return {
    kernel,
    key: `${memory.map(({ name }) => name)}${inFours ? " fours" : ""}`,
    memory: inFours ? memory.map((one) => ({ ...one, as: "fours" })) : memory,
    count: inFours ? count / 4 : count,
  };
}

/** The blocks that a shader sees, with others in them. */
export function boundBlocks({ memory }: Step): Block[] {
  return memory.map(({ view: { block } }) => block.arena?.whole ?? block);
}

/** How many steps one dispatch can do. */
export function maxSteps({ memory }: Step): number {
  return Math.floor(kTableFours / foursOfRow(memory));
}

/** The dispatch of steps of one key that see the same blocks. */
export function stepsDispatch(steps: readonly Step[], options: StepOptions): Dispatch {
  const [first] = steps as [Step];
  if (steps.length === 1) return stepDispatch(first, options);
  const bound = boundBlocks(first);
  const table: number[] = [];
  let groups = 0;
  for (const step of steps) {
    table.push(...rowOf(step, groups));
    groups += Math.ceil(step.count / kPerGroup);
  }
  return {
    key: `${options.key} ${first.key}`,
    memory: first.memory.map((access, i) => ({
      ...access,
      name: `all_${access.name}`,
      view: { ...access.view, block: bound[i] as Block, offset: 0 },
    })),
    uniforms: { u32: { steps: steps.length }, f32: options.uniforms, table },
    workgroups: workgroups(groups),
    body: () => textOf(first, options),
  };
}

// Without a table, which costs a processor as much as a third of the step.
function stepDispatch(step: Step, options: StepOptions): Dispatch {
  return {
    key: `${options.key} ${step.key} alone`,
    memory: step.memory,
    uniforms: { u32: { count: step.count }, f32: options.uniforms },
    workgroups: invocations(step.count),
    body: () => `${functionsOf(step)}\n${forEach(workOf(step, options))}`,
  };
}

function functionsOf({ kernel, memory }: Step): string {
  return memory[0]?.as === "fours" ? kernel.functionsOfFours : kernel.functions;
}

function workOf({ memory }: Step, options: StepOptions): string {
  return options.work((name) => memory.some((access) => access.name === name));
}

// Its first workgroup, how many `i` there are, and where each memory begins.
function rowOf({ memory, count }: Step, firstGroup: number): number[] {
  const row: number[] = new Array(4 * foursOfRow(memory)).fill(0);
  row[0] = firstGroup;
  row[1] = count;
  for (const [i, access] of memory.entries()) {
    const { block, offset } = access.view;
    const base = block.arena === undefined ? 0 : block.offset;
    row[2 + i] = (base + offset) / unitBytes(access);
  }
  return row;
}

function foursOfRow(memory: readonly Access[]): number {
  return Math.ceil((2 + memory.length) / 4);
}

function textOf(step: Step, options: StepOptions): string {
  const { memory } = step;
  const type = memory[0]?.as === "fours" ? kFoursType : "f32";
  const access = memory.map(({ name, mode }) => {
    const load = `var<private> begin_${name}: u32;
fn load_${name}(i: u32) -> ${type} { return load_all_${name}(begin_${name} + i); }`;
    if (mode === "read") return load;
    return `${load}
fn store_${name}(i: u32, value: ${type}) { store_all_${name}(begin_${name} + i, value); }`;
  });
  const begins = memory.map(
    ({ name }, i) => `begin_${name} = u.table[row + ${(i + 2) >> 2}u][${(i + 2) & 3}];`,
  );
  const fours = foursOfRow(memory);
  return `${access.join("\n")}
${functionsOf(step)}
@compute @workgroup_size(${kThreads})
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let group = id.x + id.y * groups.x;
  var step = 0u;
  var end = u.steps;
  while (end - step > 1u) {
    let middle = (step + end) / 2u;
    if (u.table[middle * ${fours}u][0] <= group) {
      step = middle;
    } else {
      end = middle;
    }
  }
  let row = step * ${fours}u;
  let first = (group - u.table[row][0]) * ${kPerGroup}u + lane;
  let last = min(first + ${kPerGroup}u, u.table[row][1]);
  ${begins.join("\n  ")}
  for (var i = first; i < last; i += ${kThreads}u) {
    ${workOf(step, options)}
  }
}
`;
}
