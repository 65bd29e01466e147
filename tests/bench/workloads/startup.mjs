// The wall-clock time from the start of a process to the end of its first training step: loading the package, compiling
// its WebAssembly, starting threads, creating the model, one step, reading the loss.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kRoot } from "../../../scripts/process.mjs";
import { median } from "../clock.mjs";
import { resultOf } from "../contenders.mjs";
import { errorIn } from "../runner.mjs";

export default {
  name: "startup",
  title: "Process start to first training step, MLP 784-128-10",
  contenders: ["edgegrad", "edgegradCached", "bare", "tfjs", "jax"],
  rows: ({ nodeMajor }) => [
    {
      id: "first",
      title: "median",
      unit: "ms",
      better: "lower",
      target: nodeMajor >= 22 ? 70 : 120,
    },
    { id: "best", unit: "ms", better: "lower" },
  ],

  /** Rounds over all programs, so that a disturbance affects all of them. */
  async measureAll(node, { quick }) {
    const times = Object.fromEntries(this.contenders.map((id) => [id, []]));
    const failures = {};
    for (let round = 0; round < (quick ? 5 : 11); ++round) {
      for (const id of this.contenders) {
        if (failures[id]) continue;
        await startOnce(node, id).then(
          (time) => times[id].push(time),
          (error) => {
            failures[id] = error.message;
          },
        );
      }
    }
    return this.contenders.map((contender) => {
      const all = times[contender];
      const values = all.length ? { first: median(all), best: Math.min(...all) } : {};
      return resultOf(contender, values, failures[contender]);
    });
  },
};

/** Where Node.js 22 and newer keep compiled JavaScript of the contender with a compile cache. */
const kCompileCache = join(kRoot, "build", "bench", "compile_cache");

function startOnce(node, id) {
  const isCached = id === "edgegradCached";
  const name = isCached ? "edgegrad" : id;
  const program = fileURLToPath(new URL(`../programs/${name}.mjs`, import.meta.url));
  const env = { ...process.env, ...(isCached && { NODE_COMPILE_CACHE: kCompileCache }) };
  const start = performance.timeOrigin + performance.now();
  const child = spawn(node, [program], { env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) {
    child[stream].setEncoding("utf8").on("data", (text) => {
      output[stream] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      const end = Number.parseFloat(output.stdout.trim().split("\n").at(-1));
      if (code === 0 && end) resolve(end - start);
      else reject(new Error(errorIn(output.stderr) ?? `exited with ${code}`));
    });
  });
}
