// Values other than tensors, such as the state dict of an optimizer.

import * as eg from "edgegrad";
import { type BroadcastOptions, broadcast, readSource } from "./tensors.js";

/**
 * Returns the value of rank `src` on all ranks: anything that `io.saveTorch` takes, such as numbers, strings, arrays, objects and state dicts
 * with tensors. Other ranks may pass anything. Throws DeviceLost if a rank is lost or late.
 */
export async function broadcastObject<T>(value: T, options: BroadcastOptions = {}): Promise<T> {
  const { src, group } = readSource("broadcastObject", options);
  const isSource = group.rank === src;
  const bytes = isSource ? await eg.io.saveTorch(value) : new Uint8Array(0);
  const size = eg.tensor([bytes.length], { dtype: "float64" });
  await broadcast(size, { src, group });
  const sent = isSource ? eg.tensor(bytes) : eg.zeros([size.item()], { dtype: "uint8" });
  await broadcast(sent, { src, group });
  const result = await eg.io.loadTorch(sent.dataSync() as Uint8Array);
  size.dispose();
  sent.dispose();
  return result as T;
}
