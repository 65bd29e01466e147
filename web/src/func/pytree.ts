// Trees of tensors, which the functions of eg.func take and return: arbitrarily nested arrays and plain objects.

import { isPlainObject } from "../arguments/read.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";

/** A tensor, or nested arrays and plain objects of tensors; other values are passed through unchanged. */
// biome-ignore lint/suspicious/noExplicitAny: functions with typed arguments must be accepted.
export type Tree = any;

/** Returns a tree of the same structure with `fn` applied to every leaf. */
export function mapTree(tree: unknown, fn: (leaf: unknown) => unknown, depth = 0): unknown {
  checkDepth(depth);
  const visit = (part: unknown) => mapTree(part, fn, depth + 1);
  if (Array.isArray(tree)) return tree.map(visit);
  if (!isPlainObject(tree)) return fn(tree);
  return Object.fromEntries(Object.entries(tree).map(([name, part]) => [name, visit(part)]));
}

// An array that contains itself would never end.
function checkDepth(depth: number): void {
  if (depth <= kMaxDepth) return;
  fail("InvalidArgument", "func", `arrays and objects may be nested at most ${kMaxDepth} deep.`);
}

const kMaxDepth = 64;

/** Returns the leaves of a tree, in order. */
export function leavesOf(tree: unknown): unknown[] {
  const leaves: unknown[] = [];
  mapTree(tree, (leaf) => leaves.push(leaf));
  return leaves;
}

/** Returns the leaves of a tree; all must be tensors. */
export function tensorsOf(where: string, what: string, tree: unknown): Tensor[] {
  return leavesOf(tree).map((leaf) => {
    if (leaf instanceof Tensor) return leaf;
    return fail("InvalidArgument", where, `${what}: expected tensors, got ${describe(leaf)}.`);
  });
}

/** Returns a tree with the structure of `tree` and the given leaves. */
export function withLeaves(tree: unknown, leaves: readonly unknown[]): unknown {
  let next = 0;
  return mapTree(tree, () => leaves[next++]);
}

/** Returns the value for every leaf of `tree` from `prefix`, a tree with the same structure or only the upper part of it. */
export function spreadOver(where: string, name: string, prefix: unknown, tree: unknown): unknown[] {
  if (!Array.isArray(prefix) && !isPlainObject(prefix)) return leavesOf(tree).map(() => prefix);
  const isAlike = Array.isArray(prefix)
    ? Array.isArray(tree) && prefix.length === tree.length
    : isPlainObject(tree) && Object.keys(tree).every((key) => Object.hasOwn(prefix, key));
  if (!isAlike) {
    fail(
      "InvalidArgument",
      where,
      `${name} does not have the structure of the tensors to which it applies.`,
    );
  }
  const parts = tree as Record<string, unknown>;
  return Object.keys(parts).flatMap((key) =>
    spreadOver(where, name, (prefix as Record<string, unknown>)[key], parts[key]),
  );
}
