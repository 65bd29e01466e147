// What an optimizer is given to train: tensors, pairs of a name and a tensor, or groups of them.

import { describe, fail } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import type { NamedParam } from "./groups.js";

/** The parameters of a group, and their names if they have some. */
export interface GroupParams {
  readonly params: Tensor[];
  readonly names: string[] | undefined;
}

/** Returns the parameters or groups that the optimizer `name` was given as a list; throws InvalidArgument. */
export function elementsOf(name: string, given: unknown): unknown[] {
  const module = given as { parameters?: unknown } | null | undefined;
  if (typeof module?.parameters === "function") {
    fail(
      "InvalidArgument",
      name,
      `params: expected parameters, got ${describe(given)}: pass its parameters().`,
    );
  }
  const isIterable = typeof given === "object" && given !== null && Symbol.iterator in given;
  if (!isIterable || given instanceof Tensor) {
    const advice = typeof given === "function" ? " Call it: model.parameters()." : "";
    const reason = `params: expected a list of tensors or groups, got ${describe(given)}.${advice}`;
    fail("InvalidArgument", name, reason);
  }
  return [...(given as Iterable<unknown>)];
}

/** Reads the parameters of a further group of the optimizer `name`, which has the groups `others`; throws InvalidArgument. */
export function readGroupParams(
  name: string,
  given: unknown,
  paramNames: readonly string[] | undefined,
  others: readonly { params: Tensor[]; paramNames?: string[] }[],
): GroupParams {
  const elements = given instanceof Tensor ? [given] : elementsOf(name, given);
  const params = elements.map((element) => (isNamed(element) ? element[1] : element));
  checkParams(
    name,
    params,
    others.flatMap((group) => group.params),
  );
  const own = elements.flatMap((element) => (isNamed(element) ? [element[0]] : []));
  if (own.length > 0 && own.length < params.length) {
    const reason = `params: ${own.length} of ${params.length} parameters have a name. Give one to all of them, or to none.`;
    fail("InvalidArgument", name, reason);
  }
  const names = own.length > 0 ? own : paramNames && [...paramNames];
  if (names !== undefined && names.length !== params.length) {
    const reason = `paramNames: expected ${params.length} names, one per parameter, got ${names.length}.`;
    fail("InvalidArgument", name, reason);
  }
  const [first] = others;
  if (first !== undefined && (first.paramNames === undefined) !== (names === undefined)) {
    const which =
      names === undefined
        ? "the others have them and this one does not"
        : "this one has them and the others do not";
    fail("InvalidArgument", name, `params: all groups have names or none has, but ${which}.`);
  }
  return { params, names };
}

function checkParams(
  name: string,
  params: unknown[],
  others: readonly Tensor[],
): asserts params is Tensor[] {
  const known = new Set(others);
  for (const param of params) {
    if (!(param instanceof Tensor)) {
      const reason = `params: expected tensors, got ${describe(param)}.`;
      fail("InvalidArgument", name, reason);
    }
    if (!param.isLeaf) {
      fail(
        "InvalidArgument",
        name,
        "params: expected leaves, got a non-leaf tensor, the result of an operation.",
      );
    }
    if (known.has(param)) {
      fail(
        "InvalidArgument",
        name,
        "params: expected distinct parameters, got the same one twice.",
      );
    }
    known.add(param);
  }
}

/** True for a parameter, with or without a name. */
export function isParam(value: unknown): boolean {
  return value instanceof Tensor || isNamed(value);
}

function isNamed(value: unknown): value is NamedParam {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "string";
}
