// npm run bench -- --compare: the conclusions it draws from pairs, the builds it measures, and how it builds commits.

import assert from "node:assert/strict";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { nodeVariant } from "../../../scripts/build.mjs";
import { isComparable, measurePairs } from "../../bench/compare/pairs.mjs";
import { compareBuilds, comparisonLines, kUsual } from "../../bench/compare/run.mjs";
import {
  confirmedVerdict,
  kFewestPairs,
  limitsOf,
  ratiosOf,
  verdictOf,
} from "../../bench/compare/verdict.mjs";
import { versionOf } from "../../bench/compare/versions.mjs";
import { kWorkloads } from "../../bench/workloads/index.mjs";
import { kRoot } from "../support/files.mjs";
import { makeRepository } from "../support/repository.mjs";

const kTolerance = 0.02;
const temporary = mkdtempSync(join(tmpdir(), "edgegrad-compare-"));
after(() => rmSync(temporary, { recursive: true }));

describe("the verdict on pairs", () => {
  const outcomeOf = (...ratios) => verdictOf(ratios, kTolerance).outcome;

  test("is about time: a lower rate is slower, as a longer time is", () => {
    const pairs = [[100, 80]];
    assert.deepEqual(ratiosOf(pairs, "higher"), [1.25]);
    assert.deepEqual(ratiosOf(pairs, "lower"), [0.8]);
  });

  test("leaves out as many values as 95 % allow", () => {
    assert.deepEqual(limitsOf([3, 1, 2]), [1, 3]);
    assert.deepEqual(limitsOf([6, 5, 4, 3, 2, 1]), [1, 6]);
    // The confidence is 1 - 2 (1 + 10) / 2^10 = 0.979; after cutting off another value at each end it is 0.89.
    assert.deepEqual(limitsOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), [2, 9]);
    const twenty = Array.from({ length: 20 }, (_, i) => i + 1);
    assert.deepEqual(limitsOf(twenty), [6, 15]);
    assert.ok(1 - 2 * 0.5 ** kFewestPairs >= 0.95 && 1 - 2 * 0.5 ** (kFewestPairs - 1) < 0.95);
  });

  test("is slower or faster only beyond the tolerance and beyond the noise", () => {
    assert.equal(outcomeOf(1.05, 1.04, 1.06, 1.05, 1.03, 1.05), "slower");
    assert.equal(outcomeOf(0.95, 0.96, 0.94, 0.95, 0.97, 0.95), "faster");
    assert.equal(outcomeOf(1.01, 1.012, 1.011, 1.013, 1.01, 1.01), "same");
    assert.equal(outcomeOf(1.05, 0.9, 1.2, 1.06, 1.04, 1.05), "unclear");
  });

  test("needs the pairs of the second time to say the same", () => {
    const first = [1.05, 1.04, 1.06, 1.05, 1.03, 1.05];
    assert.equal(confirmedVerdict(first, first, kTolerance).outcome, "slower");
    const again = [1.01, 1.0, 1.015, 1.01, 1.02, 1.005];
    assert.notEqual(confirmedVerdict(first, again, kTolerance).outcome, "slower");
  });

  test("is printed in capitals where there is one", () => {
    const row = { id: "gemm: NN 512", pairs: [[50, 40]], ...verdictOf([1.25], kTolerance) };
    const [header, line] = comparisonLines([row]);
    assert.match(header, /time B \/ A/);
    assert.match(line, /^gemm: NN 512 +50\.0 +40\.0 +1\.250 +1\.250 to 1\.250 +1 +SLOWER$/);
  });
});

