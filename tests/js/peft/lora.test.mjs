// LoRA on any module: what the layers compute, how adapters are chosen, merged and stored, and what is refused.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { getPeftModel, LoraConfig, PeftModel } from "edgegrad/peft";
import { eg } from "../support/engine.mjs";

const { Conv2d, Embedding, Linear, Module, ReLU, Sequential } = eg.nn;
const close = (own, wanted) => eg.testing.assertClose(own, wanted, { rtol: 1e-4, atol: 1e-5 });

class Net extends Module {
  constructor() {
    super();
    this.table = new Embedding(7, 6);
    this.layers = new eg.nn.ModuleList([new Linear(6, 6), new Linear(6, 6)]);
    this.head = new Linear(6, 3);
  }

  forward(ids) {
    let x = this.table.call(ids);
    for (const layer of this.layers) x = layer.call(x).tanh();
    return this.head.call(x);
  }
}

const kIds = eg.tensor([[1, 4, 2, 6]], { dtype: "int64" });

/** Draws all parameters of adapters, which begin as zero. */
function draw(model) {
  eg.noGrad(() => {
    for (const [name, parameter] of model.namedParameters()) {
      if (/lora_[^.]*\./.test(name) && !name.includes("magnitude"))
        eg.nn.init.normal_(parameter, 0, 0.5);
    }
  });
}

const lora = (options) => new LoraConfig({ r: 2, loraAlpha: 6, ...options });
const trained = (model) =>
  model.namedParameters().flatMap(([name, { requiresGrad }]) => (requiresGrad ? [name] : []));

describe("layers", () => {
  for (const [kind, options, scaling] of [
    ["LoRA", {}, 3],
    ["rsLoRA", { useRslora: true }, 6 / Math.SQRT2],
  ]) {
    test(`${kind} adds scaled low-rank products to linear layers`, () => {
      const base = new Sequential(new Linear(5, 4));
      const x = eg.randn([3, 5]);
      const before = base.call(x);
      const model = getPeftModel(base, lora({ targetModules: ["0"], ...options }));
      close(model.call(x), before);
      draw(model);
      const layer = model.getSubmodule("base_model.model.0");
      const [a, b] = [layer.lora_A.get("default").weight, layer.lora_B.get("default").weight];
      close(model.call(x), before.add(x.matmul(a.t()).matmul(b.t()).mul(scaling)));
    });
  }

  test("DoRA learns the norm of each row apart from its direction", () => {
    for (const bias of [true, false]) {
      const base = new Sequential(new Linear(5, 4, { bias }));
      const [weight, own] = [base[0].weight.detach().clone(), base[0].bias];
      const x = eg.randn([3, 5]);
      const before = base.call(x);
      const model = getPeftModel(base, lora({ targetModules: ["0"], useDora: true }));
      close(model.call(x), before);
      draw(model);
      const layer = model.getSubmodule("base_model.model.0");
      const [a, b] = [layer.lora_A.get("default").weight, layer.lora_B.get("default").weight];
      const magnitude = layer.lora_magnitude_vector.get("default").weight;
      eg.noGrad(() => magnitude.mul_(1.5));
      const sum = weight.add(b.matmul(a).mul(3));
      const norm = eg.linalg.vectorNorm(sum.detach(), { dim: 1, keepdim: true });
      const wanted = eg.linear(x, sum.mul(magnitude.unsqueeze(1).div(norm)), own);
      const result = model.call(x);
      close(result, wanted);
      // The norm is a constant for gradients.
      const grads = (y) => eg.autograd.grad(y.square().sum(), [a, b, magnitude]);
      const expected = grads(wanted);
      for (const [i, grad] of grads(result).entries()) close(grad, expected[i]);
      model.merge();
      close(model.call(x), wanted);
      model.unmerge();
      close(base[0].weight, weight);
      close(model.mergeAndUnload().call(x), wanted);
    }
  });

  test("embeddings, convolutions and linear layers compute the same when they are merged", () => {
    for (const [base, input, targetModules] of [
      [new Net(), kIds, ["table", "head"]],
      [
        new Sequential(new Conv2d(3, 4, 3, { stride: 2, padding: 1 }), new ReLU()),
        eg.randn([2, 3, 6, 6]),
        ["0"],
      ],
    ]) {
      const before = base.call(input);
      const model = getPeftModel(base, lora({ targetModules }));
      close(model.call(input), before);
      draw(model);
      const own = model.call(input);
      assert.ok(own.sub(before).abs().max().item() > 0.1);
      model.merge();
      close(model.call(input), own);
      model.unmerge();
      close(model.call(input), own);
      close(
        model.disableAdapter(() => model.call(input)),
        before,
      );
      close(model.mergeAndUnload().call(input), own);
      assert.ok(base.namedModules().every(([, one]) => !one.constructor.name.startsWith("Lora")));
    }
  });

  test("weights of an ONNX graph are adapted under their own names", async () => {
    const source = new Sequential(new Linear(5, 4), new ReLU(), new Linear(4, 2));
    const x = eg.randn([3, 5]);
    const graph = await onnx.load(await onnx.save(source, { inputs: [x] }));
    const model = getPeftModel(graph, lora({ targetModules: ["0", "2"] }));
    close(model.call(x), source.call(x));
    draw(model);
    const own = model.call(x);
    own.sum().backward();
    const grads = model.parameters().filter(({ grad }) => grad !== null);
    assert.equal(grads.length, 4);
    const files = await model.savePretrained();
    assert.deepEqual(
      Object.keys(eg.io.loadSafetensors(files["adapter_model.safetensors"])).sort(),
      [
        "base_model.model.0.lora_A.weight",
        "base_model.model.0.lora_B.weight",
        "base_model.model.2.lora_A.weight",
        "base_model.model.2.lora_B.weight",
      ],
    );
    const again = await PeftModel.fromPretrained(
      await onnx.load(await onnx.save(source, { inputs: [x] })),
      files,
    );
    close(again.call(x), own);
    close(model.mergeAndUnload().call(x), own);
    assert.deepEqual(
      graph
        .namedParameters()
        .map(([name]) => name)
        .sort(),
      ["0.bias", "0.weight", "2.bias", "2.weight"],
    );
  });

  test("training drops inputs of the adapter only", () => {
    const base = new Sequential(new Linear(5, 4));
    const x = eg.randn([3, 5]);
    const before = base.call(x);
    const model = getPeftModel(base, lora({ targetModules: ["0"], loraDropout: 1 }));
    draw(model);
    close(model.call(x), before);
    model.eval();
    assert.ok(model.call(x).sub(before).abs().max().item() > 0.01);
  });
});

