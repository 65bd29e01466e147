// The engine's own workers in a page: many calls, nested calls, and what is left when the workers are idle.

import * as eg from "edgegrad";

const module = new URL("./pool_worker.js", import.meta.url);
const run = (name, ...args) => eg.spawn(module, name, ...args);
const times = (count, fn) => Array.from({ length: count }, (_, i) => fn(i));

async function work() {
  const later = globalThis.setTimeout;
  await eg.init({ threads: 1, spawnWorkers: 2 });
  const x = eg.ones([10]);
  const { jsHandles } = eg.memory();
  const answers = await Promise.all(times(300, () => run("slowly", x)));
  const workers = new Set(answers.map(([, worker]) => worker)).size;
  const sum = answers.reduce((all, [y]) => all + eg.scope(() => y.sum().item()), 0);
  for (const [y] of answers) y.dispose();
  const leaves = await run("leaves", 4);
  const refusals = await Promise.all(times(20, () => run("unsendable").catch(({ code }) => code)));
  // Makes idle workers end immediately instead of after some seconds.
  globalThis.setTimeout = (fn, milliseconds) => later(fn, milliseconds === 5000 ? 1 : milliseconds);
  const last = await run("self");
  await new Promise((resolve) => later(resolve, 500));
  const isNew = (await run("self")) !== last;
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
