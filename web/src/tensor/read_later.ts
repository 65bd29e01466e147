// Reading a tensor without blocking.

import { native, takeErrorFor } from "../runtime/bridge.js";
import { holdFunction } from "../runtime/callbacks.js";
import { untilSettled } from "../runtime/keep_alive.js";
import { kFailed } from "../runtime/native.js";
import { handleOf } from "./info.js";
import type { Tensor } from "./tensor.js";

/**
 * Calls `read` with a tensor of the same values on the CPU as soon as they are there: what the tensor was when
 * it was asked. `make` makes a tensor of a handle.
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
