// Programs of ops that wait for the device (the CPU computes them, or an error depends on what they report), in every place where
// a thread waits for that. Each of them keeps reads on their way, whose answers release tensors while another thread waits.

import * as eg from "edgegrad";

const { linalg } = eg;

/** The calls, by a name; `a` is positive definite. */
export const kCalls = {
  solve: (a) => linalg.solve(a, a.at(0)),
  inv: (a) => linalg.inv(a),
  matrixPower: (a) => linalg.matrixPower(a, -2),
  det: (a) => linalg.det(a),
  slogdet: (a) => linalg.slogdet(a)[1],
  cholesky: (a) => linalg.cholesky(a),
  solveTriangular: (a) => linalg.solveTriangular(a, a, { upper: true }),
  lu: (a) => linalg.lu(a)[1],
  qr: (a) => linalg.qr(a)[1],
  svd: (a) => linalg.svd(a)[1],
  eigh: (a) => linalg.eigh(a)[0],
  eigvals: (a) => eg.real(linalg.eigvals(a)),
  matrixExp: (a) => linalg.matrixExp(a),
  searchsorted: (a) => eg.searchsorted(a.detach().flatten().sort()[0], a.at(0)),
};

const matrix = () =>
  eg.tensor([[4, 1, 0], [1, 3, 1], [0, 1, 2]], { device: "webgpu", requiresGrad: true }); // biome-ignore format: a matrix

/** Makes every call with reads on their way; `finish` reads the result. */
async function withReads(finish) {
  for (const [name, call] of Object.entries(kCalls)) {
    for (let i = 0; i < 5; i++) {
      await eg.scope(async () => {
        const a = matrix();
        const reads = [1, 2, 3].map((k) => readOnce(a.mul(k)));
        // The others are answered while the call waits.
        await reads[0];
        await finish(call(a), a);
        await Promise.all(reads);
      });
    }
    console.log(name);
  }
}

// Reads a tensor whose memory only the read needs, and that is released when it has been answered.
function readOnce(tensor) {
  const data = tensor.data();
  tensor.dispose();
  return data;
}

export const kPlaces = {
  synchronously: () => withReads((y) => y.dataSync()),
  asynchronously: () => withReads((y) => y.data()),
  "in backward": () =>
    withReads((y, a) => {
      if (!y.requiresGrad) return;
      y.sum().backward();
      a.grad.dataSync();
    }),
  "in backwardAsync": () =>
    withReads(async (y, a) => {
      if (!y.requiresGrad) return;
      await y.sum().backwardAsync();
      await a.grad.data();
    }),
  "in derivatives of second order": () =>
    withReads(async (y, a) => {
      if (!y.requiresGrad) return;
      const [g] = eg.autograd.grad([y.sum()], [a], { createGraph: true });
      if (!g.requiresGrad) return;
      const [h] = eg.autograd.grad([g.square().sum()], [a]);
      await Promise.all([y.data(), g.data(), h.data()]);
    }),
};

/** Runs all calls in one place; for engine workers. */
export const run = (place) => kPlaces[place]();
