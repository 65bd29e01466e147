// Layers of transformers on arrays of numbers, row by row as their formulas are published: what models are compared with. Nothing here uses the
// package, and everything is computed in double precision.

const dot = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);
export const add = (a, b) => a.map((row, i) => row.map((one, j) => one + b[i][j]));
export const each = (rows, fn) => rows.map((row) => row.map(fn));
export const range = (n) => Array.from({ length: n }, (_, i) => i);

/** x Wᵀ + b; `weight` has the outputs first. */
export const linear = (rows, weight, bias) =>
  rows.map((row) => weight.map((one, i) => dot(one, row) + (bias?.[i] ?? 0)));

/** x W + b; `weight` has the inputs first. */
export const linearOfInputs = (rows, weight, bias) =>
  linear(
    rows,
    weight[0].map((_, j) => weight.map((row) => row[j])),
    bias,
  );

const mean = (row) => row.reduce((sum, one) => sum + one, 0) / row.length;

export function layerNorm(rows, weight, bias, eps) {
  return rows.map((row) => {
    const middle = mean(row);
    const spread = Math.sqrt(mean(row.map((one) => (one - middle) ** 2)) + eps);
    return row.map((one, i) => ((one - middle) / spread) * weight[i] + bias[i]);
  });
}

export function rmsNorm(rows, weight, eps, offset = 0) {
  return rows.map((row) => {
    const size = Math.sqrt(mean(row.map((one) => one * one)) + eps);
    return row.map((one, i) => (one / size) * (weight[i] + offset));
  });
}

export const sigmoid = (x) => 1 / (1 + Math.exp(-x));
export const silu = (x) => x * sigmoid(x);
export const quickGelu = (x) => x * sigmoid(1.702 * x);
export const relu = (x) => Math.max(x, 0);
export const tanhGelu = (x) =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
export const gelu = (x) => 0.5 * x * (1 + erf(x / Math.SQRT2));

// The series of the error function, which is exact enough for the arguments that occur.
function erf(x) {
  if (Math.abs(x) > 4) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; n < 100; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

export function softmax(row) {
  const top = Math.max(...row);
  const powers = row.map((one) => Math.exp(one - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((one) => one / sum);
}

/** The parts of rows that belong to a head. */
export const head = (rows, index, size) =>
  rows.map((row) => row.slice(index * size, (index + 1) * size));

/**
 * Attention of rows with `heads` heads; keys and values may have fewer. `seen(i, j)` says whether token i may see token j, `bias(head, i, j)` is added to
 * scores.
 */
export function attention(q, k, v, options) {
  const { heads, groups = heads, scale, seen = () => true, softcap, bias = () => 0 } = options;
  const size = q[0].length / heads;
  return q.map((query, i) =>
    range(heads).flatMap((h) => {
      const group = Math.floor(h / (heads / groups));
      const [keys, values] = [head(k, group, size), head(v, group, size)];
      const own = query.slice(h * size, (h + 1) * size);
      const scores = keys.map((key, j) => {
        const score = dot(own, key) * scale;
        const capped = softcap ? softcap * Math.tanh(score / softcap) : score;
        return seen(i, j) ? capped + bias(h, i, j) : -Infinity;
      });
      const shares = softmax(scores);
      return range(size).map((f) => shares.reduce((sum, one, j) => sum + one * values[j][f], 0));
    }),
  );
}

export const causal = (i, j) => j <= i;
export const windowed = (width) => (i, j) => j <= i && j > i - width;

/** Turns the first features of each head by position times frequency, each with the one half of them further. */
export function rotate(rows, heads, frequencies, scale = 1) {
  const size = rows[0].length / heads;
  const half = frequencies.length;
  return rows.map((row, position) =>
    range(heads).flatMap((h) => {
      const own = row.slice(h * size, (h + 1) * size);
      return own.map((one, f) => {
        if (f >= 2 * half) return one;
        const angle = position * frequencies[f % half];
        const other = f < half ? -own[f + half] : own[f - half];
        return (one * Math.cos(angle) + other * Math.sin(angle)) * scale;
      });
    }),
  );
}

export const frequencies = (size, base) => range(size / 2).map((i) => base ** ((-2 * i) / size));

/** The vectors of tokens. */
export const lookUp = (table, ids) => ids.map((id) => table[id]);
