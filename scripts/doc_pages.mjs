// npm run docs: writes docs/ops.md, what every op can do, from a run of all of them, and docs/kernels.md, what the
// WebGPU device has.

import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildWasm, buildWeb, nodeVariant } from "./build.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { main, step } from "./process.mjs";

await main(async () => {
  parseArgs({ options: {} });
  await ensureNodeModules();
  await buildWasm(nodeVariant());
  await buildWeb();
  await step("write docs/ops.md", async () => {
    // These start the package, which may not have been built before.
    const { deviceParts, kOpPage, opPage } = await import("../tests/js/support/op_page.mjs");
    // First: it starts the engine with its device.
    const device = await import("../tests/webgpu/support/op_page_parts.mjs");
    const { reportOps } = await import("../tests/js/support/op_report.mjs");
    if (device.missing) console.log(`  without a device its column stays: ${device.missing}`);
    const parts = device.missing ? deviceParts(readFileSync(kOpPage, "utf8")) : device.makeParts();
    writeFileSync(kOpPage, opPage(reportOps(), parts));
  });
  await step("write docs/kernels.md", async () => {
    const { kernelPage, kKernelPage } = await import("../tests/webgpu/support/kernel_page.mjs");
    writeFileSync(kKernelPage, kernelPage());
  });
});
