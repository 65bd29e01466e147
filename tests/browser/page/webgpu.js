// Trains on the devices in the URL, and counts the turns of the page's event loop while the GPU works.

import * as eg from "edgegrad";

const finish = (result) => {
  document.body.textContent = JSON.stringify(result);
};

function makeModel() {
  const { Linear, ReLU, Sequential } = eg.nn;
  return new Sequential(new Linear(16, 32), new ReLU(), new Linear(32, 4));
}

// Uses the asynchronous functions unless `blocks`.
async function train(device, blocks) {
  eg.manualSeed(0);
  const model = makeModel().to(device);
  // Drawn on the CPU, because a GPU draws other numbers.
  const x = eg.randn([32, 16]).to(device);
  const classes = eg.randint(0, 4, [32]).to(device);
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: 1e-2 });
  const losses = [];
  for (let step = 0; step < 20; step++) {
    optimizer.zeroGrad();
    const loss = eg.crossEntropy(model.call(x), classes);
    if (blocks) loss.backward();
    else await loss.backwardAsync();
    optimizer.step();
    losses.push(await loss.itemAsync());
  }
  return losses;
}

const kEnoughTurns = 10;
const kMostProducts = 1024;

// Counts the turns of the event loop while a result is awaited that takes long enough for some, however fast the machine is. A page
// that waits for the GPU in one task has hardly any, however long that takes.
async function turnsMeanwhile() {
  for (let products = 1; ; products *= 2) {
    const turns = await eg.scope(() => turnsDuring(products));
    if (turns >= kEnoughTurns || products > kMostProducts) return turns;
  }
}

async function turnsDuring(products) {
  const x = eg.rand([256, 256], { device: "webgpu", requiresGrad: true });
  let y = x;
  for (let i = 0; i < products; i++) y = y.matmul(x).mul(0.003);
  const loss = y.sum();
  let turns = 0;
  const timer = setInterval(() => turns++, 0); // timer: what it counts are the turns
  await loss.backwardAsync();
  await loss.itemAsync();
  clearInterval(timer);
  return turns;
}

async function run() {
  const { options, devices, blocks, attempts } = JSON.parse(
    new URLSearchParams(location.search).get("run"),
  );
  const failures = [];
  for (let attempt = 1; attempt < attempts; attempt++) {
    await eg.init(options).catch(({ code, message }) => failures.push(`${code} ${message}`));
  }
  await eg.init(options);
  const losses = {};
  for (const device of devices) losses[device] = await train(device, blocks);
  const { variant, webgpu } = eg.runtime();
  const stats = eg.webgpuStats();
  const turns = devices.includes("webgpu") && !blocks ? await turnsMeanwhile() : undefined;
  return { failures, losses, turns, variant, webgpu, stats };
}

run().then(finish, (error) => finish({ error: `${error.code}: ${error.stack}` }));
