// An AudioWorklet, which has neither timers, URLs, text decoders nor a way to load anything later.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noBrowser } from "./support/chromium.mjs";
import { resultOf } from "./support/pages.mjs";
import { useProject } from "./support/suite.mjs";

describe("an AudioWorklet", { skip: noBrowser }, () => {
  const suite = useProject();

  test("trains with edgegrad/single and the WebAssembly file that it is given", async () => {
    const { url } = await suite.serve(suite.project.folder, {});
    assert.deepEqual(await resultOf(suite.browser, `${url}audio.html`), {
      variant: "single",
      trained: true,
      error: "ShapeMismatch",
    });
  });
});
