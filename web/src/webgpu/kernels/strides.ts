// Operands of one shape, each with strides of its own: as few dimensions as can be, and the WGSL that
// finds an element.

/** Sizes, outermost first, and strides of every operand in these dimensions. */
export interface IterationSpace {
  readonly sizes: readonly number[];
  readonly strides: readonly (readonly number[])[];
}

/** Merges dimensions along which all operands step alike; the first operand decides their order. */
export function makeIterationSpace(
  shape: readonly number[],
  operands: readonly (readonly number[])[],
): IterationSpace {
  const order = shape.map((_, d) => d).filter((d) => shape[d] !== 1);
  const first = operands[0] ?? [];
  // Stable, so that dimensions of equal (or no) stride stay where they are.
  order.sort((a, b) => Math.abs(first[b] ?? 0) - Math.abs(first[a] ?? 0));
  return mergeDimensions(
    order.map((d) => shape[d] as number),
    operands.map((strides) => order.map((d) => strides[d] as number)),
  );
}

/** The same in the order that there is: the number of an element stays what it is. */
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

/** Where element i of a walk lies in an operand. */
export interface Index {
  /** What the text depends on. */
  readonly key: string;
  /** The operand lies packed in the order of the walk. */
  readonly isLinear: boolean;
  /** A function of the given name: from the number of an element to its place. */
  text(name: string): string;
  readonly uniforms: Readonly<Record<string, number>>;
}

/** `name` keeps the numbers apart from those of other operands; sizes are those of `sizeNumbers(prefix)`. */
export function indexOf(
  space: IterationSpace,
  operand: number,
  name: string,
  prefix = "size",
): Index {
  const strides = space.strides[operand] as readonly number[];
  if (strides.length === 0 || (strides.length === 1 && strides[0] === 1)) return kLinear;
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
