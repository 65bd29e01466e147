// Native PyTorch on one thread, which takes part only with `--with torch`. A Python process computes and measures; this
// module sends it commands.

import { spawnServer } from "./torch_server.mjs";

export async function load() {
  const ask = spawnServer("server.py");
  const { version, blas } = await ask({ do: "describe" });
  return {
    detail: `${version}, 1 thread${blas && `, BLAS: ${blas}`}`,
    timeOf: async (op, sizes, isWithBackward, ms) =>
      (await ask({ do: "timeOf", op, sizes, isWithBackward, ms })).best,
    trainer: (task, batches) => trainer(ask, task, batches),
  };
}

/** Steps are sent together when the loss is read, so that there is not a message for each step. */
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
