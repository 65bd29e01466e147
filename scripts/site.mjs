// npm run site: builds the site in build/site, as static files that can be served from any folder of any server. Vite
// builds the pages (demos/site), typedoc the guide and the reference. `npm run site:serve` serves the site, and builds
// it first if it is missing; `npm run site:serve -- --plain` serves it without headers, like a server that cannot send
// them.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPackage } from "./build.mjs";
import { writeLists } from "./docs/lists.mjs";
import { writeReference } from "./docs/reference.mjs";
import { kIsolation } from "./isolation.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { kRoot, main, quiet, step } from "./process.mjs";
import { serveFolder } from "./serve_folder.mjs";

const kSite = join(kRoot, "build", "site");

async function build() {
  await ensureNodeModules();
  await buildPackage();
  await writeLists();
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
    ? "without headers: the service worker of the site enables threads"
    : "cross-origin isolated";
  console.log(`${url} (${threads}; press Ctrl-C to stop)`);
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
