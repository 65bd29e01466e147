// Engines that have ended give their address space back.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noBrowser } from "./support/chromium.mjs";
import { visit } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { useProject } from "./support/suite.mjs";

/** Chromium has enough address space for 124 engines at the same time. */
const kCycles = 140;

describe("a page", { skip: noBrowser }, () => {
  const suite = useProject();

  test("starts and ends engines more often than there is address space for", async () => {
    const server = await suite.serve(suite.project.folder, kIsolation);
    const run = JSON.stringify({ cycles: kCycles, options: { threads: 1 } });
    // The browser collects garbage when it wants to: what is held must not depend on that.
    const onReport = (_, page) => page.requestGC();
    const url = `${server.url}life.html?${new URLSearchParams({ run })}`;
    const { result } = await visit(suite.browser, url, { onReport });
    assert.deepEqual(result, { cycles: kCycles });
  });
});
