// What a page in production has to come to, and where such pages are put.

import assert from "node:assert/strict";
import { assertLosses, assertWeights } from "./losses.mjs";
import { resultOf } from "./pages.mjs";

/** A path that a page is below. */
export const kPath = "/below/a/path/";

/** What README.md says is enough for the package under a content security policy. */
export const kPolicy = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'",
};

/** Opens the page deployed.html, or the one that is given, and asserts that it trained; returns what it says. */
export async function assertPageTrains(browser, url, { page = "deployed.html", threads = 2 } = {}) {
  const result = await resultOf(browser, url + page);
  assert.equal(result.error, undefined);
  assertLosses(result.losses);
  assert.equal(`threads: ${result.runtime.threads}`, `threads: ${threads}`);
  if (result.inWorker) assertTrainedInWorker(result.inWorker);
  return result;
}

function assertTrainedInWorker({ weights, ...rest }) {
  assertWeights(weights);
  assert.deepEqual(rest, {
    where: ["undefined", "undefined"],
    error: "RangeError: in the worker",
    ended: "Internal",
  });
}
