// The engine in parts, as a page loads it (scripts/split): here from files. Programs start, and the parts that they read are recorded.

// Before edgegrad.
import "../../../scripts/split/programs.mjs";

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import * as eg from "edgegrad";
import { kNeeds, kPartNames } from "../../../scripts/split/parts.mjs";
import { runPrograms } from "../../../scripts/split/programs.mjs";
import { kRoot } from "./files.mjs";

/** How many random starts of each program are tried; more in a section of `npm run test:all`. */
const kStarts = Number(process.env.EG_STARTS ?? 2);

export const kFolder = join(kRoot, "dist", "wasm");

/** Returns the part of the engine that a file contains. */
export const partIn = (file) => /\.(\w+)\.wasm$/.exec(String(file))?.[1];

/** The parts that were read in the middle of an op, with the calls that asked for each. */
export const readNow = new Map();
const { promises } = fs;
export const { readFileSync: read } = fs;
const { readFile } = promises;

/** No part arrives unless an op asks for it, until the test ends. */
export function withoutPrefetch() {
  promises.readFile = (file, ...rest) =>
    kPartNames.includes(partIn(file)) ? new Promise(() => {}) : readFile(file, ...rest);
  fs.readFileSync = (file, ...rest) => {
    if (kPartNames.includes(partIn(file))) readNow.set(partIn(file), new Error("read").stack);
    return read(file, ...rest);
  };
}

afterEach(async () => {
  fs.readFileSync = read;
  promises.readFile = readFile;
  readNow.clear();
  await eg.shutdown();
});

export const start = (variant, options, folder = kFolder) =>
  eg.init({ variant, wasmUrl: join(folder, `edgegrad-${variant}.core.wasm`), ...options });

/** Tests which parts programs need. */
export function testNeeds(variant, options) {
  describe(`the parts of "${variant}"`, () => {
    for (const [program, needed] of kNeeds.flatMap(({ programs, parts }) =>
      programs.map((program) => [program, parts]),
    )) {
      test(`"${program}" trains with ${["the core", ...needed].join(", ")}`, async () => {
        withoutPrefetch();
        for (let seed = 1000; seed < 1000 + kStarts; ++seed) {
          await start(variant, options);
          await runPrograms(eg, seed, [program]);
          await eg.shutdown();
        }
        const others = [...readNow].filter(([part]) => !needed.includes(part));
        assert.deepEqual(others, []);
      });
    }
  });
}
