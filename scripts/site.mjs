// npm run site: the site in build/site, static and for any folder of any server. Vite makes the pages (demos/site),
// typedoc the guide and the reference. `npm run site:serve` serves it, and builds it if it is not there;
// `npm run site:serve -- --plain` does so like a server that cannot send headers.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildWasm, buildWeb, kVariants } from "./build.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { kRoot, main, quiet, step } from "./process.mjs";
import { writeReference } from "./reference.mjs";
import { kIsolation, serveFolder } from "./serve_folder.mjs";

const kSite = join(kRoot, "build", "site");

async function build() {
  await ensureNodeModules();
  for (const variant of kVariants) {
    const isBuilt = existsSync(join(kRoot, "dist", "wasm", `edgegrad-${variant}.wasm`));
    if (!isBuilt) await buildWasm(variant);
  }
  await buildWeb();
  await step("pages", () =>
    quiet(process.execPath, [vite(), "build", join("demos", "site")], { cwd: kRoot }),
  );
  await step("guide and reference", () => writeReference(join(kSite, "docs")));
  console.log("  build/site is ready: npm run site:serve shows it");
}

function vite() {
  return join(kRoot, "node_modules", "vite", "bin", "vite.js");
}

async function serve({ port, plain }) {
  if (!existsSync(join(kSite, "index.html"))) await build();
  const { url } = await serveFolder(kSite, {
    port: Number(port),
    headers: plain ? {} : kIsolation,
  });
  const threads = plain
    ? "without headers: the service worker of the site gives pages their threads"
    : "cross-origin isolated";
  console.log(`${url} (${threads}; Ctrl-C ends)`);
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      serve: { type: "boolean", default: false },
      port: { type: "string", default: "4173" },
      plain: { type: "boolean", default: false },
    },
  });
  await (values.serve ? serve(values) : build());
});
