// New user projects: the tarball and the tools of a row installed by npm, with programs and pages that train.

import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kRoot, quiet } from "../../scripts/process.mjs";
import { writePages } from "../browser/support/project.mjs";
import { versionOf } from "./tools.mjs";

/** The project folders of one run of the checks. */
export class Projects {
  #tarball;
  #folders = new Map();

  constructor(tarball) {
    this.#tarball = tarball;
  }

  /** Returns a folder in which these tools are installed, "name" or "name@version"; the same one for the same tools. */
  with(...tools) {
    const key = tools.join(" ");
    if (!this.#folders.has(key)) this.#folders.set(key, this.#make(tools));
    return this.#folders.get(key);
  }

  async remove() {
    for (const folder of await Promise.allSettled(this.#folders.values())) {
      if (folder.value) rmSync(folder.value, { recursive: true, force: true });
    }
  }

  async #make(tools) {
    const folder = mkdtempSync(join(tmpdir(), "edgegrad-package-"));
    writePages(folder);
    cpSync(join(kRoot, "tests", "package", "programs"), folder, { recursive: true });
    const exact = tools.map((tool) =>
      tool.includes("@", 1) ? tool : `${tool}@${versionOf(tool)}`,
    );
    // Packages in npm's cache are not downloaded again. Install scripts of tools are run, as for users; Bun needs its
    // own. Under `npm run`, the setting of the checkout would apply here otherwise.
    const options = [
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--prefer-offline",
      "--ignore-scripts=false",
    ];
    await quiet("npm", ["install", ...options, this.#tarball, ...exact], { cwd: folder });
    return folder;
  }
}
