// The network that the page opens with, which finished/train.ts has trained.

import network from "./network.safetensors?url";

/** The weights of the network, as a safetensors file. */
export async function finishedNetwork(): Promise<Uint8Array> {
  return new Uint8Array(await (await fetch(network)).arrayBuffer());
}
