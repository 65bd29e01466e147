// The ops of ai.onnx.ml: values by hand, and what onnxruntime gives.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import * as ort from "onnxruntime-web";
import { eg } from "../support/engine.mjs";
import { model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const floats = (list) => ({ floats: list });
const strings = (list) => ({ strings: list });

/** Returns the bytes of a model of one node of ai.onnx.ml. */
function modelOf(
  op,
  attributes,
  { type = 1, outputs = 1, inputs = ["x"], version = 3, more = {} } = {},
) {
  const names = Array.from({ length: outputs }, (_, i) => `y${i}`);
  return model({
    domains: { "ai.onnx.ml": version },
    inputs: inputs.map((name) => valueInfo(name, null, type)),
    // The first output of a classifier has labels.
    outputs: names.map((name, i) => valueInfo(name, null, outputs === 2 && i === 0 ? 7 : 1)),
    nodes: [node(op, inputs, names, attributes, { domain: "ai.onnx.ml" })],
    ...more,
  });
}

const plain = (value) => {
  if (value instanceof eg.Tensor) {
    const list = value.detach().arraySync();
    return value.dtype === "int64"
      ? JSON.parse(JSON.stringify(list, (_, one) => (typeof one === "bigint" ? Number(one) : one)))
      : list;
  }
  return Array.isArray(value) ? value.map(plain) : value;
};

const resultOf = async (bytes, ...inputs) => plain((await onnx.load(bytes)).call(...inputs));

function assertClose(actual, wanted, where = "") {
  if (Array.isArray(wanted)) {
    assert.equal(actual.length, wanted.length, where);
    for (const [i, one] of wanted.entries()) assertClose(actual[i], one, `${where}[${i}]`);
  } else if (typeof wanted === "number") {
    assert.ok(
      Math.abs(actual - wanted) <= 1e-5 * Math.max(1, Math.abs(wanted)),
      `${where}: ${actual} for ${wanted}`,
    );
  } else assert.equal(actual, wanted, where);
}

/** Compares all outputs with those of onnxruntime. */
async function assertAsOnnxRuntime(bytes, x) {
  const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });
  const results = await session.run({ x: new ort.Tensor("float32", x.dataSync(), x.shape) });
  await session.release();
  const own = (await onnx.load(bytes)).call(x);
  const all = session.outputNames.length === 1 ? [own] : own;
  for (const [i, name] of session.outputNames.entries()) {
    const { data, dims } = results[name];
    const flat = plain(all[i]).flat(9);
    if (all[i] instanceof eg.Tensor) assert.deepEqual(all[i].shape, [...dims], name);
    assertClose(
      flat,
      Array.from(data, (one) => (typeof one === "bigint" ? Number(one) : one)),
      name,
    );
  }
}

const rows = eg.tensor([
  [1, -4],
  [2, 1],
  [0, 0.25],
  [-1, 3],
]);

