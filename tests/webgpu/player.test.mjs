// The player: the order of commands, reused memory, errors, and the cost of a repeated batch.

import assert from "node:assert/strict";
import { test } from "node:test";
import { range } from "./support/close.mjs";
import { openDevice } from "./support/device.mjs";
import { copyBytes, elementwise } from "./support/kernel_fields.mjs";
import { arrayOf, options, Playing, webgpu } from "./support/playing.mjs";

// y = x + k
function add(p, x, number, y = x) {
  p.kernel(
    "elementwise",
    elementwise({ op: "add", constants: [1], shape: [x.count] }, [
      [y, [1]],
      [x, [1]],
      [number, [0]],
    ]),
    "add",
  );
}

test("reads return the values at the time of the request", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [1, 2, 3]);
  const one = p.view("float32", [1]);
  const reads = range(3, (i) => {
    if (i > 0) add(p, x, one);
    return p.later(x);
  });
  p.play();
  const results = await Promise.all(reads);
  assert.deepEqual(results, [
    [1, 2, 3],
    [2, 3, 4],
    [3, 4, 5],
  ]);
  assert.equal(p.stats.submits, 1);
  assert.equal(p.stats.readbacks, 3);
});

test("a write after a kernel, and one before, in one batch", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [1, 2]);
  const one = p.view("float32", [1]);
  const sum = p.empty("float32", 2);
  add(p, x, one, sum);
  p.stream.write(x.block, 0, arrayOf("float32", [10, 20]));
  add(p, x, one);
  p.stream.write(x.block, 4, arrayOf("float32", [5]));
  assert.deepEqual(await p.read(sum), [2, 3]);
  assert.deepEqual(await p.read(x), [11, 5]);
});

test("large writes between kernels", options, async () => {
  const p = new Playing();
  const n = 300_000;
  const x = p.view("float32", new Float32Array(n).fill(1));
  const one = p.view("float32", [1]);
  for (let i = 0; i < 3; i++) {
    add(p, x, one);
    p.stream.write(x.block, 0, new Float32Array(n).fill(10 * i));
    p.stream.write(x.block, 8, new Float32Array(50_000).fill(i));
  }
  add(p, x, one);
  const last = await p.read({ ...x, offset: 4 * (n - 1), count: 1 });
  assert.deepEqual(last, [21]);
  assert.deepEqual(await p.read({ ...x, count: 4 }), [21, 21, 3, 3]);
});

test("a block that is freed and allocated again in one batch", options, async () => {
  const p = new Playing();
  const one = p.view("float32", [1]);
  const total = p.view("float32", [0]);
  for (let i = 1; i <= 3; i++) {
    const block = p.allocate(256);
    p.stream.write(block, 0, arrayOf("float32", [10 * i]));
    const x = { block, offset: 0, dtype: "float32", count: 1 };
    add(p, x, one);
    add(p, total, x);
    p.stream.free(block);
    p.stream.allocate(block, 256);
    p.stream.write(block, 0, arrayOf("float32", [100]));
    add(p, total, x);
    p.stream.free(block);
  }
  const before = p.stats.buffersCreated;
  assert.deepEqual(await p.read(total), [363]);
  assert.ok(p.stats.buffersCreated - before <= 8);
});

test("unused memory is kept, and given back beyond a limit", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [1, 2]);
  const blocks = [1, 2, 3].map(() => p.allocate(120 * 2 ** 20));
  for (const block of blocks) p.stream.free(block);
  assert.deepEqual(await p.read(x), [1, 2]);
  const { buffersCreated } = p.stats;
  const again = [1, 2].map(() => p.allocate(120 * 2 ** 20));
  assert.deepEqual(await p.read(x), [1, 2]);
  assert.equal(p.stats.buffersCreated, buffersCreated);
  p.allocate(120 * 2 ** 20);
  for (const block of again) p.stream.free(block);
  assert.deepEqual(await p.read(x), [1, 2]);
  assert.equal(p.stats.buffersCreated, buffersCreated + 1);
});

test("numbers that the host writes between kernels", options, async () => {
  const p = new Playing();
  const total = p.view("float32", [0]);
  const step = () => {
    for (let i = 1; i <= 4; i++) {
      const number = p.view("float32", [i]);
      add(p, total, number);
      p.stream.free(number.block);
    }
  };
  for (let i = 0; i < 3; i++) {
    step();
    await p.read(total);
  }
  const { buffersCreated, bindGroups } = p.stats;
  step();
  assert.deepEqual(await p.read(total), [40]);
  assert.deepEqual([p.stats.buffersCreated, p.stats.bindGroups], [buffersCreated, bindGroups]);
});

