// A Node with relaxed SIMD (22 or newer) for tests on a machine that has Node 20: the npm package of Node's
// binary, in the user's cache. Not a devDependency, because npm scripts would then all run under it.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, quiet, step } from "./process.mjs";

const kVersion = "24.9.0";

/** Returns the path of a Node binary with relaxed SIMD. */
export async function newerNode() {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const prefix = join(cacheFolder(), `node-${kVersion}`);
  const binary = join(prefix, "node_modules", name, "bin", "node");
  if (!existsSync(binary)) {
    mkdirSync(prefix, { recursive: true });
    const args = [
      "install",
      "--prefix",
      prefix,
      "--ignore-scripts",
      "--no-save",
      `${name}@${kVersion}`,
    ];
    await step(`npm install ${name}@${kVersion} for tests`, () => quiet("npm", args));
  }
  return binary;
}
