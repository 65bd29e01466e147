// Calls everything that the package exports with unexpected arguments: only an
// EdgeGradError may be thrown, and it must name the called function.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";

// These start or stop the engine or a thread.
const kLifecycle = ["init", "shutdown", "spawn"];

const disposed = eg.ones([2]);
disposed.dispose();

const kValues = {
  nothing: [],
  undefined: [undefined],
  null: [null],
  "-1": [-1],
  NaN: [Number.NaN],
  "a text": [""],
  "an object": [{}],
  "a list": [[]],
  "an unknown option": [{ quux: 1 }],
  "an object of another class": [new Map()],
  "a symbol": [Symbol("quux")],
  "a function": [() => 1],
  "a bigint": [2n ** 70n],
  "a disposed tensor": [disposed],
  "two disposed tensors": [disposed, disposed],
  "a tensor and null": [eg.ones([2]), null],
  "a tensor and a function": [eg.ones([2]), () => 1],
  "a function and a tensor": [() => 1, eg.ones([2])],
  "a tensor and a text": [eg.ones([2]), "quux"],
  "a tensor and an unknown option": [eg.ones([2]), { quux: 1 }],
  "too many": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
};

const kExports = [...walk({ ...eg }, "")];

function* walk(value, path) {
  for (const [name, inner] of Object.entries(value)) {
    if (kLifecycle.includes(name)) continue;
    const own = path === "" ? name : `${path}.${name}`;
    if (typeof inner === "function") yield [own, inner];
    else if (typeof inner === "object" && inner !== null) yield* walk(inner, own);
  }
}

const isClass = (fn) => /^class\b/.test(Function.prototype.toString.call(fn));

async function thrownBy(call) {
  try {
    const result = await call();
    // Ends a mode that has been entered.
    result?.[Symbol.dispose ?? Symbol.for("Symbol.dispose")]?.();
    return null;
  } catch (error) {
    return error;
  }
}

function assertOwnError(error, what) {
  if (error === null) return;
  assert.ok(error instanceof eg.EdgeGradError, `${what}: ${error?.stack ?? error}`);
  assert.notEqual(error.code, "Internal", `${what}: ${error.message}`);
  assert.match(error.message, /^\[[\w.]+\] \S/, what);
}

describe("exports refuse what they cannot take", () => {
  for (const [name, fn] of kExports) {
    test(name, async () => {
      for (const [what, args] of Object.entries(kValues)) {
        const call = isClass(fn) ? () => new fn(...args) : () => fn(...args);
        assertOwnError(await thrownBy(call), `${name}(${what})`);
      }
    });
  }
});

describe("methods of tensors refuse what they cannot take", () => {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(eg.Tensor.prototype))
    .filter(([name, { value }]) => typeof value === "function" && name !== "constructor")
    .map(([name]) => name);
  for (const name of methods) {
    test(name, async () => {
      for (const [what, args] of Object.entries(kValues)) {
        const x = eg.ones([2]);
        assertOwnError(await thrownBy(() => x[name](...args)), `x.${name}(${what})`);
        assertOwnError(await thrownBy(() => disposed[name](...args)), `disposed.${name}(${what})`);
      }
    });
  }
});

describe("modules refuse what they cannot take", () => {
  const { nn } = eg;
  const modules = {
    Linear: new nn.Linear(2, 2),
    Bilinear: new nn.Bilinear(2, 2, 2),
    Conv1d: new nn.Conv1d(1, 1, 1),
    Conv2d: new nn.Conv2d(1, 1, 1, { paddingMode: "circular" }),
    ConvTranspose2d: new nn.ConvTranspose2d(1, 1, 1),
    BatchNorm1d: new nn.BatchNorm1d(2),
    BatchNorm2d: new nn.BatchNorm2d(2),
    InstanceNorm2d: new nn.InstanceNorm2d(2),
    GroupNorm: new nn.GroupNorm(1, 2),
    LayerNorm: new nn.LayerNorm(2),
    RMSNorm: new nn.RMSNorm(2),
    Embedding: new nn.Embedding(2, 2),
    Dropout: new nn.Dropout(),
    Flatten: new nn.Flatten(),
    Softmax: new nn.Softmax(),
    GELU: new nn.GELU(),
    MaxPool2d: new nn.MaxPool2d(1),
    AvgPool2d: new nn.AvgPool2d(1),
    RNN: new nn.RNN(2, 2),
    LSTM: new nn.LSTM(2, 2),
    GRU: new nn.GRU(2, 2),
    MultiheadAttention: new nn.MultiheadAttention(2, 1),
    TransformerEncoderLayer: new nn.TransformerEncoderLayer(2, 1, 2),
    Sequential: new nn.Sequential(new nn.Linear(2, 2)),
    CrossEntropyLoss: new nn.CrossEntropyLoss(),
    MSELoss: new nn.MSELoss(),
    CTCLoss: new nn.CTCLoss(),
    TripletMarginWithDistanceLoss: new nn.TripletMarginWithDistanceLoss(),
  };
  for (const [name, module] of Object.entries(modules)) {
    test(name, async () => {
      for (const [what, args] of Object.entries(kValues)) {
        assertOwnError(await thrownBy(() => module.call(...args)), `${name}.call(${what})`);
      }
    });
  }

  const methods = Object.entries(Object.getOwnPropertyDescriptors(nn.Module.prototype))
    .filter(([, { value }]) => typeof value === "function")
    .map(([name]) => name)
    .filter((name) => !["constructor", "call", "forward"].includes(name));
  for (const name of methods) {
    test(`Module.${name}`, async () => {
      for (const [what, args] of Object.entries(kValues)) {
        const linear = new nn.Linear(2, 2);
        assertOwnError(await thrownBy(() => linear[name](...args)), `linear.${name}(${what})`);
      }
    });
  }
});
