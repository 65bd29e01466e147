// Code of the guide that needs a page, run in one; tests/docs only bundles it.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { codeOf } from "../docs/support/markdown.mjs";
import { noBrowser } from "./support/chromium.mjs";
import { resultOf } from "./support/pages.mjs";
import { useProject } from "./support/suite.mjs";

describe("a page of the guide", { skip: noBrowser }, () => {
  const suite = useProject();

  test("keeps a model and its optimizer in IndexedDB, and goes on bit for bit at the next visit", async () => {
    const { folder } = suite.project;
    const { code } = codeOf("docs/guide/saving.md").find((block) =>
      block.code.includes("indexedDB"),
    );
    writeFileSync(join(folder, "kept.js"), code.replace("'edgegrad'", '"edgegrad"'));
    const server = await suite.serve(folder);
    const visitor = await suite.browser.newContext();
    const visit = () => resultOf(visitor, `${server.url}visits.html`);
    assert.deepEqual(await visit(), { isKept: false, isSame: false });
    assert.deepEqual(await visit(), { isKept: true, isSame: true });
    await visitor.close();
  });
});
