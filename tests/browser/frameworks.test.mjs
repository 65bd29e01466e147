// Components of frameworks, built from the checkout.

import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kRoot } from "../../scripts/process.mjs";
import { noBrowser, startChromium } from "./support/chromium.mjs";
import { assertComponentTrains, kFrameworks } from "./support/frameworks.mjs";

describe("a component of", { skip: noBrowser }, () => {
  let browser;
  before(async () => {
    browser = await startChromium();
  });
  after(() => browser?.close());

  for (const [name, { program }] of Object.entries(kFrameworks)) {
    test(`${name} trains, draws the loss, and gives everything back`, () =>
      assertComponentTrains(browser, {
        folder: join(kRoot, "examples", "frameworks"),
        program,
        wasm: join(kRoot, "dist", "wasm"),
      }));
  }
});