describe("adapters", () => {
  test("are chosen, applied together, switched off and deleted", async () => {
    const base = new Net();
    const before = base.call(kIds);
    const model = getPeftModel(base, lora({ targetModules: ["head"] }), "first");
    model.addAdapter("second", lora({ targetModules: ["head", "0"], r: 3 }));
    draw(model);
    const first = model.call(kIds);
    assert.deepEqual(
      trained(model).map((name) => name.split(".").slice(-3).join(".")),
      ["lora_A.first.weight", "lora_B.first.weight"],
    );
    model.setAdapter("second");
    const second = model.call(kIds);
    assert.equal(trained(model).length, 4);
    assert.ok(second.sub(first).abs().max().item() > 0.01);
    model.setAdapter(["first", "second"]);
    const both = model.call(kIds);
    model.merge();
    close(model.call(kIds), both);
    model.unmerge();
    close(await model.disableAdapter(async () => model.call(kIds)), before);
    close(model.call(kIds), both);
    assert.throws(() => model.disableAdapter(() => assert.fail("thrown")), /thrown/);
    close(model.call(kIds), both);
    model.deleteAdapter("second");
    close(model.call(kIds), first);
    assert.throws(
      () => model.setAdapter("second"),
      /there is no adapter "second"; there are first/,
    );
    const copy = model.clone();
    close(copy.call(kIds), first);
    close(model.unload().call(kIds), before);
    close(copy.call(kIds), first);
  });

  test("are stored with modules that are trained themselves, and with biases", async () => {
    const make = () => {
      eg.manualSeed(5);
      return new Net();
    };
    for (const bias of ["none", "all", "lora_only"]) {
      const options = { targetModules: "layers\\.\\d", modulesToSave: ["head"], bias };
      const model = getPeftModel(make(), lora(options));
      draw(model);
      eg.noGrad(() => {
        for (const parameter of model.parameters()) if (parameter.requiresGrad) parameter.add_(0.1);
      });
      const { trainable, all } = model.trainableParameters();
      assert.equal(trainable, 4 * 12 + 21 + { none: 0, all: 12, lora_only: 12 }[bias]);
      assert.equal(all, 42 + 2 * 42 + 2 * 21 + 4 * 12);
      const own = model.call(kIds);
      const files = await model.savePretrained();
      const again = await PeftModel.fromPretrained(make(), files, { isTrainable: true });
      close(again.call(kIds), own);
      assert.deepEqual(again.trainableParameters(), { trainable, all });
      if (bias !== "none") continue;
      close(again.mergeAndUnload().call(kIds), own);
      const taken = getPeftModel(make(), lora({ targetModules: ["head"] }));
      await assert.rejects(taken.loadAdapter(files, "stored"), /"head" has adapters/);
      assert.deepEqual(Object.keys(taken.peftConfig), ["default"]);
      const extra = getPeftModel(make(), lora({ targetModules: ["0"] }));
      await extra.loadAdapter(files, "stored");
      extra.setAdapter("stored");
      close(extra.call(kIds), own);
      assert.equal(extra.trainableParameters().trainable, 0);
    }
  });

  test("have ranks and alphas by layer, in the blocks that are wanted", () => {
    const options = {
      targetModules: "all-linear",
      excludeModules: ["head"],
      rankPattern: { "layers.1": 4 },
      alphaPattern: { "layers.1": 2 },
    };
    const model = getPeftModel(new Net(), lora(options));
    const layer = (i) => model.getSubmodule(`base_model.model.layers.${i}`).settings.default;
    assert.deepEqual([layer(0).r, layer(0).scaling, layer(1).r, layer(1).scaling], [2, 3, 4, 0.5]);
    const one = getPeftModel(
      new Net(),
      lora({ targetModules: "layers\\.\\d", layersToTransform: [1] }),
    );
    assert.ok(trained(one).every((name) => name.includes("layers.1.")));
    assert.equal(trained(one).length, 2);
  });
});

