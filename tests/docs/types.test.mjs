// The JavaScript of README.md and the guide compiles in strict mode, as an editor checks it or as somebody pastes it into TypeScript.
// Parameters without types are allowed: in JavaScript they have none. A block marked `mistake` shows one that TypeScript finds.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { runNode } from "../js/support/child.mjs";
import { kRoot } from "../js/support/files.mjs";
import { codeOf, kPages } from "./support/markdown.mjs";
import { makeFolder } from "./support/programs.mjs";

/** What some blocks use that is neither installed here nor among TypeScript's types of the DOM. */
const kForeign = `
declare module "vitest";
declare var __WB_MANIFEST: (string | { url: string; revision: string | null })[];
declare function showSaveFilePicker(options: object): Promise<FileSystemFileHandle>;
`;

const kOptions = {
  noEmit: true,
  allowJs: true,
  checkJs: true,
  strict: true,
  noImplicitAny: false,
  useUnknownInCatchVariables: false,
  skipLibCheck: true,
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"],
  types: ["node"],
};

const { folder, remove } = makeFolder([{ note: "foreign.d.ts", code: kForeign }]);
after(remove);

test("the code of the guide compiles in strict mode", async () => {
  const mistakes = new Set();
  for (const page of kPages) {
    mkdirSync(join(folder, page), { recursive: true });
    for (const block of codeOf(page).filter(isProgram)) {
      const path = join(page, block.note.includes(".") ? block.note : `line_${block.line}.mjs`);
      // Without this a block that imports nothing would share its names with all others.
      writeFileSync(join(folder, path), `${block.code}\nexport {};\n`);
      if (block.note === "mistake") mistakes.add(path);
    }
  }
  assert.ok(mistakes.size > 0);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: kOptions, include: ["."] }),
  );

  const compiler = join(kRoot, "node_modules", "typescript", "bin", "tsc");
  const { stdout } = await runNode([compiler, "-p", ".", "--pretty", "false"], { cwd: folder });
  const errors = stdout.split("\n").filter((line) => / error TS\d+: /.test(line));
  const isMistake = (line) => mistakes.has(line.slice(0, line.indexOf("(")));
  assert.deepEqual(
    errors.filter((line) => !isMistake(line)),
    [],
  );
  const found = new Set(errors.map((line) => line.slice(0, line.indexOf("("))));
  assert.deepEqual(found, mistakes, "these are no mistakes");
});

function isProgram({ language, note }) {
  return language === "js" && !note.includes(".config.");
}
