// npm run docs: writes docs/ops.md (what every op supports, determined by running all of them), docs/kernels.md (what the
// WebGPU device supports), and the tables of the ops that edgegrad/onnx reads and writes.

import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildForNode } from "./build.mjs";
import { withMarkedPart } from "./marked_text.mjs";
import { main, step } from "./process.mjs";

function writePart({ path, part }, text) {
  writeFileSync(path, withMarkedPart(readFileSync(path, "utf8"), part, text));
}

await main(async () => {
  parseArgs({ options: {} });
  await buildForNode();
  await step("write docs/ops.md", async () => {
    // Imported here because these load the package, which may not have been built before.
    const { deviceParts, kOpPage, opPage } = await import("../tests/js/support/op_page.mjs");
    // Imported first, because it starts the engine with the device.
    const device = await import("../tests/webgpu/support/op_page_parts.mjs");
    const { reportOps } = await import("../tests/js/support/op_report.mjs");
    if (device.missing) console.log(`  no device, so its column is not updated: ${device.missing}`);
    const parts = device.missing ? deviceParts(readFileSync(kOpPage, "utf8")) : device.makeParts();
    writeFileSync(kOpPage, opPage(reportOps(), parts));
  });
  await step("write the tables of docs/guide/onnx.md and onnx_export.md", async () => {
    const pages = await import("../tests/js/support/onnx_pages.mjs");
    const saved = await pages.savedNames();
    writePart(pages.kLoadPage, await pages.loadTable());
    writePart(
      pages.kSavePage,
      pages.saveTable((name) => saved.has(name)),
    );
  });
  await step("write docs/kernels.md", async () => {
    const { kernelPage, kKernelPage } = await import("../tests/webgpu/support/kernel_page.mjs");
    writeFileSync(kKernelPage, kernelPage());
  });
});
