// npm run docs: writes docs/ops.md, what every op can do, from a run of all of them, and docs/kernels.md, what the
// WebGPU device has.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
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
    const { kOpPage, opPage } = await import("../tests/js/support/op_page.mjs");
    const { reportOps } = await import("../tests/js/support/op_report.mjs");
    mkdirSync(dirname(kOpPage), { recursive: true });
    writeFileSync(kOpPage, opPage(reportOps()));
  });
  await step("write docs/kernels.md", async () => {
    const { kernelPage, kKernelPage } = await import("../tests/webgpu/support/kernel_page.mjs");
    writeFileSync(kKernelPage, kernelPage());
  });
});
