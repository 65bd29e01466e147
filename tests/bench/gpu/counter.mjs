// Counts what is asked of WebGPU, whoever asks and in whatever thread: loaded with --import before everything else, in
// workers too, and so outside of what is measured. Each thread patches npm's `webgpu` and tells its counts when asked.

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
