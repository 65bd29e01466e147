// Support vector machines.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import { host } from "../../values/value.js";
import { flag, int, maybeFloats, maybeInts, type Ops, op, string } from "../op.js";
import { listLike } from "./linear.js";
import { bothClasses, kLabels, labeled, labelsIn, largest, rowsOf, transformed } from "./scores.js";

/** The attributes of kernels. */
const kSupport = {
  coefficients: maybeFloats,
  kernel_params: maybeFloats,
  kernel_type: string("LINEAR"),
  post_transform: string("NONE"),
  rho: maybeFloats,
  support_vectors: maybeFloats,
};

type Kernel = (a: eg.Tensor, b: eg.Tensor, params: readonly number[]) => eg.Tensor;

const kKernels: Readonly<Record<string, Kernel>> = {
  LINEAR: (a, b) => eg.linear(a, b),
  POLY: (a, b, [gamma = 0, coef0 = 0, degree = 0]) =>
    eg.pow(eg.linear(a, b).mul(gamma).add(coef0), degree),
  RBF: (a, b, [gamma = 0]) => {
    const squares = eg.sum(a.unsqueeze(1).sub(b.unsqueeze(0)).square(), [2]);
    return eg.exp(squares.mul(-gamma));
  },
  SIGMOID: (a, b, [gamma = 0, coef0 = 0]) => eg.tanh(eg.linear(a, b).mul(gamma).add(coef0)),
};

function kernelOf(name: string): Kernel {
  return (
    (Object.hasOwn(kKernels, name) ? kKernels[name] : undefined) ??
    fail(
      "InvalidArgument",
      "OnnxModule",
      `the kernel "${name}" is none of ${Object.keys(kKernels).join(", ")}.`,
    )
  );
}

export const kSupportVectors: Ops = {
  SVMRegressor: op({
    attributes: { ...kSupport, n_supports: int(0), one_class: flag(false) },
    ownTypes: true,
    run: ([input], given) => {
      const x = rowsOf(input);
      const features = x.shape[1] as number;
      const kernel = kernelOf(given.kernel_type);
      const { coefficients = [], kernel_params = [], n_supports: count } = given;
      const sums =
        count > 0
          ? eg.linear(
              kernel(x, listLike(x, given.support_vectors ?? [], [count, features]), kernel_params),
              listLike(x, coefficients, [1, count]),
            )
          : kernel(x, listLike(x, coefficients, [1, features]), kernel_params);
      const scores = sums.add(given.rho?.[0] ?? 0);
      if (given.one_class) return scores.gt(0).to(x.dtype).mul(2).sub(1);
      return transformed(scores, given.post_transform);
    },
  }),
  SVMClassifier: op({
    attributes: {
      ...kSupport,
      ...kLabels,
      prob_a: maybeFloats,
      prob_b: maybeFloats,
      vectors_per_class: maybeInts,
    },
    ownTypes: true,
    run: ([input], given) => {
      const x = rowsOf(input);
      const labels = labelsIn(given.classlabels_ints, given.classlabels_strings);
      const { coefficients = [], vectors_per_class: counts = [], post_transform } = given;
      const hasVectors = counts.length > 0;
      const classes = hasVectors ? counts.length : Math.max(labels?.length ?? 0, 1);
      const kernel = kernelOf(given.kernel_type);
      const params = given.kernel_params ?? [];
      const rho = given.rho ?? [];
      if (!hasVectors) {
        const rows = coefficients.length / (x.shape[1] as number);
        const weights = listLike(x, coefficients, [rows, x.shape[1] as number]);
        const scores = kernel(x, weights, params).add(rho[0] ?? 0);
        return [labeled(largest(scores), labels), transformed(scores, post_transform)];
      }
      const total = counts.reduce((sum, count) => sum + count, 0);
      const vectors = listLike(x, given.support_vectors ?? [], [total, x.shape[1] as number]);
      const duels = duelsOf(kernel(x, vectors, params), coefficients, rho, counts);
      const chances = given.prob_a?.length
        ? shares(duels, given.prob_a, given.prob_b ?? [], classes)
        : null;
      // As in libsvm, the decisions of the pairs choose the class, also where the probabilities are close.
      const winners = votes(duels, classes);
      const scores = chances ?? duels;
      const result =
        scores.shape[1] === 1
          ? bothClasses(scores, post_transform, false)
          : transformed(scores, post_transform);
      return [labeled(winners, labels), result];
    },
  }),
};

