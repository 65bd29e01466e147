// Counts the calls of WebGPU by any library in any thread. It is loaded with --import before everything else, including
// in workers, and thus independent of what is measured. In each thread it patches npm's `webgpu` and reports its counts
// on request.

import { globals } from "webgpu";
import { kChannel, kCounted, kCountedBytes, kFigures } from "./counts.mjs";

const counts = Object.fromEntries(kFigures.map((id) => [id, 0]));

function count(id, type, name, amount) {
  const { prototype } = globals[type];
  const original = prototype[name];
  prototype[name] = function (...given) {
    counts[id] += amount(this, given);
    return original.apply(this, given);
  };
}

for (const [id, { type, methods }] of Object.entries(kCounted)) {
  for (const name of methods) count(id, type, name, () => 1);
}
for (const [id, parts] of Object.entries(kCountedBytes)) {
  for (const { type, method, bytes } of parts) count(id, type, method, bytes);
}

const channel = new BroadcastChannel(kChannel);
channel.onmessage = ({ data }) => {
  if (data === "how many?") channel.postMessage(counts);
};
channel.unref();
