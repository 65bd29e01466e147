// The parts of the engine in a page: init() does not wait for those that its modules do not ask for, and an op that needs one sooner
// loads it itself.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { noBrowser } from "./support/chromium.mjs";
import { resultOf } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { serveFiles } from "./support/servers.mjs";
import { useProject } from "./support/suite.mjs";

const isLater = ({ url }) => /\.(layers|conv|attention|extras|rest)\.wasm/.test(url);
const kLater = 5;
const kRight = { gradient: 1 / 3, singular: [4, 3], erfinv: 0, again: 1 };

describe("the parts of the engine", { skip: noBrowser }, () => {
  const suite = useProject();

  const serve = async (headers, serving) => {
    const server = await serveFiles(suite.project.folder, headers, serving);
    suite.servers.push(server);
    return server;
  };
  const report = (url, options = {}, more = {}) => {
    const query = new URLSearchParams({
      options: JSON.stringify({ threads: 3, ...options }),
      ...more,
    });
    return resultOf(suite.browser, `${url}parts.html?${query}`);
  };
  const assertRight = ({ gradient, ...result }) => {
    assert.equal(result.error, undefined, JSON.stringify(result));
    assert.ok(Math.abs(gradient - kRight.gradient) < 1e-6);
    for (const name of ["singular", "erfinv", "again"])
      assert.deepEqual(result[name], kRight[name]);
    assert.deepEqual(result.errors, []);
  };

  // Sends no part before the page has trained and an op has asked for one again: if training waited for a part, or no op for its
  // own, the page would have no result.
  function latePartsFor(headers) {
    const asked = new Set();
    const [all, again] = [latch(), latch()];
    const hold = ({ url }) => {
      if (!isLater({ url })) return undefined;
      if (asked.has(url)) again.open();
      asked.add(url);
      if (asked.size === kLater) all.open();
      return again.opened;
    };
    // The page asks for this when it has trained, and goes on when it has asked for all parts. From then on, only ops ask for them.
    const answer = ({ url }) => (url === "/trained" ? { content: all.opened } : undefined);
    // The browser would not send a second request for a file that it may keep before the first one has an answer.
    return serve({ ...headers, "Cache-Control": "no-store" }, { hold, answer });
  }

  for (const [kind, headers] of [
    ["with threads", kIsolation],
    ["without threads", {}],
  ]) {
    for (const where of ["page", "worker"]) {
      test(`that are late are waited for by the op that needs them, ${kind}, in a ${where}`, async () => {
        const { url } = await latePartsFor(headers);
        assertRight(await report(url, {}, { where }));
      });
    }

    test(`that are missing are an error with their address, ${kind}`, async () => {
      const { url } = await serve(headers, { isRefused: isLater });
      const { errors, again, singular } = await report(url);
      assert.equal(errors.length, 2);
      for (const error of errors) {
        assert.match(
          error,
          /^Internal: \[init\] the file http:.*\.(\w+)\.wasm of the engine answered 404\. Serve/,
        );
      }
      assert.equal(singular, null);
      assert.equal(again, 1);
    });
  }

  test("are all there after init({ preload: 'all' })", async () => {
    const { url, requests } = await serve(kIsolation);
    const result = await report(url, { preload: "all" });
    assertRight(result);
    assert.equal(requests.filter((path) => path.endsWith(".wasm")).length, 6);
  });

  test("may come from another origin, under a content security policy", async () => {
    const cors = {
      "Access-Control-Allow-Origin": "*",
      "Cross-Origin-Resource-Policy": "cross-origin",
    };
    const files = await serve(cors);
    const { origin } = new URL(files.url);
    const policy =
      `default-src 'self'; script-src 'self' 'wasm-unsafe-eval' ${origin}; connect-src 'self' ${origin}; ` +
      `worker-src 'self' blob:`;
    const { url } = await serve({ ...kIsolation, "Content-Security-Policy": policy });
    const wasmUrl = `${origin}/node_modules/edgegrad/dist/wasm/`;
    assertRight(await report(url, { wasmUrl }));
    assert.ok(files.requests.some((path) => path.endsWith(".rest.wasm")));
  });

  test("a browser that compiles nothing large at once loads one file", async () => {
    const text = readFileSync(join(suite.project.folder, "parts.html"), "utf8");
    const refusal =
      "<script>WebAssembly.Module = class { constructor() { throw new RangeError('too large'); } };</script>";
    const answer = ({ url }) =>
      url.startsWith("/parts.html")
        ? { headers: { "Content-Type": "text/html" }, content: refusal + text }
        : undefined;
    const { url, requests } = await serve({}, { answer });
    assertRight(await report(url, { threads: undefined }));
    const wasm = requests.filter((path) => path.endsWith(".wasm"));
    assert.deepEqual(
      wasm.map((path) => path.split("/").at(-1)),
      ["edgegrad-single.wasm"],
    );
  });
});

function latch() {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
