// The Q of a QR decomposition whose R has a positive diagonal, which makes Q unique.

/**
 * Returns a matrix of the given shape whose columns (rows, where there are fewer of them) are those of
 * `matrix` made orthonormal one after the other.
 */
export function orthonormalColumns(
  matrix: Float64Array,
  rows: number,
  columns: number,
): Float64Array {
  const isWide = rows < columns;
  const [count, length] = isWide ? [rows, columns] : [columns, rows];
  const at = (vector: number, i: number) => (isWide ? vector * columns + i : i * columns + vector);
  const vectors = Array.from({ length: count }, (_, vector) =>
    Float64Array.from({ length }, (_, i) => matrix[at(vector, i)] ?? 0),
  );
  vectors.forEach((vector, k) => {
    // Twice: what rounding leaves of the earlier vectors goes the second time.
    for (let pass = 0; pass < 2; pass++) {
      for (const earlier of vectors.slice(0, k)) subtract(vector, earlier, dot(vector, earlier));
    }
    const norm = Math.sqrt(dot(vector, vector));
    for (let i = 0; i < length; i++) vector[i] = (vector[i] ?? 0) / norm;
  });
  const result = new Float64Array(matrix.length);
  vectors.forEach((vector, k) => {
    vector.forEach((value, i) => {
      result[at(k, i)] = value;
    });
  });
  return result;
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

function subtract(target: Float64Array, vector: Float64Array, factor: number): void {
  for (let i = 0; i < target.length; i++) {
    target[i] = (target[i] ?? 0) - factor * (vector[i] ?? 0);
  }
}
