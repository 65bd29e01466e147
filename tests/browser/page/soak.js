// Trains on WebGPU for many steps with varying shapes and occasional reads, and reports what is held.

import * as eg from "edgegrad";
import { until } from "./until.js";

const { nn } = eg;
const kDevice = "webgpu";
const kWidth = 24;
const kReports = 10;

// A small seeded generator (mulberry32), so that a failed run can be repeated.
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const input = (...shape) => eg.randn(shape, { device: kDevice });

/** Each computes a loss for inputs whose sizes `pick` chooses; `core` is a layer that all of them train. */
const kTasks = {
  rows: (pick, core) =>
    core
      .call(input(pick(1, 64), kWidth))
      .relu()
      .square()
      .mean(),
  classes: (pick, core) => {
    const count = pick(1, 48);
    const classes = eg.randint(0, kWidth, [count], { device: kDevice });
    return eg.crossEntropy(core.call(input(count, kWidth)), classes);
  },
  attention: (pick, core) => {
    const hidden = core.call(input(pick(1, 3), pick(1, 20), kWidth));
    const [query, key, value] = [0, 8, 16].map((start) => hidden.narrow(-1, start, 8));
    return eg.scaledDotProductAttention(query, key, value, { isCausal: true }).square().mean();
  },
  pictures: (pick, core) => {
    const channels = pick(1, 3);
    const pictures = input(pick(1, 4), channels, pick(4, 12), pick(4, 12));
    const weight = core.weight.narrow(0, 0, 9 * channels).narrow(1, 0, 1);
    const found = eg.conv2d(pictures, weight.reshape([1, channels, 3, 3]), { padding: 1 });
    return eg.maxPool2d(found, 2).square().mean();
  },
  order: (pick, core) => {
    const scores = core.call(input(pick(2, 30), kWidth));
    const [best] = scores.topk(pick(1, 8), -1);
    return best.cumsum(0).mean().add(scores.softmax(-1).std());
  },
  parts: (pick, core) => {
    const rows = core.call(input(pick(2, 40), kWidth));
    const places = eg.randint(0, rows.shape[0], [pick(1, 60)], { device: kDevice });
    const chosen = rows.indexSelect(0, places).reshape(-1);
    return eg
      .cat([chosen, rows.t().reshape(-1)])
      .sin()
      .mean();
  },
};

function held() {
  const { cpuBytes, gpuBytes, gpuBuffers, jsHandles } = eg.memory();
  const { pipelines, buffersCreated, readbacks, dispatches } = eg.webgpuStats();
  return {
    cpuBytes,
    gpuBytes,
    gpuBuffers,
    jsHandles,
    pipelines,
    buffersCreated,
    readbacks,
    dispatches,
  };
}

// The player's thread releases what was read shortly after it has reported the result.
function untilLetGo() {
  return until("release of what was read", () => eg.memory().cpuBytes === 0);
}

async function soak({ steps, seed }) {
  await eg.init({ threads: 2, webgpu: "required" });
  eg.manualSeed(seed);
  const random = randomNumbers(seed);
  const pick = (low, high) => low + Math.floor(random() * (high - low + 1));
  const core = new nn.Linear(kWidth, 2 * kWidth).to(kDevice);
  const names = Object.keys(kTasks);
  const optimizer = new eg.optim.Adam(core.parameters(), { lr: 1e-3 });
  const reports = [];
  for (let step = 1; step <= steps; step++) {
    const name = names[pick(0, names.length - 1)];
    await eg.scope(async () => {
      optimizer.zeroGrad();
      const loss = kTasks[name](pick, core);
      await loss.backwardAsync();
      optimizer.step();
      const kind = pick(0, 3);
      if (kind === 0) await loss.itemAsync();
      if (kind === 1) await core.weight.grad.data();
      if (kind === 2 && !Number.isFinite(await loss.itemAsync()))
        throw new Error(`${name}: not finite`);
    });
    if (step % Math.ceil(steps / kReports) === 0 || step === steps) {
      optimizer.zeroGrad();
      // When this read has finished, all commands before it have been executed.
      await core.bias.data();
      await untilLetGo();
      reports.push({ step, ...held() });
      await globalThis.report?.(`${step} steps`);
    }
  }
  const weights = await core.weight.data();
  return { reports, hasNumbers: weights.every(Number.isFinite) };
}

const given = JSON.parse(new URLSearchParams(location.search).get("run"));
soak(given).then(
  (result) => finish(result),
  (error) => finish({ error: `${error.code}: ${error.stack}` }),
);

function finish(result) {
  document.body.textContent = JSON.stringify(result);
}
