// The pages of the site, each of which trains for a short time in three browsers.

import assert from "node:assert/strict";
import { kIsolation } from "../../../scripts/isolation.mjs";
import { kRoot, quiet } from "../../../scripts/process.mjs";
import { serveFolder } from "../../../scripts/serve_folder.mjs";
import { kDemos, trainDemo } from "../../site/support/demos.mjs";
import { complaintsOf, hasSite, kSite } from "../../site/support/pages.mjs";
import { kBrowsers } from "./browsers.mjs";

export const kDemoRows = Object.entries(kBrowsers).flatMap(([name, group]) =>
  Object.keys(kDemos).map((demo) => ({
    id: `${name}-demo-${demo}`,
    group,
    title: "the pages of `npm run site`",
    version: ({ browsers }) => browsers.versionOf(name),
    async run({ browsers }) {
      if (!hasSite()) await quiet(process.execPath, ["scripts/site.mjs"], { cwd: kRoot });
      const browser = await browsers.start(name);
      const server = await serveFolder(kSite, { headers: kIsolation });
      const page = await browser.newPage();
      const complaints = complaintsOf(page);
      try {
        await trainDemo(page, server.url, demo);
        assert.deepEqual(complaints, []);
      } finally {
        await page.close();
        server.stop();
      }
    },
  })),
);
