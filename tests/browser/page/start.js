// Starts with the options in the URL, trains for a few steps, and runs backward alongside the page's own work.

import * as eg from "edgegrad";

const warnings = [];
console.warn = (...texts) => warnings.push(texts.join(" "));
const finish = (result) => {
  document.body.textContent = JSON.stringify({ ...result, warnings });
};

async function train() {
  const x = eg.randn([64, 10]);
  const y = eg.randint(0, 3, [64]);
  const model = new eg.nn.Linear(10, 3);
  const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.1 });
  const losses = [];
  for (let step = 0; step < 10; step++) {
    const loss = eg.crossEntropy(model.call(x), y);
    optimizer.zeroGrad();
    await loss.backwardAsync();
    optimizer.step();
    losses.push(loss.item());
  }
  return losses.at(-1) < losses[0];
}

const kEnoughFrames = 4;
const kMostProducts = 1600;

// Counts the frames drawn during a backward call that takes long enough for some, however fast the machine is. A page that cannot
// draw meanwhile draws none, however long the call takes.
async function framesDuringBackward() {
  for (let products = 100; ; products *= 2) {
    const frames = await eg.scope(() => framesDuring(products));
    if (frames >= kEnoughFrames || products > kMostProducts) return frames;
  }
}

async function framesDuring(products) {
  const x = eg.rand([300, 300], { requiresGrad: true });
  let y = x;
  for (let i = 0; i < products; i++) y = y.matmul(x).mul(0.003);
  let frames = 0;
  let isRunning = true;
  const draw = () => {
    if (!isRunning) return;
    frames++;
    requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
  await y.sum().backwardAsync();
  isRunning = false;
  return frames;
}

// No await at the top level, which scripts that are no modules do not allow.
async function main() {
  try {
    const query = new URLSearchParams(location.search);
    const options = JSON.parse(query.get("options") ?? "{}");
    if (query.has("cores")) {
      const cores = query.get("cores");
      const value = cores === "undefined" ? undefined : Number(cores);
      Object.defineProperty(navigator, "hardwareConcurrency", { value });
    }
    if (query.has("waits")) {
      await new Promise((resolve) => {
        globalThis.go = resolve;
      });
    }
    if (query.has("memory")) {
      // As where no memory is left.
      WebAssembly.instantiate = async () => {
        throw new RangeError(
          "WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory",
        );
      };
    }
    const failures = [];
    for (let left = Number(query.get("retries") ?? 0); left > 0; left--) {
      await eg.init(options).catch((error) => failures.push(error.message));
    }
    await eg.init(options);
    const { variant, threads } = eg.runtime();
    const trained = await train();
    const frames = await framesDuringBackward();
    finish({ variant, threads, trained, frames, failures });
  } catch (error) {
    finish({ error: `${error.code}: ${error.message}` });
  }
}

main();