describe("two builds", () => {
  const slow = join(temporary, "slow");
  const node = { path: process.execPath, major: 20, variant: nodeVariant() };
  const options = { node, rounds: 1, tolerance: kTolerance, onProgress: () => {} };

  // A build that multiplies ten times more than it is asked to.
  before(() => {
    mkdirSync(slow);
    symlinkSync(join(kRoot, "dist", "wasm"), join(slow, "wasm"), "junction");
    copyFileSync(join(kRoot, "dist", "index.js"), join(slow, "real.js"));
    const program = `
      export * from "./real.js";
      import { init as start, Tensor } from "./real.js";
      export async function init(...given) {
        await start(...given);
        const { mul } = Tensor.prototype;
        Tensor.prototype.mul = function (...others) {
          for (let i = 0; i < 10; i++) mul.apply(this, others).dispose();
          return mul.apply(this, others);
        };
      }`;
    writeFileSync(join(slow, "index.js"), program);
  });

  test("are each measured by the same programs, and the slower one is found", async () => {
    const wanted = (id) => id === "chain: recorded op from JS, 500";
    const dists = [join(kRoot, "dist"), slow];
    const rows = await compareBuilds(dists, [kWorkloads.chain], { ...options, wanted });
    assert.equal(rows.length, 1);
    const [{ pairs, outcome, ratio }] = rows;
    assert.equal(pairs.length, 2);
    for (const [fast, slower] of pairs) assert.ok(slower > fast, `${fast} ${slower}`);
    assert.ok(ratio > 2);
    assert.equal(outcome, "slower");
  });

  test("must both be there", async () => {
    const missing = [join(kRoot, "dist"), join(temporary, "missing")];
    const work = measurePairs(missing, [kWorkloads.chain], { ...options, wanted: () => true });
    await assert.rejects(work, /^Error: chain with .*missing: .*/);
  });

  test("are compared in workloads that can be", () => {
    for (const name of kUsual) assert.ok(isComparable(kWorkloads[name]), name);
    assert.ok(!isComparable(kWorkloads.startup));
  });
});

describe("a version to compare", () => {
  const { folder: repository, git, write } = makeRepository();
  // A script that writes the same files as a real build, without a compiler.
  const build = (text) => `
    import { mkdirSync, writeFileSync } from "node:fs";
    const [variant, web] = process.argv.slice(2);
    if (web !== "web") throw new Error("what is web?");
    mkdirSync("dist/wasm", { recursive: true });
    writeFileSync("dist/wasm/edgegrad-" + variant + ".wasm", "");
    writeFileSync("dist/index.js", ${JSON.stringify(text)});`;
  const commits = [];

  before(() => {
    write(".gitignore", "/build/\n/dist/\n");
    for (const text of ["first", "second"]) {
      write("scripts/build.mjs", build(text));
      git("add", "--all");
      git("commit", "--quiet", `--message=${text}`);
      commits.push(git("rev-parse", "HEAD"));
    }
  });

  test("is a commit, built once in a worktree that is removed afterwards", async () => {
    const texts = [];
    for (const what of ["HEAD~1", commits[1].slice(0, 10)]) {
      const { name, dist } = await versionOf(what, "simd", repository);
      assert.ok(name.startsWith(`${what} (`));
      assert.ok(existsSync(join(dist, "wasm", "edgegrad-simd.wasm")));
      texts.push(readFileSync(join(dist, "index.js"), "utf8"));
    }
    assert.deepEqual(texts, ["first", "second"]);
    assert.equal(git("worktree", "list").split("\n").length, 1);
    assert.equal(git("status", "--porcelain"), "");
    const { dist } = await versionOf("HEAD", "simd", repository);
    writeFileSync(join(dist, "index.js"), "as it was built before");
    const again = await versionOf("HEAD", "simd", repository);
    assert.equal(readFileSync(join(again.dist, "index.js"), "utf8"), "as it was built before");
  });

  test("leaves no worktree behind when it cannot be built", async () => {
    write("scripts/build.mjs", "throw new Error('no compiler');\n");
    git("commit", "--quiet", "--all", "--message=Broken");
    await assert.rejects(versionOf("HEAD", "simd", repository), /build\.mjs simd web failed/);
    assert.equal(git("worktree", "list").split("\n").length, 1);
  });

  test("is a folder with a build, or a checkout that has one", async () => {
    const checkout = join(temporary, "checkout");
    cpSync(join(repository, "scripts"), join(checkout, "dist"), { recursive: true });
    writeFileSync(join(checkout, "dist", "index.js"), "");
    for (const what of [checkout, join(checkout, "dist")]) {
      assert.equal((await versionOf(what, "simd", repository)).dist, join(checkout, "dist"));
    }
  });

  test("is nothing else", () =>
    assert.rejects(versionOf("nowhere", "simd", repository), /neither a folder .* nor a commit/));
});
