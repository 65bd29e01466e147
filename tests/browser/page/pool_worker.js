// The functions that pool.html runs in the engine's own workers.

import * as eg from "edgegrad";

const kHere = import.meta.url;
const kSelf = Math.random();

export const self = () => kSelf;

export const slowly = async (x) => {
  await new Promise((resolve) => setTimeout(resolve, 2)); // timer: whatever the function waits for
  return [x.mul(2), kSelf];
};

export const leaves = async (depth) => {
  if (depth === 0) return 1;
  const parts = await Promise.all([1, 2].map(() => eg.spawn(kHere, "leaves", depth - 1)));
  return parts[0] + parts[1];
};

export const unsendable = () => ({ x: eg.ones([1000]), fn: () => 1 });
