// The engine's own workers in a page: many calls, nested calls, and what is left when the workers are idle.

import { until } from "./until.js";

/** The engine ends a worker that has been idle for this long. */
const kIdleTime = 5000; // ms

const module = new URL("./pool_worker.js", import.meta.url);
const times = (count, fn) => Array.from({ length: count }, (_, i) => fn(i));

// The timers of idle workers, whose time passes when this page says so.
const idle = new Map();

function holdIdleTimers() {
  const { setTimeout: start, clearTimeout: stop } = globalThis; // timer: they are replaced
  const startOrHold = (fn, time, ...rest) => {
    if (time !== kIdleTime) return start(fn, time, ...rest);
    const timer = {};
    idle.set(timer, fn);
    return timer;
  };
  globalThis.setTimeout = startOrHold; // timer: time passes when this page says so
  globalThis.clearTimeout = (timer) => {
    if (!idle.delete(timer)) stop(timer);
  };
}

// The package has the timers of the moment in which it is imported.
holdIdleTimers();
const eg = await import("edgegrad");
const run = (name, ...args) => eg.spawn(module, name, ...args);

function passIdleTime() {
  for (const [timer, fn] of idle) {
    idle.delete(timer);
    fn();
  }
}

// A worker holds a lock until it has ended.
async function countWorkers() {
  const { held } = await navigator.locks.query();
  return held.filter(({ name }) => name.startsWith("edgegrad-")).length;
}

async function work() {
  await eg.init({ threads: 1, spawnWorkers: 2 });
  const x = eg.ones([10]);
  const { jsHandles } = eg.memory();
  const answers = await Promise.all(times(300, () => run("slowly", x)));
  const workers = new Set(answers.map(([, worker]) => worker)).size;
  const sum = answers.reduce((all, [y]) => all + eg.scope(() => y.sum().item()), 0);
  for (const [y] of answers) y.dispose();
  const leaves = await run("leaves", 4);
  const refusals = await Promise.all(times(20, () => run("unsendable").catch(({ code }) => code)));
  const last = await run("self");
  passIdleTime();
  const isNew = (await run("self")) !== last;
  await until("end of the idle workers", async () => (await countWorkers()) === 1);
  const left = eg.memory().jsHandles - jsHandles;
  await eg.shutdown();
  // React's strict mode does the same.
  await Promise.all([eg.init({ threads: 1 }), eg.shutdown(), eg.init({ threads: 2 })]);
  const alive = eg.ones([2]).sum().item();
  return { workers, sum, leaves, codes: [...new Set(refusals)], isNew, left, alive };
}

work().then(finish, (error) => finish({ error: `${error.code}: ${error.stack}` }));

function finish(result) {
  document.body.textContent = JSON.stringify(result);
}
