// When and by which thread the device is opened, and what happens if it cannot be opened or is lost.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runNode, runProgram } from "../../js/support/child.mjs";
import { kRoot } from "../../js/support/files.mjs";
import { options } from "../support/engine.mjs";

const kOwnGpu = pathToFileURL(join(kRoot, "tests/webgpu/support/own_gpu.mjs")).href;
const kPrelude = `
  import { until } from "./tests/support/until.mjs";
  async function attempt(work) {
    try {
      return await work();
    } catch (error) {
      return error.code + " " + error.message;
    }
  }`;

/** Returns the lines that a program prints. */
async function linesOf(body, entry = "edgegrad", before = "") {
  const { status, stdout, stderr } = await runProgram(
    `${before}import * as eg from ${JSON.stringify(entry)};${kPrelude}${body}`,
  );
  assert.equal(status, 0, `${stdout}${stderr}`);
  return stdout.trimEnd().split("\n");
}

describe("the device is opened", options, () => {
  test("at its first use, and not before", async () => {
    const lines = await linesOf(`
      await eg.init();
      console.log(eg.runtime().webgpu, eg.webgpuStats());
      console.log(eg.tensor([1, 2], { device: "webgpu" }).mul(2).arraySync());
      console.log(eg.runtime().webgpu.vendor);`);
    assert.deepEqual(lines, ["null null", "[ 2, 4 ]", "google"]);
  });

  test("by a later init() that requires it", async () => {
    const lines = await linesOf(`
      await eg.init();
      await eg.init({ webgpu: "required" });
      await eg.init({ webgpu: "required" });
      console.log(eg.runtime().webgpu.vendor);`);
    assert.deepEqual(lines, ["google"]);
  });

  test("never, when it is off", async () => {
    const [used, required, cpu] = await linesOf(`
      await eg.init({ webgpu: "off" });
      console.log(await attempt(() => eg.ones([2], { device: "webgpu" })));
      console.log(await attempt(() => eg.init({ webgpu: "required" })));
      console.log(eg.ones([2]).sum().item());`);
    assert.match(used, /^DeviceUnavailable \[\w+\] .*'off'/);
    assert.match(required, /^InvalidArgument \[init\] webgpu: "required"/);
    assert.equal(cpu, "2");
  });
});

