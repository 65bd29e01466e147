// npm run docs: writes the lists of docs/generated (scripts/docs/lists.mjs), and in the guide the tables of the ops that edgegrad/onnx reads and
// writes.

import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildForNode } from "./build.mjs";
import { writeLists } from "./docs/lists.mjs";
import { withMarkedPart } from "./docs/marked_text.mjs";
import { main, step } from "./process.mjs";

function writePart({ path, part }, text) {
  writeFileSync(path, withMarkedPart(readFileSync(path, "utf8"), part, text));
}

await main(async () => {
  parseArgs({ options: {} });
  await buildForNode();
  await writeLists();
  await step("write the tables of docs/guide/onnx.md and onnx_export.md", async () => {
    // Imported here because it loads the package, which may not have been built before.
    const pages = await import("../tests/js/support/onnx_pages.mjs");
    const saved = await pages.savedNames();
    writePart(pages.kLoadPage, await pages.loadTable());
    writePart(
      pages.kSavePage,
      pages.saveTable((name) => saved.has(name)),
    );
  });
});