test("bytes are copied and read at any offset", options, async () => {
  const p = new Playing();
  const bytes = p.view("uint8", range(16));
  const to = p.view("uint8", new Array(16).fill(99));
  copyBytes(p, to, 4, bytes, 0, 4);
  copyBytes(p, to, 9, bytes, 3, 5);
  copyBytes(p, to, 1, to, 4, 3);
  assert.deepEqual(await p.read(to), [99, 0, 1, 2, 0, 1, 2, 3, 99, 3, 4, 5, 6, 7, 99, 99]);
  assert.deepEqual(await p.read({ ...to, offset: 5, count: 6 }), [1, 2, 3, 99, 3, 4]);
  assert.deepEqual(await p.read({ ...to, count: 0 }), []);
});

test("a stream in shared memory", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [1, 2]);
  const one = p.view("float32", [1]);
  add(p, x, one);
  p.stream.write(x.block, 4, arrayOf("float32", [9]));
  const words = p.stream.take();
  const shared = new Uint32Array(new SharedArrayBuffer(words.byteLength + 8), 4, words.length);
  shared.set(words);
  p.player.play(shared);
  assert.deepEqual(await p.read(x), [2, 9]);
});

test("a batch that is repeated creates nothing", options, async () => {
  const p = new Playing();
  const one = p.view("float32", [1]);
  const x = p.view("float32", range(100));
  const step = () => {
    const temporary = [1, 2, 3].map(() => p.allocate(400));
    p.stream.write(temporary[0], 0, new Float32Array(100).fill(1));
    const view = (block) => ({ block, offset: 0, dtype: "float32", count: 100 });
    add(p, view(temporary[0]), one, view(temporary[1]));
    add(p, x, one, view(temporary[2]));
    add(p, view(temporary[2]), one, x);
    for (const block of temporary) p.stream.free(block);
  };
  for (let i = 0; i < 3; i++) {
    step();
    await p.read(x);
  }
  const before = p.stats;
  for (let i = 0; i < 5; i++) {
    step();
    await p.read(x);
  }
  const { pipelines, bindGroups, buffersCreated, submits, dispatches } = p.stats;
  assert.deepEqual(
    { pipelines, bindGroups, buffersCreated },
    {
      pipelines: before.pipelines,
      bindGroups: before.bindGroups,
      buffersCreated: before.buffersCreated,
    },
  );
  assert.equal(submits - before.submits, 5);
  assert.equal(dispatches - before.dispatches, 15);
});

test("kernels and formulas that there are", () => {
  assert.ok(webgpu.supportedFormulas.includes("gelu"));
  for (const [name, { all, views }] of Object.entries(webgpu.supported)) {
    assert.ok(webgpu.kernels.has(name));
    assert.ok(all?.length > 0 || views.every((dtypes) => Array.isArray(dtypes)), name);
  }
});

test("thousands of dispatches in a batch", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [0]);
  const one = p.view("float32", [1]);
  for (let i = 0; i < 10_000; i++) add(p, x, one);
  assert.deepEqual(await p.read(x), [10_000]);
});

// Appends a call of a kernel whose fields are these words.
function rawKernel(p, name, words) {
  const number = p.stream.name(name);
  p.stream.raw(((3 + words.length) << 8) | 6, number, number, ...words);
}

test("commands and fields that are wrong are errors of the next read alone", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [1, 2]);
  const wrong = [
    [() => p.kernel("dance", {}), /no kernel dance/],
    [
      () => p.kernel("fill", { count: 1, value: 0, y: null }),
      /memory that a kernel needs is missing/,
    ],
    [() => rawKernel(p, "fill", [1, 0, 0]), /shorter than its fields/],
    [
      () => rawKernel(p, "fill", [1, 0, 0, 0, 0, x.block, 0, 0, 9, 9]),
      /2 words more than its fields/,
    ],
    [() => rawKernel(p, "fill", [1, 0, 0, 0, 0, x.block, 0, 99]), /99 is not a dtype/],
    [() => p.stream.raw((1 << 8) | 2), /shorter than its fields/],
    [() => p.stream.raw((3 << 8) | 13, 1234, 5), /1 words more than its fields/],
    [() => p.stream.free(1234), /no block 1234/],
    [() => p.stream.allocate(x.block, 4), /not free/],
    [() => p.stream.raw((1 << 8) | 77), /no command 77/],
  ];
  for (const [write, message] of wrong) {
    write();
    await assert.rejects(p.read(x), { kind: "internal", message });
    // What a call with wrong fields would have written is lost.
    p.stream.write(x.block, 0, arrayOf("float32", [1, 2]));
    assert.deepEqual(await p.read(x), [1, 2]);
  }
  p.stream.raw(9999 << 8);
  p.play();
  await assert.rejects(p.read(x), /9999 words/);
});