describe("preparation of features", () => {
  test("Normalizer divides each row", async () => {
    const x = eg.tensor([
      [3, 4],
      [1, -2],
      [0, 0],
    ]);
    const by = (norm) => resultOf(modelOf("Normalizer", { norm }), x);
    assertClose(await by("MAX"), [
      [0.75, 1],
      [1, -2],
      [0, 0],
    ]);
    assertClose(await by("L1"), [
      [3 / 7, 4 / 7],
      [1 / 3, -2 / 3],
      [0, 0],
    ]);
    assertClose(await by("L2"), [
      [0.6, 0.8],
      [1 / Math.sqrt(5), -2 / Math.sqrt(5)],
      [0, 0],
    ]);
    for (const norm of ["MAX", "L1", "L2"])
      await assertAsOnnxRuntime(modelOf("Normalizer", { norm }), rows);
    await assert.rejects(by("L3"), /L3/);
  });

  test("Scaler, Binarizer and Imputer", async () => {
    const x = eg.tensor([
      [1, 2],
      [3, Number.NaN],
    ]);
    const scaler = modelOf("Scaler", { offset: floats([1, 2]), scale: floats([2, 0.5]) });
    assertClose(
      await resultOf(
        scaler,
        eg.tensor([
          [1, 2],
          [3, 6],
        ]),
      ),
      [
        [0, 0],
        [4, 2],
      ],
    );
    const one = modelOf("Scaler", { offset: floats([1]), scale: floats([2]) });
    assertClose(await resultOf(one, eg.tensor([[1, 2]], { dtype: "float32" })), [[0, 2]]);
    assertClose(await resultOf(modelOf("Binarizer", { threshold: { float: 1 } }), rows), [
      [0, 0],
      [1, 0],
      [0, 0],
      [0, 1],
    ]);
    const imputer = modelOf("Imputer", {
      imputed_value_floats: floats([7, 8]),
      replaced_value_float: { float: Number.NaN },
    });
    assertClose(await resultOf(imputer, x), [
      [1, 2],
      [3, 8],
    ]);
    const ints = modelOf(
      "Imputer",
      { imputed_value_int64s: [5], replaced_value_int64: 0 },
      { type: 7 },
    );
    assertClose(await resultOf(ints, eg.tensor([[0, 2]], { dtype: "int64" })), [[5, 2]]);
  });

  test("FeatureVectorizer and ArrayFeatureExtractor", async () => {
    const vectors = modelOf(
      "FeatureVectorizer",
      { inputdimensions: [2, 2] },
      { inputs: ["a", "b"] },
    );
    assertClose(await resultOf(vectors, eg.tensor([[1, 2]]), eg.tensor([[3]])), [[1, 2, 3, 0]]);
    const extractor = model({
      domains: { "ai.onnx.ml": 1 },
      inputs: [valueInfo("x", null)],
      outputs: [valueInfo("y", null)],
      initializers: [tensorProto("i", [2], [1, 0], 7)],
      nodes: [node("ArrayFeatureExtractor", ["x", "i"], ["y"], {}, { domain: "ai.onnx.ml" })],
    });
    assertClose(await resultOf(extractor, rows), [
      [-4, 1],
      [1, 2],
      [0.25, 0],
      [3, -1],
    ]);
    assertClose(await resultOf(extractor, eg.tensor([5, 6, 7])), [[6, 5]]);
  });

  test("OneHotEncoder and LabelEncoder", async () => {
    const hot = modelOf("OneHotEncoder", { cats_int64s: [3, 5] }, { type: 7 });
    assertClose(await resultOf(hot, eg.tensor([5, 4, 3], { dtype: "int64" })), [
      [0, 1],
      [0, 0],
      [1, 0],
    ]);
    const strict = modelOf(
      "OneHotEncoder",
      { cats_strings: strings(["a"]), zeros: 0 },
      { type: 8 },
    );
    assertClose(await resultOf(strict, ["a"]), [[1]]);
    await assert.rejects(resultOf(strict, ["b"]), /"b" is none of the categories/);
    const encode = (attributes, type, value, version = 2) =>
      resultOf(modelOf("LabelEncoder", attributes, { type, version }), value);
    const words = { keys_strings: strings(["a", "b"]), values_int64s: [7, 9] };
    assert.deepEqual(await encode(words, 8, ["b", "c", "a"]), [9, -1, 7]);
    const back = { keys_int64s: [7, 9], values_strings: strings(["a", "b"]) };
    assert.deepEqual(await encode(back, 7, eg.tensor([9, 1], { dtype: "int64" })), [
      "b",
      "_Unused",
    ]);
    const numbers = {
      keys_floats: floats([1, Number.NaN]),
      values_floats: floats([2, 3]),
      default_float: { float: 0.5 },
    };
    assert.deepEqual(await encode(numbers, 1, eg.tensor([Number.NaN, 1, 4])), [3, 2, 0.5]);
    const old = { classes_strings: strings(["a", "b"]) };
    assert.deepEqual(await encode(old, 8, ["b", "c"], 1), [1, -1]);
    assert.deepEqual(await encode(old, 7, eg.tensor([1, 5], { dtype: "int64" }), 1), [
      "b",
      "_Unused",
    ]);
    const tensors = {
      keys_tensor: { tensor: tensorProto("", [2], [1, 2], 7) },
      values_tensor: { tensor: tensorProto("", [2], [10, 20]) },
      default_tensor: { tensor: tensorProto("", [1], [-5]) },
    };
    assert.deepEqual(await encode(tensors, 7, eg.tensor([2, 3], { dtype: "int64" }), 4), [20, -5]);
  });
});

