// The number of invocations of a dispatch, and the element that each of them computes.

/** The default number of invocations per workgroup. */
export const kThreads = 256;

const kMaxWorkgroups = 65535;

/** Arranges workgroups in rows no longer than WebGPU allows. The index of a workgroup is `x + y * groups.x`. */
export function workgroups(count: number): [number, number] {
  if (count <= kMaxWorkgroups) return [count, 1];
  const y = Math.ceil(count / kMaxWorkgroups);
  return [Math.ceil(count / y), y];
}

/** Returns the workgroups for one invocation per element. */
export function invocations(count: number): [number, number] {
  return workgroups(Math.ceil(count / kThreads));
}

/** Returns a main function that runs `work` for every `i` below `u.count`. */
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
