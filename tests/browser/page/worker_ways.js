// Starts with threads where the page constructs the workers in the way that the URL names.

import * as eg from "edgegrad";

const query = new URLSearchParams(location.search);
const made = [];
const policy = (name) =>
  globalThis.trustedTypes.createPolicy(name, { createScriptURL: (address) => address });

const kWays = {
  "the package's": () => undefined,
  "a policy of the page": () => {
    const own = policy("page");
    return (script, options) => {
      made.push(options.name);
      return new Worker(own.createScriptURL(script), options);
    };
  },
  "a default policy": () => {
    policy("default");
    return undefined;
  },
  "one that throws": () => () => {
    throw new RangeError("no more workers");
  },
  "one that returns nothing": () => () => {},
};

const warnings = [];
console.warn = (...texts) => warnings.push(texts.join(" "));
const finish = (result) => {
  document.body.textContent = JSON.stringify({ ...result, made, warnings });
};

try {
  const createWorker = kWays[query.get("way")]();
  await eg.init({ threads: 2, createWorker });
  const x = eg.ones([4, 4], { requiresGrad: true });
  await x.matmul(x).sum().backwardAsync();
  const { threads } = eg.runtime();
  const grad = x.grad.sum().item();
  await eg.shutdown();
  finish({ threads, grad });
} catch (error) {
  finish({ error: `${error.code}: ${error.message}` });
}