describe("linear models", () => {
  const kTransforms = ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"];
  for (const post_transform of kTransforms) {
    test(`${post_transform}`, async () => {
      const three = {
        coefficients: floats([0.01, 0.02, -0.03, 0.04, 0.05, 0.01]),
        intercepts: floats([0.4, 0.5, 0.3]),
        post_transform,
      };
      const labels = { classlabels_ints: [4, 5, 6] };
      await assertAsOnnxRuntime(
        modelOf("LinearClassifier", { ...three, ...labels }, { outputs: 2 }),
        rows,
      );
      await assertAsOnnxRuntime(modelOf("LinearRegressor", { ...three, targets: 3 }), rows);
      const one = { coefficients: floats([1, -0.5]), intercepts: floats([0.1]), post_transform };
      await assertAsOnnxRuntime(
        modelOf("LinearClassifier", { ...one, classlabels_ints: [3, 4] }, { outputs: 2 }),
        rows,
      );
    });
  }

  test("PROBIT is the inverse of the normal distribution", async () => {
    const given = { coefficients: floats([1]), intercepts: floats([0]), post_transform: "PROBIT" };
    const x = eg.tensor([[0.5], [0.975]]);
    const y = await resultOf(modelOf("LinearRegressor", given), x);
    assert.ok(Math.abs(y[0][0]) < 1e-6 && Math.abs(y[1][0] - 1.959964) < 1e-4, String(y));
  });

  test("by hand, with labels that are strings", async () => {
    const bytes = modelOf(
      "LinearClassifier",
      {
        coefficients: floats([1, 0, 0, 1]),
        intercepts: floats([0, 1]),
        classlabels_strings: strings(["a", "b"]),
      },
      { outputs: 2 },
    );
    const [labels, scores] = await resultOf(bytes, rows);
    assert.deepEqual(labels, ["a", "a", "b", "b"]);
    assertClose(
      scores,
      [
        [1, -3],
        [2, 2],
        [0, 1.25],
        [-1, 4],
      ].map(([a, b], i) => [a, i === 1 ? 2 : b]),
    );
  });

  test("are differentiable, as the scaler and the normalizer are", async () => {
    const bytes = model({
      domains: { "ai.onnx.ml": 1 },
      inputs: [valueInfo("x", null)],
      outputs: [valueInfo("y", null)],
      nodes: [
        node(
          "Scaler",
          ["x"],
          ["a"],
          { offset: floats([1, 2]), scale: floats([2, 0.5]) },
          { domain: "ai.onnx.ml" },
        ),
        node("Normalizer", ["a"], ["b"], { norm: "L2" }, { domain: "ai.onnx.ml" }),
        node(
          "LinearRegressor",
          ["b"],
          ["y"],
          {
            coefficients: floats([0.3, 0.7]),
            intercepts: floats([0.4]),
            post_transform: "LOGISTIC",
          },
          { domain: "ai.onnx.ml" },
        ),
      ],
    });
    const module = await onnx.load(bytes);
    const x = eg.tensor(
      [
        [0.3, 0.7],
        [2, 5],
      ],
      { dtype: "float64", requiresGrad: true },
    );
    assert.ok(eg.autograd.gradcheck((one) => module.call(one), x));
  });
});

