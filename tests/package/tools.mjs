// The tools with which the package is checked, in exact versions. Tools that the checkout also uses have the versions
// in package.json.

import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

const kOthers = {
  "@arethetypeswrong/cli": "0.18.5",
  "@edge-runtime/vm": "5.0.0",
  "@rollup/plugin-node-resolve": "16.0.3",
  "@types/react-dom": "19.3.0",
  "@vitejs/plugin-react": "6.3.0",
  bun: "1.4.5",
  deno: "2.9.6",
  "happy-dom": "21.0.4",
  jest: "30.5.2",
  next: "16.4.6",
  parcel: "2.16.4",
  postject: "1.0.0-alpha.6",
  publint: "0.3.25",
  rollup: "4.68.7",
  vitest: "5.1.1",
  workerd: "1.20261117.1",
  wrangler: "4.164.0",
};

/** The oldest Node.js version that package.json allows. */
export const kOldestNode = /\d+\.\d+\.\d+/.exec(manifest.engines.node)[0];

/** The oldest supported TypeScript, the last 5, the last 6, and the version of the checkout. */
export const kTypeScripts = ["5.2.2", "5.9.3", "6.0.3", versionOf("typescript")];

/** Returns the version of a tool. */
export function versionOf(name) {
  const version = kOthers[name] ?? manifest.devDependencies[name];
  if (version === undefined) throw new Error(`No version of ${name} is specified`);
  return version;
}
