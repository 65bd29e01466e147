// What runs of all ops have shown, kept in build/ for the list of ops. Tests run all ops anyway and keep what they found, so the list
// needs no runs of its own after them.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeVariant } from "../build.mjs";
import { kRoot } from "../process.mjs";

const fileOf = (name) => join(kRoot, "build", "op_runs", `${name}.json`);

/** Keeps what a run has found, as JSON. */
export async function keepRun(name, found) {
  const file = fileOf(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ state: await stateOfOps(), found }));
}

/** Returns what a run has found, or undefined if it is missing or the ops have changed since. */
export async function keptRun(name) {
  const file = fileOf(name);
  if (!existsSync(file)) return undefined;
  const { state, found } = JSON.parse(readFileSync(file, "utf8"));
  return state === (await stateOfOps()) ? found : undefined;
}

/** Returns a hash of all that runs of ops follow from: the package, what runs it, and whether there is a device for it. */
export async function stateOfOps() {
  const { preferSoftwareAdapter } = await import("../../tests/webgpu/support/software_adapter.mjs");
  const filesIn = (folder) =>
    readdirSync(join(kRoot, folder), { recursive: true })
      .filter((name) => name.endsWith(".mjs"))
      .sort()
      .map((name) => `${folder}/${name}`);
  const files = [
    "dist/index.js",
    `dist/wasm/edgegrad-${nodeVariant()}.wasm`,
    "dist/wasm/edgegrad-webgpu.js",
    ...filesIn("tests/js/support"),
    ...filesIn("tests/webgpu/support"),
  ];
  const hash = createHash("sha256").update(`${preferSoftwareAdapter()}`);
  for (const file of files) hash.update(readFileSync(join(kRoot, file)));
  return hash.digest("hex");
}
