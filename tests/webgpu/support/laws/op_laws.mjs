// Laws for every op on the device: its results match the CPU's for all operands and all memory layouts.

import { eg } from "../../../js/support/engine.mjs";
import { samplesOf } from "../../../js/support/op_samples.mjs";
import { difference } from "./agreement.mjs";
import { emptyLayout, mapTensors, outcomeOf, stridedLayout } from "./outcome.mjs";

// The dtypes that the device supports, with the highest order of derivatives to compare.
const kOrders = { float32: 2, complex64: 2, int32: 0, int64: 0, uint8: 0, bool: 0 };

// Ops whose random numbers the device draws itself, which are others than the CPU's.
const kDrawn = new Set(
  "rand randn randint randperm rand_like randn_like normal uniform_ normal_ random_ bernoulli_ exponential_ geometric_ cauchy_ log_normal_ dropout bernoulli rrelu poisson multinomial".split(
    " ",
  ),
);

/** The dtypes that the device supports, in the order of the page. */
export const kDeviceDTypes = Object.keys(kOrders);

/** True for an op of the package that has samples. */
export const isCallable = (op) => samplesOf(op).length > 0 && typeof eg[op.js] === "function";

/**
 * Runs the samples of an op on the device, for every dtype that it does not reject. Returns the order of derivatives up to which
 * results agree (`orders`: 0 for only the value, -1 if not even that), the highest order there is (`most`), and the kernels that
 * the CPU computed instead (`fallbacks`). `problems` are sentences about the differences.
 */
export function reportOnDevice(op) {
  const dtypes = {};
  const problems = [];
  for (const dtype of kDeviceDTypes) {
    const compared = samplesOf(op)
      .map((sample) => compare(op, sample, { dtype, orders: kOrders[dtype] }))
      .filter((one) => one !== null);
    problems.push(...compared.flatMap((one) => one.problems));
    const computed = compared.filter(({ isRefused }) => !isRefused);
    if (computed.length === 0) continue;
    dtypes[dtype] = {
      most: Math.max(...computed.map(({ most }) => most)),
      orders: Math.max(...computed.map(({ most }) => most)),
      fallbacks: computed.flatMap(({ fallbacks }) => fallbacks),
    };
    for (const { orders, most } of computed)
      if (orders < most) dtypes[dtype].orders = Math.min(dtypes[dtype].orders, orders);
  }
  return { op, dtypes, problems };
}

/**
 * Checks the other laws with compare(): operands that are views, that are empty, indices out of range, in-place ops, large
 * operands.
 */
export function compareLaws(op) {
  const samples = samplesOf(op);
  const [first] = samples;
  const found = [
    compare(op, first, { title: "views", dtype: "float32", orders: 1, layout: stridedLayout }),
    compare(op, first, { title: "views", dtype: "uint8", layout: stridedLayout }),
    compare(op, first, { title: "no elements", dtype: "float32", orders: 1, layout: emptyLayout }),
    ...samples
      .filter(({ text }) => text.includes("I("))
      .map((sample) =>
        compare(op, sample, { title: "out of range", dtype: "float32", change: outOfRange }),
      ),
  ];
  if (op.inplace && first.text.startsWith("T")) {
    const inPlace = { ...op, js: `${op.js}_` };
    found.push(compare(inPlace, first, { title: "in place", dtype: "float32", orders: 1 }));
  }
  if (op.kind === "elementwise") {
    for (const sample of samplesOf({ ...op, kind: "function", samples: samples.map(larger) }))
      found.push(compare(op, sample, { title: "large", dtype: "float32", orders: 1 }));
  }
  return found.filter((one) => one !== null);
}

/** Compares calls of an op whose arguments are given as texts, in one dtype. */
export function compareCalls(op, texts, how) {
  return samplesOf({ ...op, kind: "function", samples: texts }).map((sample) =>
    compare(op, sample, how),
  );
}

// More rows than a workgroup has invocations, of an odd length.
const larger = ({ text }) => text.replaceAll("[2,3]", "[67,129]").replaceAll("[3]", "[129]");

const outOfRange = (given) =>
  mapTensors(given, (tensor) => (tensor.dtype === "int64" ? tensor.add(1000) : tensor));

/** Compares one call on both devices; null if the sample does not exist in this dtype. */
export function compare(op, { text, make }, { dtype, title, orders = 0, layout, change }) {
  return eg.scope(() => {
    const given = make(dtype);
    if (given === null) return null;
    const changed = change?.(given) ?? given;
    const run = (device) =>
      outcomeOf(op, withPlace(op, changed, { dtype, device }), { device, orders, layout });
    const right = run("cpu");
    const found = run("webgpu");
    const differing = difference(found, right, { areDrawn: kDrawn.has(op.name) });
    const most = Math.max(0, ...(right.arrays ?? []).map(({ order }) => order));
    const name = [`${op.js}(${text}) of ${dtype}`, title].filter(Boolean).join(", ");
    return {
      most,
      orders: differing === null ? most : differing.order - 1,
      isRefused: right.code !== undefined,
      fallbacks: found.fallbacks,
      problems: differing === null ? [] : [`${name}: ${differing.text}`],
    };
  });
}

// Ops that create tensors take their dtype and device as an option.
function withPlace(op, args, place) {
  return op.kind === "factory" ? [...args, place] : args;
}
