// npm run soak: trains on WebGPU in Chromium for many steps with random shapes, and checks that memory use and caches
// do not grow.

import { parseArgs } from "node:util";
import { ensurePackages } from "./apt.mjs";
import { buildWasm, buildWeb } from "./build.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { expected, main } from "./process.mjs";

const kOptions = {
  steps: { type: "string", default: "5000" },
  seed: { type: "string", default: "1" },
};

/** With fewer steps than this, some shapes occur for the first time. */
const kLongRun = 2000;

function readOptions() {
  const { values } = parseArgs({ options: kOptions });
  const run = { steps: Number(values.steps), seed: Number(values.seed) };
  if (!(Number.isSafeInteger(run.steps) && run.steps > 0 && Number.isSafeInteger(run.seed)))
    throw expected("--steps and --seed must be integers");
  return run;
}

/** Returns the problems that were found. */
async function soakInChromium(run) {
  const { complaintsOf, lateGrowth, soak } = await import("../tests/browser/support/soak.mjs");
  const { kWebGpu, noBrowser, startChromium } = await import(
    "../tests/browser/support/chromium.mjs"
  );
  const { kIsolation, makeProject } = await import("../tests/browser/support/project.mjs");
  const { serveFiles } = await import("../tests/browser/support/servers.mjs");
  if (noBrowser) throw expected(noBrowser);
  const project = makeProject();
  const server = await serveFiles(project.folder, kIsolation);
  const browser = await startChromium(kWebGpu);
  try {
    const result = await soak(browser, server, run, (line) => console.log(line));
    console.table(result.reports);
    return [...complaintsOf(result), ...(run.steps < kLongRun ? [] : lateGrowth(result))];
  } finally {
    await browser.close();
    server.stop();
    project.remove();
  }
}

await main(async () => {
  const run = readOptions();
  await ensureNodeModules();
  await ensurePackages("browser");
  await buildWeb();
  await buildWasm("simd");
  const complaints = await soakInChromium(run);
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length > 0) return 1;
  console.log("No growth was found.");
});
