// What the classifiers of ai.onnx.ml share: transforms of scores, and labels.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import { Host } from "../../values/host.js";
import { host, tensor, type Value } from "../../values/value.js";
import { maybeInts, maybeStrings } from "../op.js";

/** Returns the rows of an input as floats: a vector is one row. */
export function rowsOf(value: Value): eg.Tensor {
  const x = tensor(value);
  const floats = x.isFloatingPoint() ? x : x.to("float32");
  if (floats.ndim < 2) return floats.reshape([1, -1]);
  return floats.ndim === 2 ? floats : floats.reshape([floats.shape[0] as number, -1]);
}

const kTransforms: Readonly<Record<string, (scores: eg.Tensor) => eg.Tensor>> = {
  NONE: (scores) => scores,
  LOGISTIC: (scores) => eg.sigmoid(scores),
  SOFTMAX: (scores) => eg.softmax(scores, -1),
  // Scores of zero stay zero.
  SOFTMAX_ZERO: (scores) => {
    const powers = eg.exp(scores.sub(eg.amax(scores, -1, { keepdim: true })));
    const kept = eg.where(scores.eq(0), eg.zerosLike(powers), powers);
    return kept.div(eg.sum(kept, [-1], { keepdim: true }));
  },
  PROBIT: (scores) => eg.erfinv(scores.mul(2).sub(1)).mul(Math.SQRT2),
};

/** Applies a post_transform to scores [rows, classes]. */
export function transformed(scores: eg.Tensor, name: string): eg.Tensor {
  const transform = Object.hasOwn(kTransforms, name) ? kTransforms[name] : undefined;
  if (transform !== undefined) return transform(scores);
  const names = Object.keys(kTransforms).join(", ");
  return fail("InvalidArgument", "OnnxModule", `the post_transform "${name}" is none of ${names}.`);
}

/**
 * Returns the scores of both classes from those of one, [rows, 1]: with opposite signs, or as shares of 1 if they are shares
 * (`areShares`). Onnxruntime does the same, where ONNX says nothing.
 */
export function bothClasses(scores: eg.Tensor, name: string, areShares: boolean): eg.Tensor {
  if (name === "PROBIT") return transformed(scores, name);
  const both = eg.cat([scores.neg(), scores], 1);
  if (name === "LOGISTIC") return eg.sigmoid(both);
  return areShares ? eg.cat([scores.neg().add(1), scores], 1) : both;
}

/** The attributes with the labels of classes. */
export const kLabels = { classlabels_ints: maybeInts, classlabels_strings: maybeStrings };
/** The same under the names that trees have. */
export const kTreeLabels = { classlabels_int64s: maybeInts, classlabels_strings: maybeStrings };

type Labels = readonly (string | number)[];

/** Returns the labels of a classifier; without any, they are the numbers of the classes. */
export function labelsIn(
  ints: readonly number[] | undefined,
  strings: readonly string[] | undefined,
): Labels | undefined {
  if (strings?.length) return strings;
  return ints?.length ? ints : undefined;
}

/** Returns the labels of these classes. */
export function labeled(classes: readonly number[], labels: Labels | undefined): Host {
  const all = labels ?? [];
  const isText = typeof all[0] === "string";
  const data = classes.map((label) =>
    labels === undefined ? label : (all[label] ?? (isText ? "" : label)),
  );
  return new Host(isText ? "string" : "int64", [classes.length], data);
}

/** Returns the place of the largest score in each row. */
export function largest(scores: eg.Tensor): number[] {
  return [...host(eg.argmax(scores.detach(), 1)).data];
}
