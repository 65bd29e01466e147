// How many invocations run, and what each of them is for.

/** Invocations of a workgroup, where a kernel has no reason for another number. */
export const kThreads = 256;

const kMaxWorkgroups = 65535;

/** Workgroups in rows that are no longer than WebGPU allows: their number is `x + y * groups.x`. */
export function workgroups(count: number): [number, number] {
  if (count <= kMaxWorkgroups) return [count, 1];
  const y = Math.ceil(count / kMaxWorkgroups);
  return [Math.ceil(count / y), y];
}

/** Workgroups that have an invocation for each of `count`. */
export function invocations(count: number): [number, number] {
  return workgroups(Math.ceil(count / kThreads));
}

/** A main function that does `work` with `i`, for all below `u.count`. */
export function forEach(work: string): string {
  return `@compute @workgroup_size(${kThreads})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * (groups.x * ${kThreads}u);
  if (i >= u.count) {
    return;
  }
  ${work}
}
`;
}
