// Workers of the pool that end while they have nothing to do.

import * as eg from "edgegrad";

const kModule = new URL("./spawn_module.mjs", import.meta.url).href;

/**
 * Makes `count` idle workers end, and returns before this thread can have noticed. Resolves to their threads in the order in which
 * they became idle.
 */
export async function endIdle(count) {
  const arrived = eg.zeros([count]);
  const flags = Array.from({ length: count }, () => new Int32Array(new SharedArrayBuffer(4)));
  const threads = [];
  const endOne = async (ended, i) =>
    threads.push(await eg.spawn(kModule, "dieIdle", arrived, i, ended));
  await Promise.all(flags.map(endOne));
  arrived.dispose();
  for (const ended of flags) Atomics.wait(ended, 0, 0);
  return threads;
}
