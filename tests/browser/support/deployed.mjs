// The expected result of a page in production, and the location of such pages.

import assert from "node:assert/strict";
import { assertLosses, assertWeights } from "./losses.mjs";
import { resultOf } from "./pages.mjs";

/** The base path of the page. */
export const kPath = "/below/a/path/";

/** The content security policy that README.md describes as sufficient for the package. */
export const kPolicy = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'",
};

/** Opens the page deployed.html, or a given one, asserts that it trained, and returns its report. */
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
