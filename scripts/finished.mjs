// npm run site:finished: trains what the demos open with, and writes it beside each (demos/site/*/finished): weights, curves and
// texts. The seeds are fixed. Run it when a demo's model or training has changed; `-- gpt digits` does so for some pages only.
//
// A page's finished/train.ts is bundled for Node, so that it trains with the modules of the page, and returns files by name.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { expected, kRoot, main, step } from "./process.mjs";

const kSite = join(kRoot, "demos", "site");
/** The pages that have finished/train.ts. */
const kPages = ["colors", "digits", "federated", "fine_tune", "gpt", "hogwild", "playground"];

// Inside of the package, so that the bundles find it by its name.
const kBundles = join(kRoot, "build", "finished");

/** What a page may load before it shows its finished state, in bytes. */
const kMostBytes = 300_000;

async function finish(page) {
  const { build } = await import("esbuild");
  const outfile = join(kBundles, `${page}.mjs`);
  await build({
    entryPoints: [join(kSite, page, "finished", "train.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    // Without the paths of demos/tsconfig.json: the package as it was built.
    tsconfigRaw: {},
    logLevel: "error",
  });
  const { train, kEngine = {} } = await import(pathToFileURL(outfile).href);
  const { init, manualSeed, shutdown } = await import("edgegrad");
  const { seededRandom } = await import("../demos/support/random.mjs");
  await init(kEngine);
  manualSeed(0);
  // Pages draw with Math.random(), which has no seed.
  Math.random = seededRandom(1);
  const files = Object.entries(await train());
  await shutdown();
  const folder = join(kSite, page, "finished");
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
  const bytes = files.reduce((sum, [, { length }]) => sum + length, 0);
  console.log(`  ${page}: ${files.length} files, ${(bytes / 1000).toFixed(0)} kB`);
  if (bytes > kMostBytes) throw expected(`${page} has more than ${kMostBytes} bytes`);
}

await main(async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const unknown = positionals.find((name) => !kPages.includes(name));
  if (unknown !== undefined) {
    throw expected(`nothing is finished for "${unknown}"; the pages are ${kPages.join(", ")}`);
  }
  await ensureNodeModules();
  mkdirSync(kBundles, { recursive: true });
  for (const page of positionals.length > 0 ? positionals : kPages)
    await step(page, () => finish(page));
});