// The pairs of classes, in the order of their decisions.
function pairsOf(classes: number): [number, number][] {
  const pairs: [number, number][] = [];
  for (let i = 0; i < classes; i++) for (let j = i + 1; j < classes; j++) pairs.push([i, j]);
  return pairs;
}

// One decision for each pair of classes, positive for the first of them: [rows, pairs].
function duelsOf(
  kernels: eg.Tensor,
  coefficients: readonly number[],
  rho: readonly number[],
  counts: readonly number[],
): eg.Tensor {
  const total = kernels.shape[1] as number;
  const starts = counts.map((_, i) => counts.slice(0, i).reduce((sum, count) => sum + count, 0));
  const pairs = pairsOf(counts.length);
  const weights = new Float64Array(pairs.length * total);
  pairs.forEach(([i, j], at) => {
    for (const [own, row] of [
      [i, j - 1],
      [j, i],
    ] as const) {
      const start = starts[own] as number;
      for (let k = start; k < start + (counts[own] as number); k++)
        weights[at * total + k] = coefficients[row * total + k] as number;
    }
  });
  const sums = eg.linear(kernels, listLike(kernels, [...weights], [pairs.length, total]));
  return sums.add(
    listLike(
      kernels,
      pairs.map((_, at) => rho[at] ?? 0),
      [pairs.length],
    ),
  );
}

function votes(duels: eg.Tensor, classes: number): number[] {
  const [rows = 0, count = 0] = duels.shape;
  const data = host(duels).data;
  const pairs = pairsOf(classes);
  return Array.from({ length: rows }, (_, row) => {
    const won = new Array<number>(classes).fill(0);
    pairs.forEach(([i, j], at) => {
      const winner = (data[row * count + at] as number) > 0 ? i : j;
      won[winner] = (won[winner] as number) + 1;
    });
    return won.indexOf(Math.max(...won));
  });
}

const kLeast = 1e-7;

// The probabilities of classes from those of pairs, by Wu, Lin and Weng's second method, as libsvm computes them.
function shares(
  duels: eg.Tensor,
  slopes: readonly number[],
  offsets: readonly number[],
  classes: number,
): eg.Tensor {
  const [rows = 0, count = 0] = duels.shape;
  const data = host(duels).data;
  const pairs = pairsOf(classes);
  const result: number[] = [];
  for (let row = 0; row < rows; row++) {
    const wins = Array.from({ length: classes }, () => new Array<number>(classes).fill(0));
    pairs.forEach(([i, j], at) => {
      const score = (data[row * count + at] as number) * (slopes[at] ?? 0) + (offsets[at] ?? 0);
      const share = Math.min(Math.max(1 / (1 + Math.exp(score)), kLeast), 1 - kLeast);
      (wins[i] as number[])[j] = share;
      (wins[j] as number[])[i] = 1 - share;
    });
    result.push(...coupled(wins));
  }
  return listLike(duels, result, [rows, classes]);
}

function coupled(wins: readonly (readonly number[])[]): number[] {
  const count = wins.length;
  const at = (i: number, j: number) => wins[i]?.[j] ?? 0;
  const q = wins.map((_, t) =>
    wins.map((_, j) =>
      j === t
        ? wins.reduce((sum, _, i) => (i === t ? sum : sum + at(i, t) ** 2), 0)
        : -at(j, t) * at(t, j),
    ),
  );
  const entry = (i: number, j: number) => q[i]?.[j] ?? 0;
  const p = new Array<number>(count).fill(1 / count);
  for (let round = 0; round < Math.max(100, count); round++) {
    const qp = p.map((_, t) => p.reduce((sum, share, j) => sum + entry(t, j) * share, 0));
    let pqp = p.reduce((sum, share, t) => sum + share * (qp[t] as number), 0);
    if (Math.max(...qp.map((value) => Math.abs(value - pqp))) < 0.005 / count) break;
    for (let t = 0; t < count; t++) {
      const change = (pqp - (qp[t] as number)) / entry(t, t);
      p[t] = (p[t] as number) + change;
      pqp = (pqp + change * (change * entry(t, t) + 2 * (qp[t] as number))) / (1 + change) ** 2;
      for (let j = 0; j < count; j++) {
        qp[j] = ((qp[j] as number) + change * entry(t, j)) / (1 + change);
        p[j] = (p[j] as number) / (1 + change);
      }
    }
  }
  return p;
}
