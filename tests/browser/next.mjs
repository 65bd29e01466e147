// `node tests/browser/next.mjs [version]`: Next.js builds deployed.js as part of a client component, with Turbopack and with
// webpack, and Chromium runs it. Not part of npm test: Next.js is 340 MB and a build takes half a minute.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expected, main, quiet, step } from "../../scripts/process.mjs";
import { resultOf, startChromium } from "./support/chromium.mjs";
import { assertLosses } from "./support/losses.mjs";
import { installPackage, kIsolation, makeProject } from "./support/project.mjs";
import { serveWith } from "./support/servers.mjs";

const kPage = `"use client";
import { useEffect } from "react";
import { EdgeGradError } from "edgegrad";
export default function Page() {
  useEffect(() => {
    import("../deployed.js");
  }, []);
  return <p>{EdgeGradError.name}</p>;
}
`;
const kLayout = `export default function Layout({ children }) {
  return <html><body>{children}</body></html>;
}
`;
const headers = Object.entries(kIsolation).map(([key, value]) => ({ key, value }));
const kConfig = `export default {
  headers: async () => [{ source: "/:path*", headers: ${JSON.stringify(headers)} }],
};
`;

function writeApp(folder) {
  mkdirSync(join(folder, "app"));
  writeFileSync(join(folder, "app", "page.jsx"), kPage);
  writeFileSync(join(folder, "app", "layout.jsx"), kLayout);
  writeFileSync(join(folder, "next.config.mjs"), kConfig);
}

await main(async () => {
  const [version = "latest"] = process.argv.slice(2);
  const project = makeProject();
  const { folder } = project;
  const browser = await startChromium();
  try {
    writeApp(folder);
    const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
    const packages = [`next@${version}`, "react", "react-dom"];
    // npm removes what it did not install itself.
    await step(`npm install ${packages.join(" ")}`, () =>
      quiet("npm", ["install", "--no-save", "--no-audit", ...packages], { cwd: folder }),
    );
    installPackage(folder);
    const next = join(folder, "node_modules", "next", "dist", "bin", "next");
    const manifest = join(folder, "node_modules", "next", "package.json");
    const major = Number.parseInt(JSON.parse(readFileSync(manifest, "utf8")).version, 10);
    // Until Next.js 16 webpack was what one got without an option.
    const options = { turbopack: ["--turbopack"], webpack: major < 16 ? [] : ["--webpack"] };
    for (const [bundler, option] of Object.entries(options)) {
      await step(`next build with ${bundler}`, () =>
        quiet(process.execPath, [next, "build", ...option], { cwd: folder, env }),
      );
      const server = await serveWith(folder, next, ["start"]);
      try {
        const { error, losses, inWorker } = await resultOf(browser, server.url);
        if (error) throw expected(error);
        assertLosses(losses);
        console.log(`  trained; in the worker: ${JSON.stringify(inWorker)}`);
      } finally {
        server.stop();
      }
    }
  } finally {
    await browser.close();
    project.remove();
  }
});
