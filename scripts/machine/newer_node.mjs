// Other versions of Node.js for tests, in particular one with relaxed SIMD (22 or newer) on a machine that has Node 20:
// the npm packages of Node.js binaries, in the user's cache. They are not devDependencies, because npm scripts would then
// all run under them.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, quiet, step } from "../process.mjs";

const kVersion = "24.9.0";

/** Returns the path of a Node.js binary with relaxed SIMD. */
export async function newerNode() {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath;
  return downloadedNode(kVersion);
}

/** Returns the path of a Node.js binary of this version. */
export async function downloadedNode(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const prefix = join(cacheFolder(), `node-${version}`);
  const binary = join(prefix, "node_modules", name, "bin", "node");
  if (!existsSync(binary)) {
    mkdirSync(prefix, { recursive: true });
    const args = [
      "install",
      "--prefix",
      prefix,
      "--ignore-scripts",
      "--no-save",
      `${name}@${version}`,
    ];
    await step(`npm install ${name}@${version} for tests`, () => quiet("npm", args));
  }
  return binary;
}