test("calls that fail are errors of what they would have written", options, async () => {
  const p = new Playing();
  const [x, y] = [p.view("float32", [1, 2]), p.view("float32", [3, 4])];
  const wrong = [
    [() => add(p, { ...x, dtype: "float64" }, x, y), /float64/],
    [() => add(p, { ...x, offset: 2 }, x, y), /offset 2/],
  ];
  for (const [call, message] of wrong) {
    p.stream.use(y.block, 8);
    call();
    assert.deepEqual(await p.read(x), [1, 2]);
    await assert.rejects(p.read(y), { kind: "internal", op: "add", message });
  }
});

test("WebGPU's own errors come with the op's name", options, async () => {
  const bad = {
    supported: { all: ["float32"] },
    play({ y }, commands) {
      commands.dispatch({
        key: "bad",
        memory: [{ name: "y", view: y, mode: "write" }],
        uniforms: {},
        workgroups: [1],
        body: () => "fn main() { this is no shader }",
      });
    },
  };
  const p = new Playing({ kernels: new Map([...webgpu.kernels, ["fill", bad]]) });
  const [x, one] = [p.view("float32", [1, 2]), p.view("float32", [1])];
  const [bad2, sum] = [p.empty("float32", 2), p.empty("float32", 2)];
  await p.read(x);
  add(p, x, one);
  p.kernel("fill", { count: 2, value: 0, y: bad2 }, "matmul");
  add(p, bad2, one, sum);
  add(p, x, one);
  assert.deepEqual(await p.read(x), [3, 4]);
  await assert.rejects(p.read(bad2), { kind: "validation", op: "matmul" });
  await assert.rejects(p.read(sum), { kind: "validation", op: "matmul" });
  const reads = [p.later(x), p.later({ ...x, count: 1000 }), p.later(x)];
  p.play();
  for (const read of reads) await assert.rejects(read, { kind: "validation" });
  assert.deepEqual(await p.read(x), [3, 4]);
});

test("writes beyond a block", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [1, 2]);
  await p.read(x);
  p.stream.write(x.block, 4, arrayOf("float32", [3, 4, 5, 6]));
  await assert.rejects(p.read(x), { kind: "validation" });
  assert.deepEqual(await p.read(x), [1, 2]);
});

test("memory that there is not", options, async () => {
  const p = new Playing();
  const [x, one] = [p.view("float32", [1, 2]), p.view("float32", [1])];
  const huge = { block: p.allocate(2 ** 32 - 4), offset: 0, dtype: "float32", count: 2 };
  add(p, x, one);
  add(p, x, one, huge);
  assert.deepEqual(await p.read(x), [2, 3]);
  const kind = "out-of-memory";
  await assert.rejects(p.read(huge), { kind, op: "add", message: /4294967\d+ bytes.*in use/ });
  p.stream.free(huge.block);
  assert.deepEqual(await p.read(x), [2, 3]);
});

test("memory that comes too late", options, async () => {
  const { device } = await openDevice();
  let isFull = true;
  // Simulates a GPU whose memory is full and which reports that only later.
  const full = new Proxy(device, {
    get: (target, name) => {
      const value = target[name];
      if (name !== "createBuffer") return typeof value === "function" ? value.bind(target) : value;
      return (of) =>
        target.createBuffer(isFull && of.size === 4096 ? { ...of, size: 2 ** 50 } : of);
    },
  });
  const p = new Playing({ on: full });
  const x = { block: p.allocate(4096), offset: 0, dtype: "float32", count: 1 };
  p.stream.write(x.block, 0, arrayOf("float32", [3]));
  await assert.rejects(p.read(x), { message: /4096 bytes/ });
  isFull = false;
  // A part of it is not all that it should have had.
  p.stream.write(x.block, 0, arrayOf("float32", [3]));
  await assert.rejects(p.read(x), { message: /4096 bytes/ });
  p.stream.write(x.block, 0, new Float32Array(1024).fill(3));
  assert.deepEqual(await p.read(x), [3]);
});

