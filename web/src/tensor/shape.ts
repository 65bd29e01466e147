// Shapes as lists of numbers.

/** Whether two shapes are the same. */
export function hasShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, dim) => size === b[dim]);
}

/** Returns the common shape of broadcasting; null if the shapes cannot be broadcast. */
export function commonShape(...shapes: (readonly number[])[]): number[] | null {
  const ndim = Math.max(0, ...shapes.map((shape) => shape.length));
  const common: number[] = [];
  for (let dim = 0; dim < ndim; dim++) {
    const sizes = shapes.map((shape) => shape[dim - ndim + shape.length] ?? 1);
    const wide = sizes.find((size) => size !== 1) ?? 1;
    if (!sizes.every((size) => size === 1 || size === wide)) return null;
    common.push(wide);
  }
  return common;
}

/** Returns the strides of a tensor in row-major order, as PyTorch computes them: a size of zero counts as one. */
export function contiguousStrides(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length).fill(1);
  for (let dim = shape.length - 2; dim >= 0; dim--) {
    strides[dim] = (strides[dim + 1] ?? 1) * Math.max(shape[dim + 1] ?? 1, 1);
  }
  return strides;
}

/** Returns the index of the element at a position in row-major order. */
export function indexAt(position: number, shape: readonly number[]): number[] {
  const index: number[] = [];
  let rest = position;
  for (const size of [...shape].reverse()) {
    index.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return index;
}
