// Vue's reactive proxies, which are Alpine's too: objects of the package stay themselves in them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { computed, effect, isReactive, reactive, ref, shallowRef } from "vue";
import { readJson } from "../support/files.mjs";

/** Classes whose instances are plain data, which may be reactive. */
const kPlain = new Set(["EdgeGradError", "LoraConfig", "ModuleSummary", "StepProfile"]);
/** What autograd calls, and nobody keeps. */
const kNeverKept = new Set(["Function", "FunctionContext"]);

const isClass = (value) =>
  typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
const isNamespace = (value) => Object.prototype.toString.call(value) === "[object Module]";

/** The classes that a module exports, also in its namespaces: their names by class. */
function classesOf(module, path, found = new Map()) {
  for (const [name, value] of Object.entries(module)) {
    if (isClass(value)) found.set(value, `${path}.${name}`);
    else if (isNamespace(value)) classesOf(value, `${path}.${name}`, found);
  }
  return found;
}

async function entries() {
  const { exports } = await readJson("package.json");
  const names = Object.keys(exports).filter((name) => !/[*]|\.json$|vite/.test(name));
  return Promise.all(
    names.map(async (name) => {
      const specifier = name.replace(".", "edgegrad");
      return [specifier, await import(specifier)];
    }),
  );
}

const outermost = (Class) => {
  const parent = Object.getPrototypeOf(Class);
  return parent === Function.prototype ? Class : outermost(parent);
};

describe("Vue", () => {
  before(() => eg.init({ threads: 1 }));
  after(() => eg.shutdown());

  test("wraps no instance of a class that any entry exports", async () => {
    let count = 0;
    for (const [specifier, module] of await entries()) {
      for (const [Class, name] of classesOf(module, specifier)) {
        const root = outermost(Class).name;
        if (kNeverKept.has(root) || root === "HTMLElement") continue;
        const instance = Object.create(Class.prototype);
        assert.equal(isReactive(reactive(instance)), kPlain.has(Class.name), name);
        count++;
      }
    }
    assert.ok(count > 250, `${count} classes`);
  });

  test("gives what the package returns as it is", () => {
    const model = new eg.nn.Linear(3, 2);
    const optimizer = new eg.optim.Adam(model.parameters());
    const dataset = new eg.data.TensorDataset(eg.ones([4, 3]));
    const loader = new eg.data.DataLoader(dataset);
    const made = {
      model,
      tensor: model.weight,
      node: model.weight.sum().gradFn,
      optimizer,
      scheduler: new eg.optim.lrScheduler.StepLR(optimizer, 1),
      generator: new eg.Generator(3),
      dataset,
      loader,
      batches: loader[Symbol.asyncIterator](),
      hook: model.weight.registerHook(() => undefined),
      distribution: new eg.distributions.Normal(0, 1),
      constraint: eg.distributions.constraints.real,
      slice: eg.slice(1, 2),
      scaler: new eg.amp.GradScaler(),
    };
    const state = reactive({ made, list: Object.values(made) });
    for (const [name, value] of Object.entries(made)) {
      assert.equal(state.made[name], value, name);
      assert.equal(ref(value).value, value, name);
      assert.ok(state.list.includes(value), name);
    }
  });

  for (const [name, keep] of Object.entries({
    ref,
    shallowRef,
    reactive: (v) => ({ value: reactive(v) }),
  })) {
    test(`trains what is in ${name}(), to the bit as without it`, () => {
      const train = (hold) => {
        eg.manualSeed(1);
        const model = hold(
          new eg.nn.Sequential(new eg.nn.Linear(3, 4), new eg.nn.ReLU(), new eg.nn.Linear(4, 1)),
        );
        const optimizer = hold(new eg.optim.Adam(model.value.parameters(), { lr: 0.1 }));
        const scheduler = hold(new eg.optim.lrScheduler.StepLR(optimizer.value, 2));
        const x = hold(eg.randn([8, 3]));
        const losses = [];
        for (let step = 0; step < 5; step++) {
          optimizer.value.zeroGrad();
          const loss = model.value.call(x.value).square().mean();
          loss.backward();
          optimizer.value.step();
          scheduler.value.step();
          losses.push(loss.item());
        }
        return losses;
      };
      assert.deepEqual(
        train(keep),
        train((value) => ({ value })),
      );
    });
  }

  test("notices that a model is replaced, and what is plain in its state", () => {
    const state = reactive({ model: new eg.nn.Linear(2, 1), losses: [] });
    const seen = [];
    effect(() => seen.push([state.model.inFeatures, state.losses.length]));
    const last = computed(() => state.losses.at(-1));
    state.losses.push(0.5);
    assert.equal(last.value, 0.5);
    state.model = new eg.nn.Linear(3, 1);
    assert.deepEqual(seen, [
      [2, 0],
      [2, 1],
      [3, 1],
    ]);
  });
});
