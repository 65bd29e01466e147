// Operands of the same shape with different strides: merges dimensions, and generates the WGSL that computes the
// position of an element.

/** The sizes, outermost first, and the strides of every operand in these dimensions. */
export interface IterationSpace {
  readonly sizes: readonly number[];
  readonly strides: readonly (readonly number[])[];
}

/** Sorts the dimensions by the strides of the first operand, and merges those that are contiguous for all operands. */
export function makeIterationSpace(
  shape: readonly number[],
  operands: readonly (readonly number[])[],
): IterationSpace {
  const order = shape.map((_, d) => d).filter((d) => shape[d] !== 1);
  const first = operands[0] ?? [];
  // The sort is stable, so dimensions with equal (or no) strides keep their order.
  order.sort((a, b) => Math.abs(first[b] ?? 0) - Math.abs(first[a] ?? 0));
  return mergeDimensions(
    order.map((d) => shape[d] as number),
    operands.map((strides) => order.map((d) => strides[d] as number)),
  );
}

/** Merges dimensions without reordering them, so the index of every element is unchanged. */
export function mergeDimensions(
  shape: readonly number[],
  operands: readonly (readonly number[])[],
): IterationSpace {
  const sizes: number[] = [];
  const strides: number[][] = operands.map(() => []);
  for (const [d, size] of shape.entries()) {
    if (size === 1) continue;
    const last = sizes.length - 1;
    const merges =
      last >= 0 &&
      operands.every((steps, j) => (strides[j] as number[])[last] === (steps[d] as number) * size);
    if (merges) {
      sizes[last] = (sizes[last] as number) * size;
      for (const [j, steps] of operands.entries())
        (strides[j] as number[])[last] = steps[d] as number;
    } else {
      sizes.push(size);
      for (const [j, steps] of operands.entries())
        (strides[j] as number[]).push(steps[d] as number);
    }
  }
  return { sizes, strides };
}

export function product(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total * size, 1);
}

/** Row-major strides. */
export function packedStrides(shape: readonly number[]): number[] {
  const strides: number[] = [];
  let step = 1;
  for (const size of [...shape].reverse()) {
    strides.unshift(step);
    step *= size;
  }
  return strides;
}

/** The mapping from the index of an element in an iteration space to its position in an operand. */
export interface Index {
  /** Identifies everything that the text depends on. */
  readonly key: string;
  /** Whether the operand is packed in the order of the iteration space. */
  readonly isLinear: boolean;
  /** Returns a WGSL function of the given name, which maps an index to a position. */
  text(name: string): string;
  readonly uniforms: Readonly<Record<string, number>>;
}

/**
 * Returns the mapping for an operand. `name` distinguishes its uniforms from those of other operands; the sizes are those of
 * `sizeUniforms(space, prefix)`.
 */
export function indexOf(
  space: IterationSpace,
  operand: number,
  name: string,
  prefix = "size",
): Index {
  const strides = space.strides[operand] as readonly number[];
  const packed = packedStrides(space.sizes);
  if (strides.every((stride, d) => stride === packed[d])) return kLinear;
  let key = "";
  const uniforms: Record<string, number> = {};
  for (const [d, stride] of strides.entries()) {
    key += stride === 0 ? "0" : stride === 1 ? "1" : "n";
    if (stride !== 0 && stride !== 1) uniforms[`stride_${name}_${d}`] = stride;
  }
  const text = (functionName: string) =>
    `fn ${functionName}(i: u32) -> u32 { return ${indexText(strides, name, prefix)}; }`;
  return { key, isLinear: false, text, uniforms };
}

const kLinear: Index = {
  key: "i",
  isLinear: true,
  text: (functionName) => `fn ${functionName}(i: u32) -> u32 { return i; }`,
  uniforms: {},
};

function indexText(strides: readonly number[], name: string, prefix: string): string {
  const rank = strides.length;
  const terms = strides.flatMap((stride, d) => {
    if (stride === 0) return [];
    const inner = Array.from({ length: rank - 1 - d }, (_, k) => `u.${prefix}_${d + 1 + k}`);
    const outer = inner.length === 0 ? "i" : `(i / (${inner.join(" * ")}))`;
    const coordinate = d > 0 ? `(${outer} % u.${prefix}_${d})` : outer;
    return [stride === 1 ? coordinate : `${coordinate} * u.stride_${name}_${d}`];
  });
  return terms.join(" + ") || "0u";
}

export function sizeUniforms(space: IterationSpace, prefix = "size"): Record<string, number> {
  const uniforms: Record<string, number> = {};
  for (const [d, size] of space.sizes.entries()) uniforms[`${prefix}_${d}`] = size;
  return uniforms;
}
