// Native PyTorch on one thread: what takes part only with `--with torch`. A Python process computes and times; this side
// tells it what to do.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Debian's, which has the package python3-torch. */
export const kPython = "/usr/bin/python3";

const kServer = fileURLToPath(new URL("../torch/server.py", import.meta.url));

export async function load() {
  const python = spawn(kPython, [kServer], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" },
  });
  const answers = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
  const ask = async (command) => {
    python.stdin.write(`${JSON.stringify(command, encoded)}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error(`Error: Python ended at ${command.do}`);
    return JSON.parse(value);
  };
  const { version, blas } = await ask({ do: "describe" });
  return {
    detail: `${version}, 1 thread${blas && `, BLAS: ${blas}`}`,
    timeOf: async (op, sizes, isWithBackward, ms) =>
      (await ask({ do: "timeOf", op, sizes, isWithBackward, ms })).best,
    trainer: (task, batches) => trainer(ask, task, batches),
  };
}

/** Typed arrays as text: they are objects by the time a replacer sees them, but for what holds them. */
function encoded(key, value) {
  const original = this[key];
  const kind = original instanceof Float32Array ? "f32" : original instanceof Uint8Array && "u8";
  if (!kind) return value;
  const { buffer, byteOffset, byteLength } = original;
  return { [kind]: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

/** Steps are asked for together when the loss is read, so that a step is not a message. */
function trainer(ask, task, batches) {
  const started = ask({ do: "start", ...task, batches });
  let asked = [];
  return {
    step: (i) => void asked.push(i),
    async loss() {
      await started;
      const [first, count] = [asked[0], asked.length];
      asked = [];
      return (await ask({ do: "steps", first, count })).loss;
    },
  };
}
