// Trains, and calls ops of the parts of the engine that arrive after init(), with the options in the URL.

import * as eg from "edgegrad";

async function main() {
  const { options, where } = Object.fromEntries(new URLSearchParams(location.search));
  if (where === "worker" && globalThis.document !== undefined) return inWorker();
  await eg.init(JSON.parse(options ?? "{}"));
  const x = eg.ones([2, 3], { requiresGrad: true });
  x.square().mean().backward();
  const gradient = x.grad.tolist()[0][0];
  await fetch("/trained");
  const errors = [];
  let singular = null;
  for (let times = 0; singular === null && times < 2; ++times) {
    try {
      singular = eg.linalg
        .svd(
          eg.tensor([
            [3, 0],
            [0, 4],
          ]),
        )[1]
        .tolist();
    } catch (error) {
      errors.push(`${error.code}: ${error.message}`);
    }
  }
  // Large enough for threads of the pool, which load the part themselves.
  const erfinv = singular && eg.full([300_000], 0).erfinv().sum().item();
  const again = x.square().mean().item();
  return { gradient, singular, erfinv, errors, again };
}

function inWorker() {
  const worker = new Worker(new URL(`parts.js${location.search}`, location.href), {
    type: "module",
  });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
}

main()
  .catch((error) => ({
    error: `${error.code}: ${error.message}`,
    stack: String(error?.stack ?? error),
  }))
  .then((result) => {
    if (globalThis.document === undefined) postMessage(result);
    else document.body.textContent = JSON.stringify(result);
  });
