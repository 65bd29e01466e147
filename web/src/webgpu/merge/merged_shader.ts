// One shader for several dispatches that do not depend on each other: every workgroup belongs to one of them. On a GPU, small
// dispatches run side by side that way instead of one after the other.

import type { WrittenDispatch } from "../recorder";
import { type Access, completeText, Memory, membersText } from "../shader";
import { kFour, mergedBytes } from "./plan";
import { sharedWorkgroup, sharesOf, workgroupOf } from "./workgroup";

/** Returns the memory of all parts, whose names end with the number of the part. */
export function mergedMemory(parts: readonly WrittenDispatch[]): Memory {
  return new Memory(
    parts.flatMap(({ source }, k) =>
      source.memory.map((access): Access => ({ ...access, name: `${access.name}_p${k}` })),
    ),
  );
}

/** Identifies everything that the text depends on. */
export function mergedKey(parts: readonly WrittenDispatch[], memory: Memory): string {
  return `merged ${parts.map(({ source }) => source.key).join(" & ")};${memory.key}`;
}

/** Returns the workgroups of the merged dispatch: rows of up to `most` workgroups. */
export function mergedWorkgroups(
  parts: readonly WrittenDispatch[],
  most = 65535,
): [number, number, number] {
  const count = countsOf(parts).reduce((sum, own) => sum + own, 0);
  const y = Math.ceil(count / most);
  return [Math.ceil(count / y), y, 1];
}

// The shared workgroups that run each part.
function countsOf(parts: readonly WrittenDispatch[]): number[] {
  const { threads } = sharedWorkgroup(parts);
  return parts.map((part) => {
    const [x, y, z] = part.workgroups;
    return x * y * z * sharesOf(part, threads);
  });
}

/** Returns the uniforms: the workgroups of every part and the end of its range, then the uniforms of the parts. */
export function mergedUniforms(parts: readonly WrittenDispatch[]): Uint8Array {
  const bytes = new Uint8Array(mergedBytes(parts));
  const grids = new Uint32Array(bytes.buffer, 0, 4 * parts.length);
  const counts = countsOf(parts);
  let end = 0;
  let at = kFour * parts.length;
  for (const [k, { workgroups, uniforms }] of parts.entries()) {
    end += counts[k] as number;
    grids.set([...workgroups, end], 4 * k);
    bytes.set(uniforms, at);
    at += Math.ceil(uniforms.length / kFour) * kFour;
  }
  return bytes;
}

const kMain = /@compute @workgroup_size\(([^)]*)\)\s*fn main\(((?:[^()]|\([^()]*\))*)\)/;
/** Finds what a text declares. */
export const kDeclaration = /^(?:fn|struct|alias|const|var<workgroup>|var<private>)\s+(\w+)/gm;

/** Returns the complete WGSL of a merged dispatch. */
export function mergedText(parts: readonly WrittenDispatch[], memory: Memory): string {
  const shared = sharedWorkgroup(parts);
  const texts = parts.map((part, k) => partText(part, k));
  const structs = parts.map(
    ({ source }, k) => `struct Numbers_p${k} { ${membersText(source.memory, source.uniforms)} }`,
  );
  const members = parts.map((_, k) => `@align(16) p${k}: Numbers_p${k}`);
  const calls = texts.map(({ call }, k) => {
    const start = k === 0 ? "0u" : `u.grids[${k - 1}].w`;
    const part = parts[k] as WrittenDispatch;
    const { threads } = workgroupOf(part);
    const shares = sharesOf(part, shared.threads);
    const isExact = threads === shares * shared.threads;
    return `if (group < u.grids[${k}].w) {
    let grid = u.grids[${k}].xyz;
    let share = group - ${start};
    let rest = share / ${shares}u;
    let index = share % ${shares}u * ${shared.threads}u + local_index;
    let own = vec3(rest % grid.x, rest / grid.x % grid.y, rest / (grid.x * grid.y));
    ${isExact ? call : `if (index < ${threads}u) { ${call} }`}
  }`;
  });
  const text = [
    ...structs,
    `struct Numbers { grids: array<vec4<u32>, ${parts.length}>, ${members.join(", ")} }`,
    "@group(1) @binding(0) var<uniform> u: Numbers;",
    memory.declarations().replaceAll(/\bu\.offset_(\w+)_p(\d)\b/g, "u.p$2.offset_$1"),
    ...texts.map(({ body }) => body),
    `@compute @workgroup_size(${shared.size})
fn main(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32, @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) all: vec3<u32>) {
  let group = id.x + id.y * all.x;
  ${calls.join(" else ")}
}
`,
  ].join("\n");
  return completeText(text);
}

// The values of the builtins of a part, from the size of its workgroups and the place of an invocation there.
const kBuiltins: Readonly<Record<string, (size: string, place: string) => string>> = {
  local_invocation_id: (_, place) => place,
  local_invocation_index: () => "index",
  workgroup_id: () => "own",
  num_workgroups: () => "grid",
  global_invocation_id: (size, place) => `own * vec3(${size}) + ${place}`,
};

// The text of a part, in which everything that it declares has names of its own, and the call of its main function.
function partText(part: WrittenDispatch, k: number): { body: string; call: string } {
  const { source } = part;
  const text = source.body();
  const [head, size = "", parameters = ""] = kMain.exec(text) ?? [];
  if (head === undefined) throw new Error(`${source.key} has no main function`);
  const sizes = size.split(",").map((part) => part.trim());
  const threads = [0, 1, 2].map((i) => `${sizes[i] ?? 1}u`).join(", ");
  const place = workgroupOf(part).isFree ? "vec3(index, 0u, 0u)" : "local_id";
  const given: string[] = [];
  const taken: string[] = [];
  for (const [, builtin = "", parameter = ""] of parameters.matchAll(
    /@builtin\((\w+)\)\s*(\w+\s*:\s*[\w<>]+)/g,
  )) {
    const value = kBuiltins[builtin];
    if (value === undefined) throw new Error(`there is no value for ${builtin}`);
    given.push(value(threads, place));
    taken.push(parameter);
  }
  const own = new Set([...text.matchAll(kDeclaration)].map(([, name]) => name as string));
  own.delete("main");
  for (const { name } of source.memory)
    for (const what of ["load", "store", "add", "max", "exchange"]) own.add(`${what}_${name}`);
  const body = text
    .replace(head, `fn main_p${k}(${taken.join(", ")})`)
    .replaceAll(/\bu\.(?=[a-z])/g, `u.p${k}.`)
    .replaceAll(/\b[A-Za-z]\w*/g, (name) => (own.has(name) ? `${name}_p${k}` : name));
  return { body, call: `main_p${k}(${given.join(", ")});` };
}
