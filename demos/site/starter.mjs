// What `npm create edgegrad` writes, as a module for pages that offer it as a download.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeProject } from "../../create/project.mjs";

const kModule = "virtual:starter";
const kTemplate = "vite-ts";

/** A Vite plugin for the module "virtual:starter": its default export has the texts of the project's files by name. */
export function starterProject() {
  const id = `\0${kModule}`;
  return {
    name: "starter-project",
    resolveId: (source) => (source === kModule ? id : null),
    load: (source) => (source === id ? `export default ${JSON.stringify(projectFiles())};` : null),
  };
}

function projectFiles() {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-starter-"));
  try {
    writeProject(join(folder, "edgegrad-app"), kTemplate);
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    const start = join(folder, "edgegrad-app").length + 1;
    return Object.fromEntries(
      paths.map((path) => [path.slice(start).replaceAll("\\", "/"), readFileSync(path, "utf8")]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
