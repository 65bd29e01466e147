// Reading a tensor without blocking.

import { native, takeErrorFor } from "../runtime/bridge/bridge.js";
import { holdFunction } from "../runtime/bridge/callbacks.js";
import { kFailed } from "../runtime/bridge/native.js";
import { untilSettled } from "../runtime/threads/keep_alive.js";
import { handleOf } from "./info.js";
import type { Tensor } from "./tensor.js";

/**
 * Calls `read` with a CPU tensor that holds the values the tensor has now, once they have been transferred.
 * `make` makes a tensor from a handle.
 */
export async function readLater<T>(
  caller: string,
  tensor: Tensor,
  make: (handle: number) => Tensor,
  read: (host: Tensor) => T,
): Promise<T> {
  if (tensor.device === "cpu") return read(tensor);
  const handle = await untilSettled<number>(caller, (resolve, reject) => {
    const answer = holdFunction(([outcome = kFailed]) => {
      if (outcome === kFailed) reject(takeErrorFor(caller));
      else resolve(outcome);
      return [];
    });
    if (native.readLater(handleOf(tensor), answer) === kFailed) reject(takeErrorFor(caller));
  });
  const host = make(handle);
  try {
    return read(host);
  } finally {
    host.dispose();
  }
}
