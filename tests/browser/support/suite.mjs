// What a suite of tests of pages needs.

import { after, before } from "node:test";
import { startChromium } from "./chromium.mjs";
import { makeProject } from "./project.mjs";

/**
 * Gives the surrounding suite a project and a browser, started with these arguments of startChromium(), before its tests. After them both are removed, and
 * the `servers` that the tests have added are stopped.
 */
export function useProject(...given) {
  const suite = { project: null, browser: null, servers: [] };
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
