// Terminates workers during their work, and reports what is held until they have ended, and afterwards. And lets the stack overflow.

import * as eg from "edgegrad";
import { until } from "./until.js";

const kUrl = new URL("./ends_worker.js", import.meta.url);

// Every worker holds a lock until it has ended. The engine waits for it, and this page before the engine: a worker whose lock it has
// runs on, for all that the engine can see.
async function holdOn() {
  const locks = (await navigator.locks.query()).held;
  if (locks.length !== 1) throw new Error(`${locks.length} workers run`);
  const [{ name }] = locks;
  let letGo;
  const held = new Promise((resolve) => {
    letGo = resolve;
  });
  navigator.locks.request(name, () => held);
  return letGo;
}

async function endOne(x, left) {
  const worker = new Worker(kUrl, { type: "module" });
  const isRunning = eg.zeros([1]);
  const job = eg.spawn(worker, "spin", x, isRunning).catch((error) => error);
  await until("worker that runs", () => isRunning.item() === 1);
  isRunning.dispose();
  const letGo = await holdOn();
  worker.terminate();
  const { code } = await job;
  const held = left();
  // New tensors may reuse the memory of the worker's tensors.
  const made = Array.from({ length: 200 }, (_, k) => eg.full([10], k));
  const assertRight = () => {
    const isRight = eg.scope(() => made.every((one, k) => one.sum().item() === 10 * k));
    if (!isRight) throw new Error("numbers have changed");
  };
  assertRight();
  letGo();
  await until("release of what the worker held", () => left() === made.length);
  assertRight();
  for (const one of made) one.dispose();
  return { code, held };
}

// Returns whether ops are recorded, and the gradient of a step, after a recursion without end.
function overflow() {
  const x = eg.ones([3], { requiresGrad: true });
  const step = () => x.mul(2).sum().backward();
  const descend = () => {
    eg.scope(step);
    descend();
  };
  let name;
  try {
    descend();
  } catch (error) {
    ({ name } = error);
  }
  x.grad = null;
  step();
  return { name, isGradEnabled: eg.isGradEnabled(), grad: x.grad.tolist() };
}

async function run() {
  await eg.init({ threads: 2 });
  const x = eg.ones([100]);
  const { jsHandles } = eg.memory();
  const left = () => eg.memory().jsHandles - jsHandles;
  const ends = [];
  for (let i = 0; i < 5; i++) ends.push(await endOne(x, left));
  const { endedWorkerBytes } = eg.memory();
  return { ends, endedWorkerBytes, sum: x.sum().item(), overflow: overflow() };
}

run().then(finish, (error) => finish({ error: `${error.code}: ${error.stack}` }));

function finish(result) {
  document.body.textContent = JSON.stringify(result);
}