describe("trees", () => {
  // x0 <= 0.5 ? 0 : (x1 > 0 ? 1 : 2), and a second tree of one test.
  const nodes = {
    nodes_treeids: [0, 0, 0, 0, 0, 1, 1, 1],
    nodes_nodeids: [0, 1, 2, 3, 4, 0, 1, 2],
    nodes_featureids: [0, 0, 1, 0, 0, 1, 0, 0],
    nodes_modes: strings([
      "BRANCH_LEQ",
      "LEAF",
      "BRANCH_GT",
      "LEAF",
      "LEAF",
      "BRANCH_LT",
      "LEAF",
      "LEAF",
    ]),
    nodes_values: floats([0.5, 0, 0, 0, 0, 0.25, 0, 0]),
    nodes_truenodeids: [1, 0, 3, 0, 0, 1, 0, 0],
    nodes_falsenodeids: [2, 0, 4, 0, 0, 2, 0, 0],
  };
  const leaves = (kind, ids, weights) => ({
    [`${kind}_treeids`]: [0, 0, 0, 1, 1],
    [`${kind}_nodeids`]: [1, 3, 4, 1, 2],
    [`${kind}_ids`]: ids,
    [`${kind}_weights`]: floats(weights),
  });

  test("a regressor by hand", async () => {
    const bytes = modelOf("TreeEnsembleRegressor", {
      ...nodes,
      ...leaves("target", [0, 0, 0, 0, 0], [1, 2, 3, 10, 20]),
      n_targets: 1,
      base_values: floats([0.5]),
    });
    // [1, -4]: 3 + 10; [2, 1]: 2 + 20; [0, 0.25]: 1 + 20; [-1, 3]: 1 + 20.
    assertClose(await resultOf(bytes, rows), [[13.5], [22.5], [21.5], [21.5]]);
  });

  for (const aggregate_function of ["SUM", "AVERAGE", "MIN", "MAX"]) {
    test(`a regressor of several targets by ${aggregate_function}`, () =>
      assertAsOnnxRuntime(
        modelOf("TreeEnsembleRegressor", {
          ...nodes,
          ...leaves("target", [0, 1, 0, 1, 0], [1, 2, -3, 4, 5]),
          n_targets: 2,
          aggregate_function,
        }),
        rows,
      ));
  }

  for (const post_transform of ["NONE", "LOGISTIC", "SOFTMAX"]) {
    test(`classifiers with ${post_transform}`, async () => {
      const check = (ids, weights, labels, more = {}) =>
        assertAsOnnxRuntime(
          modelOf(
            "TreeEnsembleClassifier",
            {
              ...nodes,
              ...leaves("class", ids, weights),
              classlabels_int64s: labels,
              post_transform,
              ...more,
            },
            { outputs: 2 },
          ),
          rows,
        );
      await check([0, 1, 2, 1, 2], [0.5, 1, 0.25, 0.3, 0.7], [7, 8, 9]);
      await check([0, 1, 2, 1, 2], [0.5, 1, 0.25, 0.3, 0.7], [7, 8, 9], {
        base_values: floats([0.1, 2, 0.3]),
      });
      await check([1, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.4], [7, 8]);
      await check([0, 0, 0, 0, 0], [-0.5, 1, 0.25, 0.3, -0.7], [7, 8]);
      await check([0, 0, 0, 0, 0], [0.1, 0.2, 0.3, 0.3, 0.4], [7, 8]);
    });
  }

  test("a classifier of two classes with weights of both takes the larger score", async () => {
    const given = { ...nodes, ...leaves("class", [0, 1, 0, 1, 1], [0.5, 0.9, 0.25, 0.3, 0.1]) };
    const labels = { classlabels_strings: strings(["no", "yes"]) };
    const bytes = modelOf("TreeEnsembleClassifier", { ...given, ...labels }, { outputs: 2 });
    const [found, scores] = await resultOf(bytes, rows);
    assert.deepEqual(found, ["yes", "yes", "no", "no"]);
    assertClose(scores, [
      [0.25, 0.3],
      [0, 1],
      [0.5, 0.1],
      [0.5, 0.1],
    ]);
  });

  test("missing values take the branch that is marked", async () => {
    const x = eg.tensor([[Number.NaN, 1]]);
    const given = {
      ...nodes,
      ...leaves("target", [0, 0, 0, 0, 0], [1, 2, 3, 10, 20]),
      n_targets: 1,
    };
    assertClose(await resultOf(modelOf("TreeEnsembleRegressor", given), x), [[22]]);
    const marked = { ...given, nodes_missing_value_tracks_true: [1, 0, 0, 0, 0, 0, 0, 0] };
    assertClose(await resultOf(modelOf("TreeEnsembleRegressor", marked), x), [[21]]);
  });

  test("TreeEnsemble of version 5, with sets of members", async () => {
    const tensor = (type, list) => ({ tensor: tensorProto("", [list.length], list, type) });
    const bytes = modelOf(
      "TreeEnsemble",
      {
        n_targets: 2,
        aggregate_function: 1,
        tree_roots: [0],
        nodes_featureids: [0, 0, 1],
        nodes_modes: tensor(2, [0, 6, 6]),
        nodes_splits: tensor(1, [3.14, 0, 0]),
        nodes_truenodeids: [1, 0, 2],
        nodes_trueleafs: [0, 1, 1],
        nodes_falsenodeids: [2, 1, 3],
        nodes_falseleafs: [0, 1, 1],
        leaf_targetids: [0, 1, 0, 1],
        leaf_weights: tensor(1, [5.23, 12.12, -12.23, 7.21]),
        membership_values: tensor(1, [1.2, 3.7, 8, 9, Number.NaN, 12, 7, Number.NaN]),
      },
      { version: 5 },
    );
    const x = eg.tensor([
      [1.2, 0],
      [1.3, 0],
      [4, 12],
      [4, 13],
    ]);
    assertClose(await resultOf(bytes, x), [
      [5.23, 0],
      [0, 12.12],
      [-12.23, 0],
      [0, 7.21],
    ]);
  });

  test("that are damaged are refused", async () => {
    const given = {
      ...nodes,
      ...leaves("target", [0, 0, 0, 0, 0], [1, 2, 3, 10, 20]),
      n_targets: 1,
    };
    const damaged = (more) =>
      resultOf(modelOf("TreeEnsembleRegressor", { ...given, ...more }), rows);
    await assert.rejects(damaged({ nodes_falsenodeids: [0, 0, 4, 0, 0, 2, 0, 0] }), /cycle/);
    await assert.rejects(damaged({ nodes_falsenodeids: [9, 0, 4, 0, 0, 2, 0, 0] }), /missing/);
    await assert.rejects(damaged({ nodes_featureids: [5, 0, 1, 0, 0, 1, 0, 0] }), /feature 5/);
    await assert.rejects(damaged({ n_targets: 2 ** 31 - 1 }), /targets/);
    await assert.rejects(damaged({ target_ids: [4, 4, 4, 4, 4] }), /target 4/);
  });
});

