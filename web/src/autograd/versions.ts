// Versions of tensors, which tell saved tensors that they were changed in place.

import { checkedFor, native } from "../runtime/bridge/bridge.js";
import { handleOf } from "../tensor/info.js";
import { tensorRule } from "../tensor/rules.js";
import type { Tensor } from "../tensor/tensor.js";
import { runInMode } from "./mode.js";
import { toList } from "./run.js";

/** Increases the versions of tensors whose memory was changed by other means than operations. Tensors of inference mode have none. */
export function incrementVersion(tensors: Tensor | Iterable<Tensor>): void {
  for (const tensor of listOf("incrementVersion", tensors)) {
    checkedFor("incrementVersion", native.incrementVersion(handleOf(tensor)));
  }
}

/**
 * Runs `fn` and returns its value; the tensors then have the versions that they had before. In-place changes in it are not detected by
 * what saved these tensors: wrong gradients are possible.
 */
export function unsafePreserveVersionCounter<T>(
  tensors: Tensor | Iterable<Tensor>,
  fn: () => T,
): T {
  const where = "unsafePreserveVersionCounter";
  const kept = listOf(where, tensors).map((tensor) => ({ tensor, version: tensor.version }));
  return runInMode(where, fn, () => {
    for (const { tensor, version } of kept) {
      checkedFor(where, native.setVersion(handleOf(tensor), version));
    }
  });
}

function listOf(where: string, tensors: Tensor | Iterable<Tensor>): Tensor[] {
  const isList = typeof tensors === "object" && tensors !== null && Symbol.iterator in tensors;
  const list = toList(isList && !tensorRule.accepts(tensors) ? [...tensors] : (tensors as Tensor));
  return list.map((tensor) => tensorRule.check(where, "tensors", tensor));
}
