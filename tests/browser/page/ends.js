// Terminates workers during their work, and reports what is held immediately and after they have ended.

import * as eg from "edgegrad";

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function endOne(x) {
  const url = new URL("./ends_worker.js", import.meta.url);
  const worker = new Worker(url, { type: "module" });
  const isRunning = eg.zeros([1]);
  const job = eg.spawn(worker, "spin", x, isRunning).catch((error) => error);
  while (isRunning.item() === 0) await sleep(1);
  isRunning.dispose();
  const start = performance.now();
  worker.terminate();
  const { code } = await job;
  return { code, time: performance.now() - start };
}

async function run() {
  await eg.init({ threads: 2 });
  const x = eg.ones([100]);
  const { jsHandles } = eg.memory();
  const ends = [];
  for (let i = 0; i < 5; i++) {
    ends.push(await endOne(x));
    // New tensors may reuse the memory of the worker's tensors.
    const made = Array.from({ length: 200 }, (_, k) => eg.full([10], k));
    await sleep(1);
    const isRight = eg.scope(() => made.every((one, k) => one.sum().item() === 10 * k));
    if (!isRight) throw new Error("numbers have changed");
    for (const one of made) one.dispose();
  }
  const left = () => eg.memory().jsHandles - jsHandles;
  const start = performance.now();
  while (left() > 0 && performance.now() - start < 20_000) await sleep(10);
  return { ends, left: left(), sum: x.sum().item() };
}

run().then(finish, (error) => finish({ error: `${error.code}: ${error.stack}` }));

function finish(result) {
  document.body.textContent = JSON.stringify(result);
}
