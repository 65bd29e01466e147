// The engine in parts: its core trains alone, and a part that is needed sooner is loaded in the middle of an op.

// Before edgegrad.
import "../../../scripts/split/programs.mjs";

import assert from "node:assert/strict";
import fs, { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as eg from "edgegrad";
import { kPartNames } from "../../../scripts/split/parts.mjs";
import { runPrograms } from "../../../scripts/split/programs.mjs";
import { until } from "../../support/until.mjs";
import {
  kFolder,
  partIn,
  read,
  readNow,
  start,
  testNeeds,
  withoutPrefetch,
} from "../support/parts.mjs";

testNeeds("simd", { threads: 2 });

describe("a part that is needed before it is there", () => {
  const matrix = [
    [2, 1],
    [1, 3],
  ];

  test("is loaded in the middle of an op, on each thread", async () => {
    withoutPrefetch();
    await start("simd", { threads: 2 });
    const [, S] = eg.linalg.svd(eg.tensor(matrix));
    assert.deepEqual(
      S.tolist().map((value) => value.toFixed(4)),
      ["3.6180", "1.3820"],
    );
    assert.ok(readNow.has("rest"));
    const large = eg.rand([300, 300]).erfinv().sum();
    assert.ok(Number.isFinite(large.item()));
  });

  test("is prefetched otherwise", async () => {
    fs.readFileSync = (file, ...rest) => {
      assert.ok(!kPartNames.includes(partIn(file)), `${file} was read in the middle of an op`);
      return read(file, ...rest);
    };
    await start("simd", { threads: 2, preload: "all" });
    assert.equal(eg.linalg.svd(eg.tensor(matrix))[1].numel, 2);
  });

  test("and that is missing fails with its name, and leaves the engine usable", async () => {
    const folder = mkdtempSync(join(tmpdir(), "edgegrad-parts-"));
    const warnings = [];
    const { warn } = console;
    console.warn = (text) => warnings.push(text);
    try {
      copyFileSync(
        join(kFolder, "edgegrad-simd.core.wasm"),
        join(folder, "edgegrad-simd.core.wasm"),
      );
      await start("simd", { threads: 2 }, folder);
      const x = eg.tensor(matrix, { requiresGrad: true });
      const svd = () => eg.linalg.svd(x);
      for (let times = 0; times < 2; ++times)
        assert.throws(svd, { code: "Internal", message: /edgegrad-simd\.\w+\.wasm/ });
      await runPrograms(eg, 1, ["arithmetic"]);
      await until("warning", () => warnings.length > 0);
      for (const part of kPartNames)
        copyFileSync(
          join(kFolder, `edgegrad-simd.${part}.wasm`),
          join(folder, `edgegrad-simd.${part}.wasm`),
        );
      assert.equal(svd()[1].numel, 2);
      assert.match(warnings.join("\n"), /edgegrad-simd\.layers\.wasm/);
    } finally {
      console.warn = warn;
      rmSync(folder, { recursive: true });
    }
  });

  test("a worker of spawn() finds it too", async () => {
    withoutPrefetch();
    await start("simd", { threads: 2 });
    const job = new URL("../support/parts_job.mjs", import.meta.url);
    assert.equal(await eg.spawn(job, "rank", eg.tensor(matrix)), 2);
  });
});
