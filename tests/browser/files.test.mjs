// A page writes and reads files in parts: in its own file system, and by Range requests from another origin.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { serveRanges } from "../js/support/ranges_server.mjs";
import { noBrowser } from "./support/chromium.mjs";
import { resultOf } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { useProject } from "./support/suite.mjs";

describe("files in a page", { skip: noBrowser }, () => {
  const suite = useProject();

  test("are written to a stream, and read from a File, a Blob and an address", async () => {
    const large = eg.io.saveSafetensors({ x: eg.zeros([1e5]), y: eg.ones([1e5]) });
    const remote = await serveRanges({ large }, { isForOtherOrigins: true });
    suite.servers.push(remote);
    const { url } = await suite.serve(suite.project.folder, kIsolation);
    const query = new URLSearchParams({ address: `${remote.url}large` });
    const result = await resultOf(suite.browser, `${url}files.html?${query}`);
    const read = { keys: ["x", "y"], sum: 1000, said: 0 };
    assert.deepEqual(result, {
      part: [2_999_998, 2_999_999],
      y: [1, 1],
      remote: read,
      hidden: read,
    });
    assert.deepEqual(
      remote.requests.map((request) => request.replace(/\d{6,}/g, "N")),
      ["bytes=0-65535", "bytes=N-N", "bytes=0-65535", "HEAD", "bytes=N-N"],
    );
  });
});
