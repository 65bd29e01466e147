// Next.js renders a client component that imports the package on the server, and runs it in Chromium; and a route that trains in its
// edge runtime.

import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assertPageTrains } from "../../browser/support/deployed.mjs";
import { kIsolation } from "../../browser/support/project.mjs";
import { serveWith } from "../../browser/support/servers.mjs";
import { assertTrained, run } from "../running.mjs";
import { versionOf } from "../tools.mjs";

const kTools = ["next", "react", "react-dom"];

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

const kRoute = `import { result } from "../../edge/worker.mjs";
export const runtime = "edge";
export async function GET() {
  return Response.json(await result());
}
`;

// The build of such a route with webpack ends in an error of Next.js.
const kEdgeRow = {
  id: "next-edge",
  group: "Next.js",
  title: "in its edge runtime, built with Turbopack",
  version: () => versionOf("next"),
  async run({ projects }) {
    const folder = await projects.with(...kTools);
    writeApp(folder);
    const route = join(folder, "app", "edge");
    mkdirSync(route, { recursive: true });
    writeFileSync(join(route, "route.js"), kRoute);
    const server = await buildAndServe(folder, "turbopack");
    try {
      const response = await fetch(`${server.url}edge`);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assertTrained(text);
    } finally {
      server.stop();
      rmSync(route, { recursive: true });
    }
  },
};

const kPageRows = ["turbopack", "webpack"].map((bundler) => ({
  id: `next-${bundler}`,
  group: "Next.js",
  title: `server-rendered and built with ${titleOf(bundler)}`,
  version: () => versionOf("next"),
  async run({ projects, browsers }) {
    const folder = await projects.with(...kTools);
    writeApp(folder);
    const server = await buildAndServe(folder, bundler);
    try {
      await assertPageTrains(await browsers.start("chromium"), server.url, { page: "" });
    } finally {
      server.stop();
    }
  },
}));

export const kNextRows = [...kPageRows, kEdgeRow];

function titleOf(bundler) {
  return bundler === "turbopack" ? "Turbopack" : "webpack";
}

async function buildAndServe(folder, bundler) {
  const next = join(folder, "node_modules", "next", "dist", "bin", "next");
  await run(folder, process.execPath, next, "build", `--${bundler}`);
  return serveWith(folder, next, ["start"]);
}

function writeApp(folder) {
  mkdirSync(join(folder, "app"), { recursive: true });
  writeFileSync(join(folder, "app", "page.jsx"), kPage);
  writeFileSync(join(folder, "app", "layout.jsx"), kLayout);
  writeFileSync(join(folder, "next.config.mjs"), kConfig);
}