describe("a device that cannot be opened", options, () => {
  test("for want of an adapter is DeviceUnavailable, and the CPU works", async () => {
    const [error, cpu] = await linesOf(`
      const gpu = { requestAdapter: async () => null };
      console.log(await attempt(() => eg.init({ webgpu: "required", gpu })));
      await eg.init();
      console.log(eg.ones([2]).sum().item());`);
    assert.match(error, /^DeviceUnavailable \[init\] .*no adapter.*driver/);
    assert.equal(cpu, "2");
  });

  test("for want of the package says how to install it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "edgegrad-alone-"));
    try {
      cpSync(join(kRoot, "dist"), folder, { recursive: true });
      const entry = pathToFileURL(join(folder, "index.js")).href;
      const [first, again, cpu] = await linesOf(
        `await eg.init();
        console.log(await attempt(() => eg.ones([2], { device: "webgpu" })));
        console.log(await attempt(() => eg.init({ webgpu: "required" })));
        console.log(eg.ones([2]).sum().item());`,
        entry,
      );
      assert.match(first, /^DeviceUnavailable .*npm install webgpu/);
      assert.match(again, /^DeviceUnavailable \[init\] .*npm install webgpu/);
      assert.equal(cpu, "2");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("because its adapter or device is none is InvalidArgument that names what is missing", async () => {
    const lines = await linesOf(`
      const { gpu } = await import(${JSON.stringify(kOwnGpu)});
      const { limits, features, info } = await gpu.requestAdapter();
      const wrong = [
        7, {}, { requestDevice() {} }, { requestDevice() {}, features }, { requestDevice() {}, features, limits: {} },
        { requestDevice: async () => null, features, limits, info }, { requestDevice: async () => ({}), features, limits },
      ];
      for (const adapter of wrong) {
        const gpu = { requestAdapter: async () => adapter };
        console.log(await attempt(() => eg.init({ webgpu: "required", gpu })));
      }
      const broken = [() => { throw { toString() { throw 1; } }; }, () => Promise.reject("no luck")];
      for (const requestAdapter of broken)
        console.log(await attempt(() => eg.init({ webgpu: "required", gpu: { requestAdapter } })));
      await eg.init({ webgpu: "required", gpu });
      console.log(await eg.ones([2], { device: "webgpu" }).sum().itemAsync());`);
    const refused = (detail) =>
      new RegExp(
        `^InvalidArgument \\[init\\] gpu: what its requestAdapter\\(\\) resolves to: expected a GPUAdapter, got ${detail}`,
      );
    const noDevice = (detail) =>
      new RegExp(
        `^InvalidArgument \\[init\\] gpu: what requestDevice\\(\\) .*expected a GPUDevice, got ${detail}`,
      );
    const patterns = [
      refused("number 7\\."),
      refused("an object of class Object without requestDevice\\(\\)"),
      refused("an object of class Object without features"),
      refused("an object of class Object without limits.maxBufferSize"),
      refused("an object of class Object without limits.maxBufferSize"),
      noDevice("null"),
      noDevice("an object of class Object without createBindGroup"),
      /^DeviceUnavailable \[init\] the GPU was not opened: an object/,
      /^DeviceUnavailable \[init\] .*"no luck"/,
      /^2$/,
    ];
    for (const [i, pattern] of patterns.entries()) assert.match(lines[i], pattern);
  });

  for (const [name, gpu] of Object.entries({
    requestAdapter: "{ requestAdapter: () => new Promise(() => {}) }",
    requestDevice: "{ requestAdapter: async () => ({ ...adapter, requestDevice: () => late }) }",
  })) {
    test(`because ${name}() never answers is given up, and what answers then is destroyed`, async () => {
      const program = `
        const { gpu } = await import(${JSON.stringify(kOwnGpu)});
        const adapter = await gpu.requestAdapter();
        let answer;
        const late = new Promise((resolve) => { answer = resolve; });
        // As fake timers do: those of the moment in which the package was imported count.
        const fake = { setTimeout: () => 0, clearTimeout: () => undefined, queueMicrotask: () => undefined }; // timer: a fake one
        Object.assign(globalThis, fake);
        const opening = attempt(() => eg.init({ webgpu: "required", gpu: ${gpu} }));
        while (clock.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
        while (clock.waiting.length > 0) clock.advance(1000);
        console.log(await opening);
        Object.assign(globalThis, { setTimeout, clearTimeout, queueMicrotask }); // timer: as it was
        const device = await adapter.requestDevice();
        answer(device);
        if (${name === "requestDevice"}) await device.lost;
        await eg.init({ webgpu: "required", gpu });
        console.log(await eg.ones([2], { device: "webgpu" }).sum().itemAsync());`;
      const lines = await linesOf(
        program,
        "edgegrad",
        `import { Clock } from "./tests/js/support/clock.mjs";
        const { setTimeout, clearTimeout, queueMicrotask } = globalThis; // timer: to put them back
        const clock = new Clock();`,
      );
      assert.match(
        lines[0],
        new RegExp(
          `^DeviceUnavailable \\[init\\] WebGPU's ${name}\\(\\) has not answered within 30 s`,
        ),
      );
      assert.equal(lines[1], "2");
    });
  }

  test("because what was given is no GPU is InvalidArgument", async () => {
    const [error] = await linesOf(
      "console.log(await attempt(() => eg.init({ gpu: {}, webgpu: 'required' })));",
    );
    assert.match(error, /^InvalidArgument \[init\] gpu: expected an object like navigator\.gpu/);
  });
});

describe("a GPU that init() is given", options, () => {
  const kOpen = `
    const { gpu } = await import(${JSON.stringify(kOwnGpu)});
    await eg.init({ webgpu: "required", gpu });
    const x = eg.tensor([1, 2, 3], { device: "webgpu", requiresGrad: true });`;

  test("is played on where it is, so only the Async forms read", async () => {
    const lines = await linesOf(`${kOpen}
      const loss = x.mul(2).square().sum();
      loss.backward();
      console.log(await loss.itemAsync(), await x.grad.array());
      x.grad = null;
      await x.exp().sum().backwardAsync();
      console.log(await x.grad.log().round().array());
      console.log(await attempt(() => loss.item()));`);
    assert.deepEqual(lines.slice(0, 2), ["56 [ 8, 16, 24 ]", "[ 1, 2, 3 ]"]);
    assert.match(lines[2], /^WouldBlock .*Async/);
  });

  test("says of what it cannot wait for which op it was, and what to do", async () => {
    const lines = await linesOf(`${kOpen}
      const matrix = x.reshape(1, 3).expand(3, 3);
      console.log(await attempt(() => eg.linalg.eigvalsh(matrix)));
      console.log(await attempt(() => x.maskedSelect(x.gt(1))));
      console.log(await attempt(() => eg.io.saveSafetensors({ x })));
      x.prod().backward();
      console.log(await x.grad.array());
      console.log(await attempt(() => matrix.det()));`);
    assert.match(lines[0], /^WouldBlock \[eigvalsh\] .*'eigh' of float32, .*await x.data\(\)/);
    assert.match(lines[1], /^WouldBlock \[maskedSelect\] .*await x.data\(\)/);
    assert.match(lines[2], /^WouldBlock \[saveSafetensors\] "x" .*await t.data\(\)/);
    assert.equal(lines[3], "[ 6, 3, 2 ]");
    assert.match(
      lines[4],
      /^WouldBlock \[det\] the host needs .*'determinants' .*await x.data\(\)/,
    );
  });

  test("has backward wait for nothing whose tensors are all on it", async () => {
    const lines = await linesOf(`${kOpen}
      const meanSquare = (t) => t.square().mean();
      const pending = [x.data()];
      x.registerHook((g) => g.mul(3));
      meanSquare(x).backward();
      pending.push(meanSquare(x.flip([0])).backwardAsync(), x.exp().data());
      meanSquare(x.t()).backward();
      const [g] = eg.autograd.grad(meanSquare(x), [x], { createGraph: true });
      meanSquare(g).backward();
      eg.autograd.detectAnomaly(() => meanSquare(x).backward(), { checkNan: false });
      await Promise.all(pending);
      console.log(await x.grad.array());`);
    assert.deepEqual(lines, ["[ 16, 32, 48 ]"]);
  });

  test("cannot wait for a gradient that goes to the CPU or is examined, and works afterwards", async () => {
    const lines = await linesOf(`${kOpen}
      console.warn = () => {};
      const meanSquare = (t) => t.square().mean();
      const here = eg.tensor([1, 2, 3], { requiresGrad: true });
      console.log(await attempt(() => meanSquare(here.to("webgpu")).backward()));
      console.log(await attempt(() => meanSquare(here.to("webgpu")).backwardAsync()));
      console.log(await attempt(() => eg.autograd.detectAnomaly(() => meanSquare(x).backward())));
      console.log(here.grad, x.grad);
      meanSquare(x).backward();
      console.log(await x.grad.array());`);
    for (const line of lines.slice(0, 3)) assert.match(line, /^WouldBlock /);
    assert.equal(lines[3], "null null");
    assert.match(lines[4], /^\[ 0\.66\d+, 1\.33\d+, 2 \]$/);
  });

  test("and is lost has everything fail that needs it, until init() opens another", async () => {
    const lines = await linesOf(`${kOpen}
      const here = eg.tensor([5, 6]);
      const pending = [x.mul(3).data(), x.add(1).sum().itemAsync()];
      gpu.device.destroy();
      for (const read of pending) console.log(await attempt(() => read));
      console.log(await attempt(() => x.mul(2)));
      console.log(await attempt(() => eg.ones([2], { device: "webgpu" })));
      console.log(eg.runtime().webgpu, here.add(1).arraySync());
      await eg.init();
      const again = eg.tensor([1, 7], { device: "webgpu" });
      console.log(await again.mul(2).array(), eg.runtime().webgpu.vendor);
      for (const use of [() => x.data(), () => x.mul(again.sum()), () => eg.noGrad(() => x.add_(1))])
        console.log(await attempt(use));
      x.dispose();
      console.log(await again.array());`);
    for (const line of lines.slice(0, 4)) assert.match(line, /^DeviceLost .*init\(\)/);
    assert.equal(lines[4], "null [ 6, 7 ]");
    assert.equal(lines[5], "[ 2, 14 ] google");
    for (const line of lines.slice(6, 9)) assert.match(line, /^DeviceLost .*create it again/);
    assert.equal(lines[9], "[ 1, 7 ]");
  });

  test("and is lost tells every listener and promise, which may open another", async () => {
    const lines = await linesOf(`${kOpen}
      const errors = [];
      process.on("uncaughtException", (error) => console.log("uncaught " + error));
      const removed = eg.onDeviceLost(() => console.log("this is removed"));
      eg.onDeviceLost(() => { throw new RangeError("mine"); });
      const reopened = new Promise((resolve) => {
        eg.onDeviceLost((error) => {
          errors.push(error);
          resolve(eg.init());
        });
      });
      removed.remove();
      removed.remove();
      const promise = eg.deviceLost();
      const read = attempt(() => x.mul(3).data());
      gpu.device.destroy();
      const error = await promise;
      console.log(errors[0] === error || errors.length, error instanceof eg.EdgeGradError, error.code);
      console.log((await read) === error.code + " " + error.message);
      await reopened;
      console.log(await eg.tensor([1, 7], { device: "webgpu" }).mul(2).array());
      const again = eg.deviceLost();
      gpu.device.destroy();
      console.log((await again).code, errors.length, (await eg.deviceLost()).message);
      await eg.init();
      const pending = eg.deviceLost();
      await eg.shutdown();
      console.log((await pending).code, (await pending).message, errors.length);
      console.log(await attempt(() => eg.onDeviceLost(() => {})));
      await eg.init();
      console.log(await attempt(() => eg.deviceLost()));
      for (const listener of [undefined, 7, {}]) console.log(await attempt(() => eg.onDeviceLost(listener)));`);
    const uncaught = "uncaught RangeError: mine";
    const [told, read, ...others] = lines.filter((line) => line !== uncaught);
    assert.equal(lines.length - others.length, 4, lines.join("\n"));
    assert.deepEqual([told, read, others[0]], ["true true DeviceLost", "true", "[ 2, 14 ]"]);
    assert.match(others[1], /^DeviceLost 2 \[deviceLost\] it was lost before.*init\(\)/);
    assert.match(others[2], /^DeviceLost \[deviceLost\] the engine was shut down.* 2$/);
    assert.match(others[3], /^NotInitialized /);
    assert.match(others[4], /^DeviceUnavailable \[deviceLost\] no device is open/);
    for (const line of others.slice(5))
      assert.match(
        line,
        /^InvalidArgument \[onDeviceLost\] listener: expected a function, got (nothing|number 7|an object)/,
      );
    assert.equal(others.length, 8);
  });

  test("and is lost while a worker holds tensors has their uses fail there after init(), and new ones work", async () => {
    const module = pathToFileURL(join(kRoot, "tests/webgpu/support/worker_module.mjs")).href;
    const lines = await linesOf(`${kOpen}
      const [state, kept] = [eg.zeros([]), x.detach()];
      const held = eg.spawn(new URL(${JSON.stringify(module)}), "holdOver", kept, state);
      await until("worker that holds a tensor", () => state.item() === 1);
      gpu.device.destroy();
      await attempt(() => x.data());
      await eg.init();
      // The new device's first blocks must not be taken for those of the lost one.
      const fresh = Array.from({ length: 20 }, (_, i) => eg.full([3], i, { device: "webgpu" }));
      state.fill_(2);
      const { codes, values } = await held;
      console.log(codes.join(), JSON.stringify(values));
      console.log(JSON.stringify(await eg.stack(fresh).sum(1).array()));
      await eg.shutdown();`);
    assert.equal(lines[0], "DeviceLost,DeviceLost,DeviceLost,DeviceLost,DeviceLost [3,6]");
    assert.equal(lines[1], JSON.stringify(Array.from({ length: 20 }, (_, i) => 3 * i)));
  });

  test("and is lost at random points of a training, each time loses no promise", async () => {
    const kLosses = 20;
    const program = fileURLToPath(new URL("../long_runs/losses.mjs", import.meta.url));
    const { status, stdout, stderr } = await runNode([program, String(kLosses)]);
    assert.equal(status, 0, stderr);
    const { samples, problems } = JSON.parse(stdout);
    assert.deepEqual({ problems, losses: samples.at(-1).after }, { problems: [], losses: kLosses });
  });

  test("and is lost, after which there is none: the message says what a browser does then", async () => {
    const [, again] = await linesOf(`${kOpen}
      gpu.device.destroy();
      console.log(await attempt(() => x.data()));
      gpu.requestAdapter = async () => null;
      console.log(await attempt(() => eg.init()));`);
    assert.match(
      again,
      /^DeviceUnavailable \[init\] .* a browser may block WebGPU: reload the page\.$/,
    );
  });
});

describe("without threads", options, () => {
  test("the device is opened by init() alone, and read by the Async forms", async () => {
    const lines = await linesOf(`
      await eg.init({ variant: "single" });
      console.log(await attempt(() => eg.ones([2], { device: "webgpu" })));
      await eg.init({ webgpu: "required" });
      const model = new eg.nn.Linear(3, 1).to("webgpu");
      const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01 });
      const x = eg.rand([8, 3], { device: "webgpu" });
      const losses = [];
      for (let step = 0; step < 5; step++) {
        const loss = model.call(x).square().mean();
        optimizer.zeroGrad();
        step % 2 === 0 ? loss.backward() : await loss.backwardAsync();
        optimizer.step();
        losses.push(await loss.itemAsync());
      }
      console.log(losses.at(-1) < losses[0] || losses.join());
      console.log(await attempt(() => x.sum().item()));`);
    assert.match(lines[0], /^DeviceUnavailable .*init\(\{ webgpu: 'required' \}\)/);
    assert.equal(lines[1], "true");
    assert.match(lines[2], /^WouldBlock .*Async/);
  });
});
