// Complex numbers on the device: only decompositions fall back to the CPU, and results and gradients of both orders match the
// CPU's.

// Imported before anything that starts the engine without the device.
import "../support/engine.mjs";

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose } from "../../js/support/assert.mjs";
import { callOp, opTable, samplesOf } from "../../js/support/op_samples.mjs";
import { eg, onBoth, options, warningsOf } from "../support/engine.mjs";
import { reasonOf } from "../support/on_the_cpu.mjs";

const isTensor = (value) => value instanceof eg.Tensor;

function moved(value, device) {
  if (Array.isArray(value)) return value.map((part) => moved(part, device));
  if (!isTensor(value)) return value;
  return value.detach().to(device).requiresGrad_(value.requiresGrad);
}

/** Gradients of the sum of |y|^2, which is real whatever y is. */
function gradients(results, leaves) {
  const sizes = results
    .filter(({ requiresGrad }) => requiresGrad)
    .map((y) => y.abs().square().sum());
  if (sizes.length === 0) return [];
  const total = sizes.reduce((a, b) => a.add(b));
  return eg.autograd
    .grad(total, leaves, { allowUnused: true, createGraph: true })
    .filter((grad) => grad !== null);
}

/** Returns the results of a call, their gradients and second derivatives as arrays; null if the op takes no complex numbers. */
function outcome(op, sample, device) {
  const given = sample.make("complex64");
  if (given === null) return null;
  const args = moved(given, device);
  const leaves = args.flat(2).filter((arg) => isTensor(arg) && arg.requiresGrad);
  if (!args.flat(2).some((arg) => isTensor(arg) && arg.dtype === "complex64")) return null;
  try {
    const results = callOp(op, args).filter(isTensor);
    const first = gradients(results, leaves);
    const second = gradients(first, leaves);
    return [...results, ...first, ...second].map((tensor) =>
      Array.from(tensor.detach().dataSync(), Number),
    );
  } catch (error) {
    if (!(error instanceof eg.EdgeGradError)) throw error;
    return error.code;
  }
}

describe("complex numbers on the device", options, () => {
  test("have every result and gradient of the CPU, to the second order, and stay there", async () => {
    const warnings = await warningsOf(() => {
      let count = 0;
      // random.test.mjs tests the numbers that the device draws.
      const ops = opTable.filter((op) => typeof eg[op.js] === "function" && !op.takesGenerator);
      for (const op of ops) {
        for (const sample of samplesOf(op)) {
          eg.scope(() => {
            const right = outcome(op, sample, "cpu");
            if (right === null) return;
            // ops.test.mjs tests the calls that the CPU rejects.
            if (typeof right === "string") return;
            const found = outcome(op, sample, "webgpu");
            count++;
            const what = `${op.name}(${sample.text})`;
            assert.equal(found.length, right.length, what);
            for (const [i, values] of right.entries()) {
              // Many terms cancel in derivatives of |y|^2; before that they were as large as the other elements of the array.
              const atol = 2e-6 * Math.max(1, ...values.map(Math.abs).filter(Number.isFinite));
              assertClose(found[i], values, { rtol: 1e-4, atol, what: `${what}, array ${i}` });
            }
          });
        }
      }
      assert.ok(count > 150, `${count} calls took complex numbers`);
    });
    const kernels = warnings.map((text) => /has no kernel '(\w+)'/.exec(text)?.[1] ?? text);
    assert.deepEqual(
      kernels.filter((kernel) => reasonOf(kernel) === undefined),
      [],
    );
  });

  test("meet real numbers, masks and scalars, also in place", async () => {
    const { cpu, gpu } = await onBoth(async (device) => {
      const z = eg.randn([3, 4], { dtype: "complex64" }).to(device).requiresGrad_();
      const x = eg.randn([4]).to(device).requiresGrad_();
      const mask = eg.arange(4).gt(1).to(device);
      const w = z.mul(x).add({ re: 1, im: -2 }).div(2.5);
      const chosen = eg.where(mask, w, x).clone();
      chosen.mul_(z).sub_(3).maskedFill_(mask, { re: 0, im: 1 });
      const total = chosen.abs().sum().add(w.real().sum());
      total.backward();
      return [chosen.detach(), z.grad, x.grad].map((tensor) => [...tensor.dataSync()]);
    });
    for (const [i, values] of cpu.entries())
      assertClose(gpu[i], values, { rtol: 1e-5, atol: 1e-6 });
  });

  test("learn the Fourier transform as a product of matrices", async () => {
    const size = 8;
    const warnings = await warningsOf(async () => {
      const { cpu, gpu } = await onBoth(async (device) => {
        const signals = eg.randn([32, size], { dtype: "complex64" }).to(device);
        const spectra = eg.fft(signals);
        const weight = eg.randn([size, size], { dtype: "complex64" }).to(device).requiresGrad_();
        const optimizer = new eg.optim.Adam([weight], { lr: 0.1 });
        const losses = [];
        for (let step = 0; step < 150; step++) {
          optimizer.zeroGrad();
          const loss = signals.matmul(weight).sub(spectra).abs().square().mean();
          loss.backward();
          optimizer.step();
          losses.push(loss.detach());
        }
        const matrix = eg.fft(eg.eye(size, { dtype: "complex64", device }));
        const distance = weight.detach().sub(matrix).abs().max();
        return { losses: await eg.stack(losses).data(), distance: distance.item() };
      });
      // Ten losses agree; later ones are small, and the rounding errors of earlier steps are larger relative to them.
      assertClose(gpu.losses.slice(0, 10), cpu.losses.slice(0, 10), { rtol: 1e-4, atol: 1e-5 });
      for (const { losses, distance } of [cpu, gpu]) {
        assert.ok(losses.at(-1) < 1e-3 * losses[0], `${losses.at(-1)} after ${losses[0]}`);
        assert.ok(distance < 0.1, `${distance} from the matrix of the transform`);
      }
    });
    assert.deepEqual(warnings, []);
  });
});
