// The shader for joined steps: a table contains the first workgroup of each step and the offsets of its memory.

import type { Block } from "../blocks";
import { kVec4Type } from "../element_types";
import { forEach, invocations, kThreads, workgroups } from "../kernels/invocations";
import type { Dispatch } from "../recorder";
import { type Access, isVec4Aligned, kTableVec4s, unitBytes } from "../shader";
import { kSlotWords } from "../status";
import type { View } from "../stream";
import type { StepFunctions, StepMemory, StepOptions } from "./step_kernel";

/** One optimizer step with its memory. */
export interface Step {
  readonly kernel: StepFunctions;
  /** Identifies the shader, together with the options. */
  readonly key: string;
  /** Accessed either entirely as vec4s or entirely as floats. */
  readonly memory: readonly Access[];
  /** In units of the access: vec4s or floats. */
  readonly count: number;
}

/** How many status words a step looks at: those of one vector of the table. */
const kMaxGuards = 4;

/** Units per workgroup: so many that the cost of finding the step is negligible. */
const kPerGroup = 4 * kThreads;

export function makeStep(kernel: StepFunctions, { memory, count }: StepMemory): Step {
  const inVec4s = count % 4 === 0 && memory.every(({ view }) => isVec4Aligned(view));
  return {
    kernel,
    key: `${memory.map(({ name }) => name)}${inVec4s ? " vec4s" : ""}`,
    memory: inVec4s ? memory.map((access) => ({ ...access, as: "vec4s" })) : memory,
    count: inVec4s ? count / 4 : count,
  };
}

/** Returns the blocks that a shader binds: the whole arena for a block in an arena. */
export function boundBlocks({ memory }: Step): Block[] {
  return memory.map(({ view: { block } }) => block.arena?.whole ?? block);
}

/** Returns how many steps one dispatch can execute. */
export function maxSteps({ memory }: Step): number {
  return Math.floor(kTableVec4s / (vec4sOfRow(memory) + kMaxGuards / 4));
}

/** The checks on which steps depend. */
export interface Guards {
  /** The status words. */
  readonly status: View;
  /** For each step, the numbers of the status words that must not be set for the step to change anything. */
  readonly slots: readonly (readonly number[])[];
}

/** Returns the dispatch for steps with the same key and the same bound blocks. */
export function stepsDispatch(
  steps: readonly Step[],
  options: StepOptions,
  given?: Guards,
): Dispatch {
  const [first] = steps as [Step];
  // Only as many words are read as the steps need: each read costs as much as the work on an element on a CPU.
  const checks = Math.max(0, ...(given?.slots ?? []).map((some) => some.filter(Boolean).length));
  const guards = checks > 0 ? given : undefined;
  const access = guards === undefined ? [] : [statusAccess(guards)];
  if (steps.length === 1)
    return stepDispatch(first, options, access, guards?.slots[0]?.slice(0, checks));
  const bound = boundBlocks(first);
  const table: number[] = [];
  let groups = 0;
  for (const [i, step] of steps.entries()) {
    table.push(...rowOf(step, groups, guards?.slots[i]));
    groups += Math.ceil(step.count / kPerGroup);
  }
  return {
    key: `${options.key} ${first.key} ${checks}`,
    memory: [
      ...first.memory.map((access, i) => ({
        ...access,
        name: `all_${access.name}`,
        view: { ...access.view, block: bound[i] as Block, offset: 0 },
      })),
      ...access,
    ],
    uniforms: { u32: { steps: steps.length }, f32: options.uniforms, table },
    workgroups: workgroups(groups),
    body: () => textOf(first, options, checks),
  };
}

function statusAccess({ status }: Guards): Access {
  return { name: "status", view: status, mode: "read" };
}

// WGSL: whether a check has failed. `slot` returns the number of status words i.
function failedText(count: number, slot: (i: number) => string): string {
  const checks = Array.from(
    { length: count },
    (_, i) => `load_status(${kSlotWords}u * ${slot(i)}) != 0`,
  );
  return checks.join(" || ");
}

// The dispatch for a single step, without a table: on a CPU, the table costs about a third of a step.
function stepDispatch(
  step: Step,
  options: StepOptions,
  access: readonly Access[],
  slots: readonly number[] = [],
): Dispatch {
  const guards = Object.fromEntries(slots.map((slot, i) => [`guard_${i}`, slot]));
  const guard =
    slots.length === 0
      ? ""
      : `if (${failedText(slots.length, (i) => `u.guard_${i}`)}) { return; }\n`;
  return {
    key: `${options.key} ${step.key} alone ${slots.length}`,
    memory: [...step.memory, ...access],
    uniforms: { u32: { count: step.count, ...guards }, f32: options.uniforms },
    workgroups: invocations(step.count),
    body: () => `${functionsOf(step)}\n${forEach(`${guard}${workOf(step, options)}`)}`,
  };
}

function functionsOf({ kernel, memory }: Step): string {
  return memory[0]?.as === "vec4s" ? kernel.functionsOfVec4s : kernel.functions;
}

function workOf({ memory }: Step, options: StepOptions): string {
  return options.work((name) => memory.some((access) => access.name === name));
}

// A row of the table: the first workgroup of the step, its count, and the offset of each memory; then its guards.
function rowOf({ memory, count }: Step, firstGroup: number, guards: readonly number[] = []) {
  const row: number[] = new Array(4 * vec4sOfRow(memory)).fill(0);
  row[0] = firstGroup;
  row[1] = count;
  for (const [i, access] of memory.entries()) {
    const { block, offset } = access.view;
    const base = block.arena === undefined ? 0 : block.offset;
    row[2 + i] = (base + offset) / unitBytes(access);
  }
  row.push(...guards);
  return row;
}

function vec4sOfRow(memory: readonly Access[]): number {
  return Math.ceil((2 + memory.length) / 4);
}

function textOf(step: Step, options: StepOptions, checks: number): string {
  const { memory } = step;
  const type = memory[0]?.as === "vec4s" ? kVec4Type : "f32";
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
  const own = vec4sOfRow(memory);
  const vec4s = own + (checks > 0 ? kMaxGuards / 4 : 0);
  const guard =
    checks > 0
      ? `if (${failedText(checks, (i) => `u.table[row + ${own}u][${i}]`)}) { return; }`
      : "";
  return `${access.join("\n")}
${functionsOf(step)}
@compute @workgroup_size(${kThreads})
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let group = id.x + id.y * groups.x;
  var step = 0u;
  var end = u.steps;
  while (end - step > 1u) {
    let middle = (step + end) / 2u;
    if (u.table[middle * ${vec4s}u][0] <= group) {
      step = middle;
    } else {
      end = middle;
    }
  }
  let row = step * ${vec4s}u;
  ${guard}
  let first = (group - u.table[row][0]) * ${kPerGroup}u + lane;
  let last = min(first + ${kPerGroup}u, u.table[row][1]);
  ${begins.join("\n  ")}
  for (var i = first; i < last; i += ${kThreads}u) {
    ${workOf(step, options)}
  }
}
`;
}
