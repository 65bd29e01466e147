// Linear models and the preparation of features: ops that are differentiable.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import { host, tensor } from "../../values/value.js";
import { float, ignored, int, maybeFloats, maybeInts, type Ops, op, string } from "../op.js";
import { bothClasses, kLabels, labeled, labelsIn, largest, rowsOf, transformed } from "./scores.js";

const kLinear = {
  coefficients: maybeFloats,
  intercepts: maybeFloats,
  post_transform: string("NONE"),
};

/** Returns a list of numbers as a tensor like another one. */
export function listLike(
  x: eg.Tensor,
  list: readonly number[],
  shape: readonly number[],
): eg.Tensor {
  const { dtype, device } = x;
  return eg.tensor(Float64Array.from(list), { dtype, device, shape: [...shape] });
}

// The products of rows with the coefficients of each target, plus the intercepts.
function products(
  x: eg.Tensor,
  coefficients: readonly number[] = [],
  intercepts: readonly number[] = [],
): eg.Tensor {
  const features = x.shape[1] as number;
  const targets = coefficients.length / features;
  if (!Number.isInteger(targets) || targets === 0) {
    const text = `${coefficients.length} coefficients do not fit rows of ${features} features.`;
    return fail("ShapeMismatch", "OnnxModule", text);
  }
  const product = eg.linear(x, listLike(x, coefficients, [targets, features]));
  return intercepts.length === 0
    ? product
    : product.add(listLike(x, intercepts, [intercepts.length]));
}

// One number for all features, or one for each.
const perFeature = (x: eg.Tensor, list: readonly number[] | undefined, missing: number) =>
  list?.length ? listLike(x, list, [list.length]) : missing;

const kNorms: Readonly<Record<string, (x: eg.Tensor) => eg.Tensor>> = {
  MAX: (x) => eg.amax(x, -1, { keepdim: true }),
  L1: (x) => eg.sum(eg.abs(x), [-1], { keepdim: true }),
  L2: (x) => eg.sqrt(eg.sum(x.square(), [-1], { keepdim: true })),
};

export const kLinearModels: Ops = {
  LinearClassifier: op({
    attributes: { ...kLinear, ...kLabels, multi_class: ignored },
    ownTypes: true,
    run: ([input], given) => {
      const scores = products(rowsOf(input), given.coefficients, given.intercepts);
      const labels = labelsIn(given.classlabels_ints, given.classlabels_strings);
      if (scores.shape[1] !== 1) {
        return [labeled(largest(scores), labels), transformed(scores, given.post_transform)];
      }
      const classes = host(scores).data.map((value) => Number(value > 0));
      const hasTwo = labels?.length === 2;
      const result = hasTwo
        ? bothClasses(scores, given.post_transform, true)
        : transformed(scores, given.post_transform);
      return [labeled(classes, hasTwo ? labels : undefined), result];
    },
  }),
  LinearRegressor: op({
    attributes: { ...kLinear, targets: ignored },
    ownTypes: true,
    run: ([input], { coefficients, intercepts, post_transform }) =>
      transformed(products(rowsOf(input), coefficients, intercepts), post_transform),
  }),
  Normalizer: op({
    attributes: { norm: string("MAX") },
    ownTypes: true,
    run: ([input], { norm }) => {
      const given = tensor(input);
      const x = given.isFloatingPoint() ? given : given.to("float32");
      const size =
        kNorms[norm] ??
        fail("InvalidArgument", "OnnxModule", `the norm "${norm}" is none of MAX, L1, L2.`);
      const length = size(x);
      return x.div(eg.where(length.eq(0), eg.onesLike(length), length));
    },
  }),
  Scaler: op({
    attributes: { offset: maybeFloats, scale: maybeFloats },
    ownTypes: true,
    run: ([input], { offset, scale }) => {
      const given = tensor(input);
      const x = given.isFloatingPoint() ? given : given.to("float32");
      return x.sub(perFeature(x, offset, 0)).mul(perFeature(x, scale, 1));
    },
  }),
  Binarizer: op({
    attributes: { threshold: float(0) },
    run: ([input], { threshold }) => {
      const x = tensor(input);
      return x.gt(threshold).to(x.dtype);
    },
  }),
  Imputer: op({
    attributes: {
      imputed_value_floats: maybeFloats,
      imputed_value_int64s: maybeInts,
      replaced_value_float: float(0),
      replaced_value_int64: int(0),
    },
    run: ([input], given) => {
      const x = tensor(input);
      const isFloat = x.isFloatingPoint();
      const wanted = isFloat ? given.replaced_value_float : given.replaced_value_int64;
      const values = (isFloat ? given.imputed_value_floats : given.imputed_value_int64s) ?? [];
      const isMissing = Number.isNaN(wanted) ? eg.isnan(x) : x.eq(wanted);
      return eg.where(isMissing, listLike(x, values, [values.length]), x);
    },
  }),
  // Inputs that are shorter than declared are filled with zeros, and longer ones are cut.
  FeatureVectorizer: op({
    attributes: { inputdimensions: maybeInts },
    ownTypes: true,
    run: (inputs, { inputdimensions }) => {
      const parts = inputs.map((input, i) => {
        const rows = rowsOf(input);
        const [count = 0, size = 0] = rows.shape;
        const wanted = inputdimensions?.[i] ?? size;
        if (wanted <= size) return wanted === size ? rows : eg.narrow(rows, 1, 0, wanted);
        const { dtype, device } = rows;
        return eg.cat([rows, eg.zeros([count, wanted - size], { dtype, device })], 1);
      });
      return eg.cat(parts, 1).to("float32");
    },
  }),
};
