// Short names for the core's exports to the other parts.

import { readFileSync, writeFileSync } from "node:fs";
import { exportSection, importSection, kSection, ModuleReader } from "../building/wasm_module.mjs";
import { checkPatterns } from "../patterns.mjs";

/** Names that Binaryen has generated. All others are used by JavaScript. */
const kMade = [/^\$/, /^fimport\$/, /^global/];

/**
 * Renames the exports of the core that only other parts import to two letters, in the order of their indices, which compresses to a third.
 * The arguments are paths of files, which are changed.
 */
export function shortenNames(core, parts) {
  const module = new ModuleReader(readFileSync(core));
  const exports = module.exports();
  const isMade = ({ name }) => kMade.some((pattern) => pattern.test(name));
  checkPatterns(
    kMade,
    exports.map(({ name }) => name),
    core,
  );
  const made = exports.filter(isMade).sort((a, b) => a.kind - b.kind || a.index - b.index);
  const names = new Map(made.map(({ name }, i) => [name, i.toString(36).padStart(2, "0")]));
  const renamed = (name) => names.get(name) ?? name;
  const ordered = [...exports.filter(({ name }) => !names.has(name)), ...made];
  const changed = exportSection(ordered.map((entry) => ({ ...entry, name: renamed(entry.name) })));
  writeFileSync(core, module.with({ [kSection.export]: changed }));
  for (const part of parts) {
    const reader = new ModuleReader(readFileSync(part));
    const imports = importSection(reader, (entry) => ({ ...entry, name: renamed(entry.name) }));
    writeFileSync(part, reader.with({ [kSection.import]: imports }));
  }
}
