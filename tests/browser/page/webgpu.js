// Trains on the devices in the URL, and measures how long the page's main thread was blocked.

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

// Returns the longest time between two turns of the event loop while `work` is pending, in milliseconds.
async function longestGap(work) {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 5);
  try {
    return { value: await work(), gap: Math.max(longest, performance.now() - last) };
  } finally {
    clearInterval(timer);
  }
}

async function run() {
  const { options, devices, blocks } = JSON.parse(new URLSearchParams(location.search).get("run"));
  await eg.init(options);
  const losses = {};
  const gaps = {};
  for (const device of devices) {
    const { value, gap } = await longestGap(() => train(device, blocks));
    losses[device] = value;
    gaps[device] = gap;
  }
  const { variant, webgpu } = eg.runtime();
  return { losses, gaps, variant, webgpu, stats: eg.webgpuStats() };
}

run().then(finish, (error) => finish({ error: `${error.code}: ${error.stack}` }));