/** A device on which only so many buffers of 12 KiB fit. */
function roomFor(device, most) {
  let count = 0;
  const created = (of) => {
    if (of.size !== 12288) return device.createBuffer(of);
    if (count === most) return device.createBuffer({ ...of, size: 2 ** 50 });
    count++;
    const buffer = device.createBuffer(of);
    const { destroy } = buffer;
    buffer.destroy = () => {
      count--;
      destroy.call(buffer);
    };
    return buffer;
  };
  return new Proxy(device, {
    get: (target, name) => {
      if (name === "createBuffer") return created;
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("memory of blocks that are idle serves others", options, async () => {
  const { device } = await openDevice();
  const p = new Playing({ on: roomFor(device, 2) });
  const made = (value) => {
    const x = { block: p.allocate(12288), offset: 0, dtype: "float32", count: 3072 };
    p.stream.write(x.block, 0, new Float32Array(3072).fill(value));
    return x;
  };
  const [a, b] = [made(1), made(2)];
  add(p, a, b);
  p.stream.idle(b.block);
  // The sum above is computed before the memory of b is given to c.
  const c = made(5);
  add(p, c, a);
  assert.deepEqual((await p.read(c)).slice(0, 2), [8, 8]);
  // All memory is needed now: b cannot come back before another block is idle.
  p.stream.use(b.block, 12288);
  p.stream.write(b.block, 0, new Float32Array(3072).fill(7));
  await assert.rejects(p.read(b), { kind: "out-of-memory", message: /12288 bytes.*in use/ });
  assert.deepEqual((await p.read(c)).slice(0, 2), [8, 8]);
  p.stream.idle(a.block);
  p.stream.write(b.block, 0, new Float32Array(3072).fill(7));
  assert.deepEqual((await p.read(b)).slice(0, 2), [7, 7]);
  p.stream.free(a.block);
  assert.deepEqual((await p.read(b)).slice(0, 2), [7, 7]);
});

/** A device that does not accept the next submit once `fails.next` is set. */
function refusing(device, fails) {
  const bound = (target, name) => {
    const value = target[name];
    return typeof value === "function" ? value.bind(target) : value;
  };
  let spent;
  const submit = (buffers) => {
    // WebGPU refuses command buffers that have been submitted before.
    const isRefused = fails.next && spent !== undefined;
    fails.next = false;
    device.queue.submit(isRefused ? [spent] : buffers);
    spent = buffers[0];
  };
  const queue = new Proxy(device.queue, {
    get: (target, name) => (name === "submit" ? submit : bound(target, name)),
  });
  return new Proxy(device, {
    get: (target, name) => (name === "queue" ? queue : bound(target, name)),
  });
}

test(
  "what a refused submit would have written, and what was computed from it, has failed",
  options,
  async () => {
    const { device } = await openDevice();
    const fails = { next: false };
    const p = new Playing({ on: refusing(device, fails) });
    const [x, one] = [p.view("float32", [1, 2]), p.view("float32", [1])];
    const [y, other] = [p.view("float32", [0, 0]), p.view("float32", [7, 7])];
    add(p, other, one);
    assert.deepEqual(await p.read(other), [8, 8]);
    fails.next = true;
    add(p, x, one);
    await p.play();
    // WebGPU has not said yet that this batch was refused.
    add(p, x, one, y);
    const [late, innocent] = [p.later(y), p.later(other)];
    p.play();
    await assert.rejects(late, { kind: "validation" });
    assert.deepEqual(await innocent, [8, 8]);
    for (const view of [x, y]) await assert.rejects(p.read(view), { kind: "validation" });
    add(p, x, one, other);
    await assert.rejects(p.read(other), { kind: "validation" });
    assert.deepEqual(await p.read(one), [1]);
    p.stream.write(x.block, 0, arrayOf("float32", [3, 4]));
    add(p, x, one);
    assert.deepEqual(await p.read(x), [4, 5]);
  },
);

test("a kernel that needs more buffers than the GPU binds", options, async () => {
  const { device } = await openDevice();
  const limits = new Proxy(device.limits, {
    get: (target, name) => (name === "maxStorageBuffersPerShaderStage" ? 2 : target[name]),
  });
  const few = new Proxy(device, {
    get: (target, name) => {
      const value = name === "limits" ? limits : target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const p = new Playing({ on: few });
  const [x, one, y] = [p.view("float32", [1, 2]), p.view("float32", [1]), p.empty("float32", 2)];
  add(p, x, one, y);
  await assert.rejects(p.read(y), { op: "add", message: /^3 buffers .* binds 2: use .* CPU/ });
  add(p, x, one);
  assert.deepEqual(await p.read(x), [2, 3]);
});

test("a lost device fails every read", options, async () => {
  const { device } = await openDevice();
  const p = new Playing({ on: device });
  const x = p.view("float32", [1, 2]);
  const one = p.view("float32", [1]);
  add(p, x, one);
  const pending = p.read(x);
  device.destroy();
  await assert.rejects(pending, { kind: "lost" });
  add(p, x, one);
  await assert.rejects(p.read(x), { kind: "lost" });
});

test("a device with all that the adapter has", options, async () => {
  const opened = await webgpu.openDevice((await openDevice()).gpu);
  assert.ok(opened.device.limits.maxStorageBufferBindingSize === opened.adapter.maxBindingBytes);
  assert.ok(opened.adapter.maxBufferBytes >= 2 ** 28);
  for (const feature of opened.adapter.features) assert.ok(opened.device.features.has(feature));
  assert.equal(await webgpu.openDevice({ requestAdapter: async () => null }), undefined);
});
