// What a suite of tests of pages needs.

import { after, before } from "node:test";
import { startChromium } from "./chromium.mjs";
import { resultOf } from "./pages.mjs";
import { makeProject } from "./project.mjs";
import { serveFiles } from "./servers.mjs";

/**
 * Gives the surrounding suite a project and a browser, started with these arguments of startChromium(), before its tests. After them
 * both are removed, and the `servers` that the tests have added are stopped. `serve` is serveFiles() with a server that is stopped
 * then; `start` opens the page start.html of a server with options of init() and more of the address, and returns its report.
 */
export function useProject(...given) {
  const suite = {
    project: null,
    browser: null,
    servers: [],
    async serve(folder, headers, serving) {
      const server = await serveFiles(folder, headers, serving);
      suite.servers.push(server);
      return server;
    },
    start(url, options = {}, more = {}) {
      const text = JSON.stringify({ threads: 2, ...options });
      const query = new URLSearchParams({ options: text, ...more });
      return resultOf(suite.browser, `${url}start.html?${query}`);
    },
  };
  before(async () => {
    suite.project = makeProject();
    suite.browser = await startChromium(...given);
  });
  after(async () => {
    for (const server of suite.servers) server.stop();
    await suite.browser?.close();
    suite.project?.remove();
  });
  return suite;
}
