// The device through the package's public API: where tensors are made, how they are moved and counted.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../../js/support/assert.mjs";
import { eg, leaf, onGpu, options } from "../support/engine.mjs";

const like = () => onGpu([[1, 2], [3, 4]]); // biome-ignore format: a matrix
const device = "webgpu";

describe("the device option of", options, () => {
  const kFactories = {
    tensor: (place) => eg.tensor([1, 2], place),
    zeros: (place) => eg.zeros([2, 3], place),
    ones: (place) => eg.ones([2, 3], place),
    full: (place) => eg.full([2], 3, place),
    empty: (place) => eg.empty([0, 3], place),
    rand: (place) => eg.rand([5], place),
    randn: (place) => eg.randn([5], place),
    randint: (place) => eg.randint(0, 9, [5], place),
    randperm: (place) => eg.randperm(9, place),
    arange: (place) => eg.arange(0, 5, 1, place),
    linspace: (place) => eg.linspace(0, 1, 5, place),
    eye: (place) => eg.eye(3, place),
  };
  for (const [name, make] of Object.entries(kFactories)) {
    const isDrawn = name.startsWith("rand");
    test(`${name} makes the tensor of the CPU on the device${isDrawn ? ", with other numbers" : ""}`, () => {
      const [right, found] = [undefined, device].map((where) => {
        eg.manualSeed(3);
        return make(where === undefined ? {} : { device: where });
      });
      assert.deepEqual([right.device, found.device], ["cpu", device]);
      assert.deepEqual(found.dtype, right.dtype);
      assert.deepEqual(found.shape, right.shape);
      if (isDrawn) assert.notDeepEqual(found.arraySync(), right.arraySync());
      else assert.deepEqual(found.arraySync(), right.arraySync());
      const isFloat = right.dtype === "float32";
      if (isFloat) assert.ok(make({ device, requiresGrad: true }).isLeaf);
    });
  }

  const kLike = {
    zerosLike: eg.zerosLike,
    onesLike: eg.onesLike,
    fullLike: (x, place) => eg.fullLike(x, 7, place),
    randLike: eg.randLike,
    randnLike: eg.randnLike,
    tensor: eg.tensor,
  };
  for (const [name, make] of Object.entries(kLike)) {
    test(`${name} is where the tensor it is given is, unless it says`, () => {
      const values = [
        make(like()),
        make(like().to("cpu"), { device }),
        make(like(), { device: "cpu" }),
      ].map((tensor, i) => {
        assert.equal(tensor.device, i < 2 ? device : "cpu");
        assert.deepEqual(tensor.shape, [2, 2]);
        return tensor.arraySync();
      });
      if (!name.startsWith("rand")) assert.deepEqual(values[1], values[0]);
    });
  }

  test("every function refuses a device that there is not", () => {
    for (const make of [...Object.values(kFactories), () => like().to("tpu")])
      assertThrows(() => make({ device: "cuda" }), "InvalidArgument", /cpu.*webgpu/);
  });
});

describe("random numbers that the host draws for the device", options, () => {
  test("of a seed are those of the CPU", () => {
    const draw = (where) => {
      eg.manualSeed(11);
      const x = eg.ones([64], { device: where });
      return eg.binomial(x.mul(9), x.mul(0.3)).arraySync();
    };
    assert.deepEqual(draw(device), draw("cpu"));
  });
});

describe("Tensor.to", options, () => {
  test("takes a device, a dtype, both, or a tensor to be like", () => {
    const x = eg.tensor([1.5, -2]);
    const cases = [
      [x.to(device), device, "float32"],
      [x.to(device, "int32"), device, "int32"],
      [x.to("int32", device), device, "int32"],
      [x.to({ device, dtype: "bool" }), device, "bool"],
      [x.to(onGpu([1n])), device, "int64"],
      [onGpu([1.5]).to("cpu", "float64"), "cpu", "float64"],
      [onGpu([1.5]).to(eg.zeros([1], { dtype: "complex128" })), "cpu", "complex128"],
    ];
    for (const [tensor, where, dtype] of cases)
      assert.deepEqual([tensor.device, tensor.dtype], [where, dtype]);
    assert.deepEqual(cases[1][0].arraySync(), [1, -2]);
  });

  test("is recorded, and named in the graph", () => {
    const x = leaf([1, 2]);
    const y = x.to("cpu");
    assert.ok(y.requiresGrad && !y.isLeaf);
    assert.equal(y.gradFn.nextFunctions[0][0].name, "AccumulateGrad");
  });
});

describe("what the engine tells of the device:", options, () => {
  test("runtime().webgpu", () => {
    const { webgpu } = eg.runtime();
    assert.deepEqual(
      Object.entries(webgpu).map(([name, value]) => `${name} ${typeof value}`),
      [
        "vendor string",
        "architecture string",
        "description string",
        "subgroups boolean",
        "f16 boolean",
      ],
    );
    assert.notEqual(webgpu.vendor + webgpu.architecture + webgpu.description, "");
  });

  test("memory()", () => {
    const before = eg.memory();
    const x = eg.zeros([1000], { device });
    const after = eg.memory();
    assert.ok(after.gpuBytes - before.gpuBytes >= 4000);
    assert.ok(after.gpuPeakBytes >= after.gpuBytes && after.gpuBuffers >= 1);
    assert.equal(after.cpuBytes, before.cpuBytes);
    assert.equal(after.tensors, before.tensors + 1);
    x.dispose();
  });

  test("webgpuStats()", async () => {
    const names = [
      "submits",
      "dispatches",
      "pipelines",
      "bindGroups",
      "buffersCreated",
      "readbacks",
      "bytesWritten",
      "bytesRead",
    ];
    const x = onGpu([1, 2]);
    await x.data();
    const before = eg.webgpuStats();
    assert.deepEqual(Object.keys(before), names);
    await x.add(1).mul(2).data();
    const after = eg.webgpuStats();
    const used = names.map((name) => after[name] - before[name]);
    // Two kernels and a read are one batch.
    // Numbers are written to the device for the kernels.
    assert.deepEqual([used[0], used[1], ...used.slice(5)], [1, 2, 1, 8, 8]);
  });

  test("autograd.profile(), with the device's own thread", () => {
    const x = leaf([1, 2]);
    const { events } = eg.autograd.profile(() => x.square().to("cpu").exp().sum().backward());
    const of = (where) => events.filter((event) => event.device === where);
    assert.ok(of(device).some(({ name }) => name === "SquareBackward0"));
    assert.ok(of("cpu").some(({ name }) => name === "ExpBackward0"));
    const [threads, others] = [device, "cpu"].map((where) => of(where).map((e) => e.thread));
    assert.equal(new Set(threads).size, 1);
    assert.ok(!others.includes(threads[0]));
    const trace = JSON.parse(JSON.stringify(of(device)[0]));
    assert.equal(trace.args.device, device);
  });

  test("the graph's drawing and the text of tensors", () => {
    const y = leaf([1, 2]).mul(2);
    assert.match(String(y), /device='webgpu', grad_fn=<MulBackward0>/);
    assert.match(eg.autograd.toDot(y), /MulBackward0/);
    assertTensor(y.detach(), [2, 4]);
  });
});