describe("refusals", () => {
  const refuses = (fn, code, pattern) =>
    assert.throws(
      fn,
      (error) =>
        error instanceof eg.EdgeGradError && error.code === code && pattern.test(error.message),
    );

  test("of options", () => {
    refuses(
      () => new LoraConfig({ rank: 4 }),
      "InvalidArgument",
      /unknown option "rank"; the options are r,/,
    );
    refuses(
      () => new LoraConfig({ r: 0 }),
      "InvalidArgument",
      /r: expected a whole number from 1, got 0/,
    );
    refuses(() => new LoraConfig({ bias: "some" }), "InvalidArgument", /bias: expected "none"/);
    refuses(() => getPeftModel(new Net(), {}), "InvalidArgument", /expected a LoraConfig/);
    refuses(() => getPeftModel({}, lora()), "InvalidArgument", /expected a module/);
    const wrong = lora({ targetModules: ["query"] });
    const base = new Net();
    refuses(
      () => getPeftModel(base, wrong),
      "InvalidArgument",
      /names no layer of the Net. Its linear layers are called 0, 1, head/,
    );
    assert.ok(base.parameters().every(({ requiresGrad }) => requiresGrad));
    refuses(
      () => getPeftModel(base, lora({ targetModules: "(" })),
      "InvalidArgument",
      /not a regular expression/,
    );
    refuses(
      () => getPeftModel(base, lora({ targetModules: ["head"] }), "__proto__"),
      "InvalidArgument",
      /adapterName/,
    );
  });

  test("of a weight that another layer shares", () => {
    const base = new Net();
    base.head = new Linear(6, 7);
    base.head.weight = base.table.weight;
    const model = getPeftModel(base, lora({ targetModules: ["head"] }));
    refuses(() => model.merge(), "InvalidArgument", /"head" shares its weight/);
  });

  test("of files", async () => {
    const model = getPeftModel(new Net(), lora({ targetModules: ["head"] }));
    const files = await model.savePretrained();
    const config = JSON.parse(new TextDecoder().decode(files["adapter_config.json"]));
    const load = (changed, base = new Net()) =>
      PeftModel.fromPretrained(base, { ...files, ...changed });
    const withConfig = (values) => ({
      "adapter_config.json": JSON.stringify({ ...config, ...values }),
    });
    for (const [changed, pattern] of [
      [withConfig({ peft_type: "IA3" }), /peft_type is "IA3"/],
      [withConfig({ layer_replication: [[0, 1]] }), /not implemented: layer_replication/],
      [withConfig({ init_lora_weights: "pissa" }), /initLoraWeights/],
      [withConfig({ r: 3 }), /has the shape \[2,6\] in the file and \[3,6\]/],
      [
        withConfig({ target_modules: ["layers.0"] }),
        /it lacks .*layers\.0.*the model has no .*head/,
      ],
      [{ "adapter_config.json": "{" }, /is not JSON/],
      [{ "adapter_model.safetensors": new Uint8Array(9) }, /invalid file/],
    ]) {
      const base = new Net();
      await assert.rejects(
        load(changed, base),
        (error) => error instanceof eg.EdgeGradError && pattern.test(error.message),
        String(pattern),
      );
      // The model is as it was.
      base.call(kIds);
      assert.ok(base.namedModules().every(([, one]) => !one.constructor.name.startsWith("Lora")));
    }
    await assert.rejects(
      PeftModel.fromPretrained(new Net(), { "adapter_config.json": "{}" }),
      /peft_type/,
    );
    await assert.rejects(
      PeftModel.fromPretrained(new Net(), {}),
      /there is no adapter_config.json/,
    );
  });
});
