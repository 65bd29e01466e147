// The entries of namespaces: `edgegrad/nn` is what `edgegrad` exports as nn. esbuild cannot tree-shake an object of functions, such as `nn`
// imported from `edgegrad`, but it can tree-shake `import * as nn from "edgegrad/nn"`.
//
// package.json lists them, each with its declarations. An entry takes its members from `edgegrad`, so both are the same
// wherever the package is one file; where bundlers load it as separate modules, it is the module itself.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { kRoot } from "../process.mjs";

const kFolder = "./dist/namespaces";

/** Reserved words of JavaScript that are names of members, but cannot be names of constants. */
const kReserved = ["var"];

/** Returns { name, types } for each entry. `types` is the path of its declarations in the package. */
export function namespaceEntries() {
  const { exports } = JSON.parse(readFileSync(join(kRoot, "package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([, conditions]) => conditions.default?.startsWith(`${kFolder}/`))
    .map(([path, { types }]) => ({ name: path.slice("./".length), types }));
}

/** Writes the entries' files; the package as one file, `index`, and its modules must be there. */
export async function writeNamespaces(index) {
  const folder = join(kRoot, kFolder);
  mkdirSync(folder, { recursive: true });
  // The query avoids the module of an earlier build in the same process.
  const eg = await import(`${pathToFileURL(index)}?${Date.now()}`);
  const toModule = (path) => relative(folder, join(kRoot, path)).replaceAll(sep, "/");
  for (const { name, types } of namespaceEntries()) {
    const members = Object.keys(eg[name]);
    const plain = members.filter((member) => !kReserved.includes(member));
    const reserved = members.filter((member) => kReserved.includes(member));
    const code = [
      `import { ${name} as namespace } from "edgegrad";`,
      `export const { ${plain.join(", ")} } = namespace;`,
      ...reserved.map(
        (word) => `const ${word}_ = namespace.${word};\nexport { ${word}_ as ${word} };`,
      ),
      "",
    ].join("\n");
    writeFileSync(join(folder, `${name}.js`), code);
    // The first module marks where the package's code begins, as in web/src/index.ts.
    const first = `import { EdgeGradError } from "${toModule("dist/runtime/errors/errors.js")}";\n`;
    const all = `export * from "${toModule(types.replace(/\.d\.ts$/, ".js"))}";\n`;
    writeFileSync(join(folder, `${name}.modules.js`), first + all);
  }
}
