// Bundles of the package: they do not contain what a program does not import, and messages
// are the same as without bundling.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  BundleFolder,
  gzipped,
  kBundlers,
  kPrograms,
  kWithEntries,
} from "../../../scripts/building/bundles.mjs";
import { runNode } from "../support/child.mjs";
import { eg } from "../support/engine.mjs";

const folder = new BundleFolder();
after(() => folder.remove());

const kOtherParts = {
  distributions: ["Dirichlet", "KL(p"],
  composites: ["blockDiag", "cartesianProd"],
  transforms: ["jacrev", "linearize"],
  data: ["DataLoader", "WeightedRandomSampler"],
  testing: ["assertClose", "devtoolsFormatters"],
};
const kOtherLayers = ["TransformerEncoder", "LSTM", "ConvTranspose", "LBFGS", "OneCycleLR"];

async function bundlesOf(tool) {
  const texts = {};
  for (const [name, program] of Object.entries(kPrograms)) {
    const file = await folder.bundle(tool, { "main.js": program });
    texts[name] = readFileSync(file, "utf8");
  }
  return texts;
}

for (const tool of Object.keys(kBundlers)) {
  describe(`in bundles of ${tool}`, () => {
    let texts;
    const wordsIn = (name, words) => words.filter((word) => texts[name].includes(word));

    test("a program has what it imports, and the smaller one is smaller", async (t) => {
      texts = await bundlesOf(tool);
      const sizes = Object.values(texts).map(gzipped);
      for (const [i, name] of Object.keys(texts).entries()) {
        t.diagnostic(`${tool}: ${name}: ${(sizes[i] / 1000).toFixed(1)} kB`);
      }
      assert.deepEqual(
        sizes.toSorted((a, b) => a - b),
        sizes,
      );
      assert.ok(sizes[0] < 5000, "runtime() alone brings the tensors along");
      assert.ok(sizes[1] < 45_000, "tensors bring more than themselves along");
    });

    for (const [part, words] of Object.entries(kOtherParts)) {
      test(`${part} are where they are imported`, () => {
        const [all, ...others] = Object.keys(texts).reverse();
        assert.deepEqual(wordsIn(all, words), words);
        for (const name of others) assert.deepEqual(wordsIn(name, words), [], name);
      });
    }

    test("functions of ops are where they are imported, though all are methods", () => {
      const definition = /["'`]xlog1py["'`]/;
      const [all, ...others] = Object.values(texts).reverse();
      assert.match(all, definition);
      for (const text of others) assert.doesNotMatch(text, definition);
    });

    test("layers and optimizers are where they are named", () => {
      const [all, mlp, ...others] = Object.keys(texts).reverse();
      assert.deepEqual(wordsIn(all, kOtherLayers), kOtherLayers);
      // esbuild includes an exported namespace as a whole.
      assert.deepEqual(wordsIn(mlp, kOtherLayers), tool === "esbuild" ? kOtherLayers : []);
      for (const name of others) assert.deepEqual(wordsIn(name, kOtherLayers), [], name);
    });

    test("with the entries edgegrad/nn and edgegrad/optim, only what is named is there", async () => {
      const file = await folder.bundle(tool, { "main.js": kWithEntries });
      const text = readFileSync(file, "utf8");
      assert.deepEqual(
        kOtherLayers.filter((word) => text.includes(word)),
        [],
      );
      assert.ok(text.includes("Linear"));
    });
  });
}

/** Messages and strings that contain names of classes. */
const kReport = `(eg) => {
  const { distributions, nn, optim } = eg;
  const messageOf = (call) => {
    try { return String(call()); } catch (error) { return error.name + " " + error.message; }
  };
  const model = new nn.Sequential(new nn.Linear(1, 2), new nn.ReLU(), new nn.LSTM(2, 1));
  return [
    () => model,
    () => new optim.Adam(model.parameters(), { lr: -1 }),
    () => new distributions.Independent(new distributions.Normal(eg.zeros([2]), 1), 1),
    () => new nn.Linear(2, -1),
    () => new optim.SGD([], { lr: 1 }),
    () => new optim.lrScheduler.StepLR(null, 1),
    () => new distributions.Beta(-1, 1),
    () => new eg.data.DataLoader(1),
    () => new nn.Module().call(1),
    () => nn.utils.parametrizations.weightNorm(model, { name: "quux" }),
    () => eg.ones([2]).add(eg.ones([3])),
    () => eg.quantile(eg.ones([2]), 2),
  ].map(messageOf);
}`;

const kFrames = {
  "main.js": `
    import * as nn from "edgegrad/nn";
    import { init, matmul, noGrad, ones, scope } from "edgegrad";
    import { Net } from "./net.js";
    import { userScope } from "./user_scope.js";
    await init({ threads: 1 });
    function userMatmul() { matmul(ones([2]), ones([3])); }
    function userLinear() { new nn.Linear(2, -1); }
    function userNet() { new Net().call(ones([2, 3])); }
    function stackOf(call) {
      try { call(); } catch (error) { return error.stack.split("\\n").slice(1); }
    }
    console.log(JSON.stringify([userMatmul, userLinear, userNet, userScope].map(stackOf)));`,
  "net.js": `
    import { nn } from "edgegrad";
    export class Net extends nn.Module {
      fc = new nn.Linear(5, 1);
      forward(x) { return this.fc.call(x); }
    }`,
  "user_scope.js": `
    import { noGrad, ones, scope } from "edgegrad";
    export function userScope() {
      scope(() => noGrad(function userInner() { ones([2]).add(ones([3])); }));
    }`,
};

async function outputOf(file) {
  const { status, stdout, stderr } = await runNode([file]);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

for (const tool of Object.keys(kBundlers)) {
  describe(`a bundle of ${tool}`, () => {
    let printed;

    before(async () => {
      const program = `
        import * as eg from "edgegrad";
        import { Linear } from "edgegrad/nn";
        import * as optim from "edgegrad/optim";
        import { Normal } from "edgegrad/distributions";
        await eg.init({ threads: 1 });
        const model = new Linear(2, 1);
        new optim.SGD(model.parameters(), { lr: 0.1 });
        const members = [
          Linear === eg.nn.Linear,
          optim.SGD === eg.optim.SGD,
          Normal === eg.distributions.Normal,
        ];
        console.log(JSON.stringify({ members, report: (${kReport})(eg) }));`;
      printed = await outputOf(await folder.bundle(tool, { "main.js": program }));
    });

    test("says the same with all names made short", () => {
      assert.deepEqual(printed.report, new Function(`return ${kReport}`)()(eg));
    });

    test("has the members of the package itself in the entries of namespaces", () => {
      assert.deepEqual(printed.members, [true, true, true]);
    });

    test("has stacks that begin with the user's functions", async () => {
      const file = await folder.bundle(tool, kFrames, { minify: false });
      const [matmul, linear, net, inner] = await outputOf(file);
      assert.match(matmul[0], /at userMatmul /);
      assert.match(inner[0], /at userInner /);
      // In webpack's bundles the package cannot recognize its own frames.
      if (tool === "webpack") return;
      assert.match(linear[0], /at userLinear /);
      assert.match(net[0], /at Net\.forward /);
      for (const stack of [matmul, linear, net, inner]) {
        const names = stack.map((frame) => /at (\S+) \(/.exec(frame)?.[1]).filter(Boolean);
        const own = names.filter(
          (name) => !/^(user\w+|stackOf|Net\.forward|Array\.map)$/.test(name),
        );
        assert.deepEqual(own, []);
      }
    });
  });
}

describe("a bundled module of spawn()", () => {
  for (const call of ["await init();", "expose({ squared });"]) {
    test(`finds its engine by ${call}`, async () => {
      const module = `
        import { expose, init } from "edgegrad";
        ${call}
        export function squared(x) { return x.square(); }`;
      const file = await folder.bundle("esbuild", { "squared.js": module });
      const x = eg.tensor([2, 3]);
      const result = await eg.spawn(pathToFileURL(file), "squared", x);
      assert.deepEqual(result.arraySync(), [4, 9]);
    });
  }
});

const kClasses = classesIn({ ...eg });

/** Returns the classes in an object of the package, as pairs of a path and a class. */
function classesIn(value, path = "") {
  return Object.entries(value).flatMap(([name, inner]) => {
    if (typeof inner === "object" && inner !== null) return classesIn(inner, `${path}${name}.`);
    const isClass = typeof inner === "function" && /^class\b/.test(String(inner));
    return isClass ? [[`${path}${name}`, inner]] : [];
  });
}

test("classes of the package have their names, though it is minified", () => {
  assert.ok(kClasses.length > 200);
  for (const [path, { name }] of kClasses) assert.equal(path.split(".").pop(), name, path);
});

test("a class that is called without new is named in the engine's own error", () => {
  for (const [path, call] of kClasses) {
    const message = `Class constructor ${path.split(".").pop()} cannot be invoked without 'new'`;
    assert.throws(() => call(), { message });
  }
});
