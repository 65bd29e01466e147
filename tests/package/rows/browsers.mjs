// Plain files in three browsers, served in every configuration that matters.

import { assertPageTrains, kPath, kPolicy } from "../../browser/support/deployed.mjs";
import { kIsolation } from "../../browser/support/project.mjs";
import { serveFiles } from "../../browser/support/servers.mjs";

/** The browsers, by the names under which `browsers.start()` knows them. */
export const kBrowsers = {
  chromium: "Chromium",
  firefox: "Firefox ESR",
  webkit: "WebKitGTK with `JSC_useSharedArrayBuffer=1`",
};

const kRefused = {
  "webkit-cdn": {
    reason:
      "one thread, unless the scripts there have `Cross-Origin-Embedder-Policy: require-corp`",
    error: /threads: 1/,
  },
};

const kEntry = "node_modules/edgegrad/dist/index.js";
const isolated = (folder) => serveFiles(folder, kIsolation);

const kWays = {
  isolated: { title: "threads in a cross-origin isolated page", serve: isolated },
  single: {
    title: "one thread in other pages",
    serve: (folder) => serveFiles(folder),
    threads: 1,
  },
  policy: { title: "under a path with a strict CSP", serve: serveStrictly },
  cdn: { title: "threads from another origin", serve: serveWithCdn },
  worker: { title: "in the user's own worker", serve: isolated, page: "own_worker.html" },
};

export const kBrowserRows = Object.entries(kBrowsers).flatMap(([name, group]) =>
  Object.entries(kWays).map(([way, { title, serve, ...expected }]) => ({
    id: `${name}-${way}`,
    group,
    title,
    refused: kRefused[`${name}-${way}`],
    version: ({ browsers }) => browsers.versionOf(name),
    async run({ projects, browsers }) {
      const browser = await browsers.start(name);
      const server = await serve(await projects.with());
      try {
        await assertPageTrains(browser, server.url, expected);
      } finally {
        server.stop();
      }
    },
  })),
);

function serveStrictly(folder) {
  const headers = { ...kIsolation, ...kPolicy };
  return serveFiles(folder, headers, { base: kPath, package: kPath + kEntry });
}

async function serveWithCdn(folder) {
  const cdn = await serveFiles(folder, { "Access-Control-Allow-Origin": "*" });
  const page = await serveFiles(folder, kIsolation, { package: cdn.url + kEntry });
  const stop = () => {
    page.stop();
    cdn.stop();
  };
  return { ...page, stop };
}
