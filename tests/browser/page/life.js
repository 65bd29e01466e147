// Starts and stops the engine many times, each time training a network and, if it `spawns`, using workers. It reports its progress.

import * as eg from "edgegrad";

const kReports = 10;

async function live({ cycles, options, spawns = false, device = "cpu" }) {
  const module = new URL("./threads_worker.js", import.meta.url);
  for (let cycle = 1; cycle <= cycles; cycle++) {
    await eg.init(options);
    const model = new eg.nn.Sequential(
      new eg.nn.Linear(32, 64),
      new eg.nn.ReLU(),
      new eg.nn.Linear(64, 4),
    );
    model.to(device);
    const optimizer = new eg.optim.Adam(model.parameters(), { lr: 1e-3 });
    const loss = model
      .call(eg.randn([16, 32], { device }))
      .square()
      .mean();
    await loss.backwardAsync();
    optimizer.step();
    if (!Number.isFinite(await loss.itemAsync()))
      throw new Error(`the loss of cycle ${cycle} is no number`);
    if (spawns) {
      const w = eg.zeros([10], { requiresGrad: true });
      await Promise.all([1, 2].map((count) => eg.spawn(module, "accumulate", w, count)));
      if (w.grad.sum().item() !== 30) throw new Error(`cycle ${cycle}: ${w.grad}`);
    }
    await eg.shutdown();
    if (cycle % Math.ceil(cycles / kReports) === 0) await globalThis.report?.(`${cycle} cycles`);
    // Lets the browser draw, as it does between two pages of a site.
    await new Promise((resolve) => setTimeout(resolve)); // timer: the end of a task
  }
  return { cycles };
}

const given = JSON.parse(new URLSearchParams(location.search).get("run"));
live(given).then(finish, (error) => finish({ error: `${error.code}: ${error.stack}` }));

function finish(result) {
  document.body.textContent = JSON.stringify(result);
}
