// A user's project: the package installed as from a registry, pages, and tools that build them.

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kIsolation } from "../../../scripts/isolation.mjs";

const kRoot = fileURLToPath(new URL("../../../", import.meta.url));

export { kIsolation };

const kTools = ["vite", "webpack", "esbuild"];

// Installs the package in a project in the same way as npm.
function installPackage(folder) {
  const installed = join(folder, "node_modules", "edgegrad");
  mkdirSync(installed, { recursive: true });
  cpSync(join(kRoot, "package.json"), join(installed, "package.json"));
  cpSync(join(kRoot, "dist"), join(installed, "dist"), { recursive: true });
}

/** Creates a project folder with the checkout's package and tools; `remove` deletes it. */
export function makeProject() {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-project-"));
  installPackage(folder);
  for (const tool of kTools) {
    symlinkSync(join(kRoot, "node_modules", tool), join(folder, "node_modules", tool));
  }
  writePages(folder);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Writes the user's files of a project: pages that train, and Vite's configuration for them. */
export function writePages(folder) {
  cpSync(join(kRoot, "tests", "browser", "page"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  // Threads require response headers, which Vite can be configured to send.
  const headers = JSON.stringify(kIsolation);
  const config = `export default { server: { headers: ${headers} }, preview: { headers: ${headers} } };\n`;
  writeFileSync(join(folder, "isolated.config.mjs"), config);
  for (const name of ["deployed", "webgpu"]) {
    const input = `export default { build: { rollupOptions: { input: "${name}.html" } } };\n`;
    writeFileSync(join(folder, `${name}.config.mjs`), input);
  }
}
