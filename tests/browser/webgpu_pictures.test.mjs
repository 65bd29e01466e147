// Pictures of a page become tensors, and tensors are shown on canvases, without the CPU where the engine computes on the page's device.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kWebGpuCanvas, noBrowser } from "./support/chromium.mjs";
import { resultOf } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { useProject } from "./support/suite.mjs";

const kShapes = {
  gray: "1,40,70",
  alpha: "4,40,70",
  smaller: "3,20,35",
  larger: "3,100,100",
  normalized: "3,32,32",
};
const kOfPicture = "3,40,70";
// Of the weights of channels, and of what normalizes them.
const kFewBytes = 64;

describe("pictures of a page with WebGPU", { skip: noBrowser }, () => {
  const suite = useProject([...kWebGpuCanvas, "--autoplay-policy=no-user-gesture-required"]);

  for (const own of [true, false]) {
    const whose = own ? "of the page" : "of the engine's own thread";
    test(`are the same on both devices, and shown, with a device ${whose}`, async () => {
      const server = await suite.serve(suite.project.folder, kIsolation);
      const query = new URLSearchParams({ run: JSON.stringify({ own, variant: "simd" }) });
      const url = `${server.url}pictures.html?${query}`;
      const { error, compared, shown, refused, errors } = await resultOf(suite.browser, url);
      assert.equal(error, undefined);
      for (const [name, { shape, device, difference, written }] of Object.entries(compared)) {
        assert.equal(shape, kShapes[name] ?? kOfPicture, name);
        assert.equal(device, "webgpu");
        // Videos are compressed colors, which the two ways may convert differently.
        const most = name.startsWith("Video") || name === "HTMLVideoElement" ? 0.05 : 0.01;
        assert.ok(difference <= most, `${name}: ${difference}`);
        if (own && name !== "ImageData")
          assert.ok(written <= kFewBytes, `${name}: ${written} bytes`);
      }
      assert.equal(Object.keys(compared).length, 12);
      for (const [name, { size, difference, read }] of Object.entries(shown)) {
        assert.equal(size, "70 x 40");
        assert.ok(difference <= 1, `${name}: ${difference}`);
        if (own) assert.equal(read, 0, name);
      }
      assert.match(refused.failed, /^IndexOutOfRange \[indexSelect\]/);
      assert.match(refused.closed, /^InvalidArgument \[fromImage\] source: it has no picture/);
      assert.match(refused.empty, /^InvalidArgument \[fromImage\] source: it has no picture/);
      assert.match(refused.used, /^InvalidArgument \[toCanvas\] canvas: it has no 2d context/);
      assert.deepEqual(errors, []);
    });
  }
});
