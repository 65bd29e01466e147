// Counts the calls of WebGPU by any library in any thread. It is loaded with --import before everything else, including
// in workers, and thus independent of what is measured. In each thread it patches npm's `webgpu` and reports its counts
// on request.

import { globals } from "webgpu";
import { kChannel, kCounted } from "./counts.mjs";

const counts = Object.fromEntries(Object.keys(kCounted).map((id) => [id, 0]));

function countCalls(id, prototype, name) {
  const original = prototype[name];
  prototype[name] = function (...given) {
    ++counts[id];
    return original.apply(this, given);
  };
}

for (const [id, { type, methods }] of Object.entries(kCounted)) {
  for (const name of methods) countCalls(id, globals[type].prototype, name);
}

const channel = new BroadcastChannel(kChannel);
channel.onmessage = ({ data }) => {
  if (data === "how many?") channel.postMessage(counts);
};
channel.unref();
