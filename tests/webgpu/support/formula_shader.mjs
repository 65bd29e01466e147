// Bundles web/src/webgpu/formula_shader.ts, and builds shaders from it for contiguous arrays.

import { bundled } from "./bundled.mjs";

export const { formulas, forwardShader, gradientShader, wordsOf, kWgslTypes } = await bundled(
  'export * from "./formula_shader"; export { wordsOf } from "./words"; export { kWgslTypes } from "./element_types";',
);

/** Invocations per workgroup. */
export const workgroupSize = 256;

/**
 * A shader whose operands are contiguous arrays of elements of 32 or 64 bits with the length of the result. The bindings of group 0 are the
 * arrays that are loaded, those that are stored and, if there are slots, the uniforms, in this order. A bool is stored as 0 or 1.
 */
export function contiguousText({ loads, slots, stores, type: elements, isBool, values, evaluate }) {
  const type = kWgslTypes[elements];
  const stored = isBool ? "u32" : type;
  const result = isBool ? "bool" : type;
  let binding = 0;
  const lines = loads.flatMap((name) => [
    `@group(0) @binding(${binding++}) var<storage, read> array_${name}: array<${type}>;`,
    `fn load_${name}(i: u32) -> ${type} { return array_${name}[i]; }`,
  ]);
  for (let place = 0; place < stores; place++) {
    lines.push(
      `@group(0) @binding(${binding++}) var<storage, read_write> result_${place}: array<${stored}>;`,
      `fn store_${place}(i: u32, value: ${result}) { result_${place}[i] = ${stored}(value); }`,
    );
  }
  if (slots.length > 0) {
    const members = slots.map((position) => `k${position}: ${type}`).join(", ");
    lines.push(
      `struct Constants { ${members} }`,
      `@group(0) @binding(${binding++}) var<uniform> u: Constants;`,
    );
  }
  const main = `@compute @workgroup_size(${workgroupSize})
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  if (invocation.x < arrayLength(&result_0)) {
    evaluate(invocation.x);
  }
}
`;
  return [...lines, wordsOf(values), values, evaluate, main].join("\n");
}
