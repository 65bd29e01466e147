// Random small programs around a captured function: the same actions run on two identical states. One calls the
// function itself, the other the captured function. After every action both states are equal, or the captured function
// has thrown without changing anything.

import assert from "node:assert/strict";

const kActions = 12;

/** Returns a seeded generator of numbers in [0, 1). */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs a program; returns how many calls were replayed and, if it ended early, why. */
export function runProgram(eg, device, seed) {
  const random = makeRandom(seed);
  eg.manualSeed(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const parts = partsOfFunction(pick, random);
  const worlds = [false, true].map((isCaptured) => makeWorld(eg, device, parts, isCaptured));
  const log = [`seed ${seed}, parts ${JSON.stringify(parts)}`];
  let played = 0;
  const message = () => log.join("; ");
  try {
    const first = worlds.map((world) => outcomeOf(eg, () => world.start()));
    if (first[1].code !== undefined) {
      return { played, refused: first[1] };
    }
    assert.equal(first[0].code, undefined, `${message()}: only the function itself failed`);
    compare(worlds, message);
    for (let i = 0; i < kActions; i++) {
      const name = pick(kNames);
      const number = random();
      log.push(`${name} ${number.toFixed(3)}`);
      const before = stateOf(worlds[1]);
      const [expected, found] = worlds.map((world) =>
        outcomeOf(eg, () => actions(eg, device, parts)[name](world, number)),
      );
      if (found.code !== undefined) {
        // A captured function that throws has changed nothing.
        if (/\[capture\] (?!the result)/.test(found.message))
          assert.deepEqual(
            valuesIn(stateOf(worlds[1])),
            valuesIn(before),
            `${message()}: changed by a refused call`,
          );
        else if (!/\[capture\]/.test(found.message))
          assert.equal(found.code, expected.code, `${message()}: ${found.message}`);
        return { played, refused: found };
      }
      assert.equal(expected.code, undefined, `${message()}: ${expected.message} was not noticed`);
      assertAlike(found.value, expected.value, () => `${message()}: other results`);
      compare(worlds, message);
      if (name.startsWith("call")) played++;
    }
    return { played };
  } finally {
    for (const world of worlds) world.captured?.dispose();
  }
}

function outcomeOf(eg, work) {
  try {
    return { value: work() };
  } catch (error) {
    if (!(error instanceof eg.EdgeGradError) || error.code === "Internal") throw error;
    return { code: error.code, message: error.message };
  }
}

function partsOfFunction(pick, random) {
  const isTraining = random() < 0.8;
  return {
    zero: pick(["begin", "begin", "middle", "end", "none"]),
    backward: isTraining,
    twice: isTraining && random() < 0.2,
    clip: isTraining && random() < 0.25,
    step: isTraining && random() < 0.6,
    setsGrad: random() < 0.1,
    buffer: pick(["none", "none", "add", "view"]),
    momentum: pick([0, 0.9]),
    returns: pick(["loss", "loss", "both", "nothing", "parameter", "input"]),
    mode: pick(["none", "none", "none", "none", "noGrad"]),
    isKept: random() < 0.1,
    module: random() < 0.5,
  };
}

function makeWorld(eg, device, parts, isCaptured) {
  const { nn, optim } = eg;
  const make = (values, options) => eg.tensor(values, { device, ...options });
  const model = new nn.Linear(3, 2);
  const norm = new nn.BatchNorm1d(2);
  eg.noGrad(() => {
    model.weight.copy_(
      eg.tensor([
        [0.5, -1, 0.25],
        [1, 0.75, -0.5],
      ]),
    );
    model.bias.copy_(eg.tensor([0.125, -0.25]));
  });
  model.to(device);
  norm.to(device);
  const world = {
    make,
    model,
    norm,
    leaf: make([1, -2], { requiresGrad: true }),
    extra: make([0.5, 2], { requiresGrad: true }),
    buffer: make([1, 2]),
    held: [],
    hooks: [],
    saved: null,
    last: null,
  };
  const params = [...model.parameters(), ...norm.parameters(), world.leaf];
  world.optimizer = new optim.SGD(params, { lr: 0.125, momentum: parts.momentum });
  const body = (x) => {
    const { optimizer } = world;
    if (parts.zero === "begin") optimizer.zeroGrad();
    let y = model.call(x);
    if (parts.module) y = norm.call(y);
    y = y.mul(world.leaf).add(world.extra);
    if (parts.buffer === "add") eg.noGrad(() => void world.buffer.add_(y.detach().mean(0)));
    if (parts.buffer === "view") eg.noGrad(() => void world.buffer.narrow(0, 1, 1).mul_(0.5));
    const loss = y.square().mean().add(world.buffer.sum().mul(0.01));
    if (parts.zero === "middle") optimizer.zeroGrad();
    if (parts.setsGrad) world.leaf.grad = make([1, 1]);
    if (parts.backward) loss.backward(null, { retainGraph: parts.twice });
    if (parts.twice) loss.backward();
    if (parts.clip) nn.utils.clipGradNorm_(params, 0.5);
    if (parts.step) optimizer.step();
    if (parts.zero === "end") optimizer.zeroGrad();
    return { loss, both: [loss, y], parameter: world.leaf, input: x, nothing: undefined }[
      parts.returns
    ];
  };
  world.fn = parts.mode === "noGrad" && !parts.backward ? (x) => eg.noGrad(() => body(x)) : body;
  world.start = () => {
    const x = inputOf(world, 0.3);
    if (isCaptured) {
      world.captured = eg.capture(world.fn, x);
    } else {
      world.fn(x.clone());
      world.fn(x.clone());
    }
  };
  world.call = (x) => {
    const result = isCaptured ? world.captured(x) : world.fn(x);
    const list = result === undefined ? [] : Array.isArray(result) ? result : [result];
    world.last = list[0] ?? null;
    return list.map((t) => Array.from(t.dataSync()));
  };
  return world;
}

function inputOf(world, number) {
  const values = [0, 1, 2, 3].map((i) => [0, 1, 2].map((j) => ((i * 3 + j) * 0.25 - number) * 2));
  return world.make(values);
}

const actions = (eg, device, parts) => ({
  call: (world, n) => world.call(inputOf(world, n)),
  callAgain: (world, n) => world.call(inputOf(world, 1 - n)),
  callTransposed: (world, n) => {
    const t = eg.tensor(inputOf(world, n).t().contiguous().arraySync(), { device });
    return world.call(t.t());
  },
  callOtherShape: (world) => world.call(inputOf(world, 0.5).narrow(0, 0, 2)),
  callRequiring: (world, n) => {
    const x = inputOf(world, n).requiresGrad_();
    return [world.call(x), x.grad && Array.from(x.grad.dataSync())];
  },
  callNoGrad: (world, n) => eg.noGrad(() => world.call(inputOf(world, n))),
  callInference: (world, n) => eg.inferenceMode(() => world.call(inputOf(world, n))),
  callThenBackward: (world, n) => {
    world.call(inputOf(world, n));
    // The result must not include a graph that backward() has freed.
    if (world.last !== null && !parts.backward) world.last.sum().mul(world.extra.sum()).backward();
  },
  zeroGrad: (world) => world.optimizer.zeroGrad(),
  step: (world) => void world.optimizer.step(),
  gradNull: (world) => {
    world.leaf.grad = null;
  },
  gradReplaced: (world, n) => {
    world.leaf.grad = world.make([n, 1]);
  },
  gradShared: (world) => {
    const { grad } = world.leaf;
    world.extra.grad = grad;
  },
  gradChanged: (world, n) => void world.model.weight.grad?.mul_(n),
  gradHeld: (world) => {
    world.held.push(world.leaf.grad, world.model.bias.grad);
  },
  eagerBackward: (world, n) => {
    world.model.weight.sum().mul(n).add(world.leaf.mul(2).sum()).backward();
  },
  eagerGraph: (world) => {
    world.saved = world.buffer.mul(world.leaf).mul(world.model.bias).sum();
  },
  eagerGraphBackward: (world) => {
    const { saved } = world;
    world.saved = null;
    saved?.backward();
  },
  requiresGrad: (world, n) => {
    world.leaf.requiresGrad = n < 0.7;
  },
  toggle: (world, n) => void world.norm.train(n < 0.5),
  addGroup: (world) => {
    const known = world.optimizer.paramGroups.some(({ params }) => params.includes(world.extra));
    if (!known) world.optimizer.addParamGroup({ params: [world.extra], lr: 0.5 });
  },
  rate: (world, n) => {
    world.optimizer.paramGroups[0].lr = n / 4;
  },
  load: (world, n) => {
    const state = world.model.stateDict();
    const scaled = Object.entries(state).map(([name, t]) => [name, t.mul(n)]);
    world.model.loadStateDict(Object.fromEntries(scaled));
  },
  loadAssign: (world, n) => {
    const state = world.model.stateDict();
    const scaled = Object.entries(state).map(([name, t]) => [name, t.mul(n)]);
    world.model.loadStateDict(Object.fromEntries(scaled), { assign: true });
  },
  loadOptimizer: (world) => {
    const state = world.optimizer.stateDict();
    world.optimizer.loadStateDict(state);
  },
  hook: (world) => {
    world.hooks.push(world.leaf.registerHook((grad) => grad.mul(2)));
  },
  moduleHook: (world) => {
    world.hooks.push(world.model.registerForwardHook((_module, _inputs, y) => y.mul(2)));
  },
  unhook: (world) => world.hooks.pop()?.remove(),
  disposeResult: (world) => {
    // The function itself may return the parameter.
    if (world.last !== world.leaf) world.last?.dispose();
  },
  changeResult: (world) => {
    const { last } = world;
    // The function returns a tensor from outside unchanged; a captured function returns a copy.
    const isMade = parts.returns === "loss" || parts.returns === "both";
    if (last !== null && isMade && !last.disposed) eg.noGrad(() => void last.mul_(2));
  },
  changeBuffer: (world, n) => void world.buffer.mul_(n),
  reshapeBuffer: (world) => void world.buffer.unsqueeze_(0).squeeze_(0),
  callWithLeafReshaped: (world, n) => {
    eg.noGrad(() => world.leaf.unsqueeze_(0));
    try {
      return world.call(inputOf(world, n));
    } finally {
      eg.noGrad(() => world.leaf.squeeze_(0));
    }
  },
  replaceModulePart: (world) => {
    world.model.bias = new eg.nn.Parameter(world.make([3, 4]));
  },
  defaultDtype: (world, n) => {
    eg.setDefaultDtype("float64");
    try {
      return world.call(inputOf(world, n).to("float32"));
    } finally {
      eg.setDefaultDtype("float32");
    }
  },
});

// Actions after which replaying mostly fails occur once each, the others more often.
const kHarmless =
  "call callAgain callTransposed zeroGrad step gradNull gradReplaced gradShared gradChanged gradHeld eagerBackward " +
  "eagerGraph eagerGraphBackward addGroup rate load loadOptimizer disposeResult changeResult changeBuffer";
const kNames = [
  ...Object.keys(actions({}, "cpu", {})),
  ...Array(4).fill(kHarmless.split(" ")).flat(),
  ...Array(40).fill("call"),
];

function stateOf(world) {
  const named = [
    ...world.model.namedParameters(),
    ...world.norm.namedParameters(),
    ...world.norm.namedBuffers(),
    ["leaf", world.leaf],
    ["extra", world.extra],
    ["buffer", world.buffer],
  ];
  const tensors = named.map(([name, t]) => ({
    name,
    values: Array.from(t.detach().dataSync()),
    grad: t.grad && Array.from(t.grad.dataSync()),
    version: t.version,
    flags: [t.requiresGrad, t.isLeaf, ...t.shape],
  }));
  const held = world.held.map((t) => t && Array.from(t.dataSync()));
  return { tensors, held, optimizer: JSON.parse(JSON.stringify(world.optimizer.stateDict())) };
}

// Without versions, which an action may increase around the call.
function valuesIn(state) {
  return { ...state, tensors: state.tensors.map(({ version: _, ...others }) => others) };
}

function compare(worlds, message) {
  const [expected, found] = worlds.map(stateOf);
  assertAlike(found, expected, message);
}

// Numbers may differ in the last digits because gradients that meet outside are added in a different order.
function assertAlike(found, expected, message) {
  const keysOf = (value) =>
    typeof value === "object" && value !== null ? Object.keys(value) : undefined;
  const pending = [[found, expected, ""]];
  while (pending.length > 0) {
    const [a, b, path] = pending.pop();
    if (typeof a === "number" && typeof b === "number") {
      const isClose = Object.is(a, b) || Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(b));
      assert.ok(isClose, `${message()}: ${path} is ${a}, expected ${b}`);
    } else if (keysOf(a) === undefined || keysOf(b) === undefined) {
      assert.deepEqual(a, b, `${message()}: ${path}`);
    } else {
      assert.deepEqual(keysOf(a), keysOf(b), `${message()}: ${path}`);
      for (const key of keysOf(a)) pending.push([a[key], b[key], `${path}.${key}`]);
    }
  }
}