describe("support vector machines", () => {
  const vectors = {
    support_vectors: floats([1, 0, 0, 1, -1, -1, 2, 0.5]),
    kernel_params: floats([0.5, 0.1, 3]),
  };
  for (const kernel_type of ["LINEAR", "POLY", "RBF", "SIGMOID"]) {
    test(`regressor, ${kernel_type}`, async () => {
      const given = {
        ...vectors,
        kernel_type,
        coefficients: floats([0.5, -0.25, 1, 0.3]),
        rho: floats([0.2]),
        n_supports: 4,
      };
      await assertAsOnnxRuntime(modelOf("SVMRegressor", given), rows);
      await assertAsOnnxRuntime(modelOf("SVMRegressor", { ...given, one_class: 1 }), rows);
    });

    test(`classifier of three classes, ${kernel_type}`, async () => {
      const given = {
        ...vectors,
        kernel_type,
        vectors_per_class: [1, 2, 1],
        coefficients: floats([0.5, -0.25, 1, 0.3, 0.1, -0.7, -0.3, 0.4]),
        rho: floats([0.2, -0.1, 0.05]),
        classlabels_ints: [4, 5, 6],
      };
      await assertAsOnnxRuntime(modelOf("SVMClassifier", given, { outputs: 2 }), rows);
      const proba = { prob_a: floats([-1, -2, -0.5]), prob_b: floats([0.1, 0, 0.2]) };
      await assertAsOnnxRuntime(
        modelOf("SVMClassifier", { ...given, ...proba }, { outputs: 2 }),
        rows,
      );
    });

    test(`classifier of two classes, ${kernel_type}`, async () => {
      const given = {
        ...vectors,
        kernel_type,
        vectors_per_class: [2, 2],
        coefficients: floats([0.5, -0.25, -1, 0.3]),
        rho: floats([0.2]),
        classlabels_ints: [4, 5],
      };
      await assertAsOnnxRuntime(modelOf("SVMClassifier", given, { outputs: 2 }), rows);
      const proba = { prob_a: floats([-1]), prob_b: floats([0.1]) };
      await assertAsOnnxRuntime(
        modelOf("SVMClassifier", { ...given, ...proba }, { outputs: 2 }),
        rows,
      );
    });
  }

  test("without vectors, a linear classifier", async () => {
    const given = { coefficients: floats([0.5, -0.25, 1, 0.3]), rho: floats([0.2]) };
    const bytes = modelOf("SVMClassifier", { ...given, classlabels_ints: [4, 5] }, { outputs: 2 });
    const [labels, scores] = await resultOf(bytes, eg.tensor([[1, -4]]));
    assert.deepEqual(labels, [4]);
    assertClose(scores, [[1.7, 0]]);
  });
});

test("ZipMap gives a map of scores by labels for each row", async () => {
  const bytes = model({
    domains: { "ai.onnx.ml": 1 },
    inputs: [valueInfo("x", null)],
    outputs: [valueInfo("y", null)],
    nodes: [
      node(
        "ZipMap",
        ["x"],
        ["y"],
        { classlabels_strings: strings(["a", "b"]) },
        { domain: "ai.onnx.ml" },
      ),
    ],
  });
  const result = (await onnx.load(bytes)).call(
    eg.tensor([
      [0.25, 0.75],
      [1, 0],
    ]),
  );
  assert.deepEqual(result, [
    new Map([
      ["a", 0.25],
      ["b", 0.75],
    ]),
    new Map([
      ["a", 1],
      ["b", 0],
    ]),
  ]);
});
