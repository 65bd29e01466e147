// Next.js renders a client component that imports the package on the server, and runs it in Chromium.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assertPageTrains } from "../../browser/support/deployed.mjs";
import { kIsolation } from "../../browser/support/project.mjs";
import { serveWith } from "../../browser/support/servers.mjs";
import { run } from "../running.mjs";
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

export const kNextRows = ["turbopack", "webpack"].map((bundler) => ({
  id: `next-${bundler}`,
  group: "Next.js",
  title: `server-rendered and built with ${bundler === "turbopack" ? "Turbopack" : "webpack"}`,
  version: () => versionOf("next"),
  async run({ projects, browsers }) {
    const folder = await projects.with(...kTools);
    writeApp(folder);
    const next = join(folder, "node_modules", "next", "dist", "bin", "next");
    await run(folder, process.execPath, next, "build", `--${bundler}`);
    const server = await serveWith(folder, next, ["start"]);
    try {
      await assertPageTrains(await browsers.start("chromium"), server.url, { page: "" });
    } finally {
      server.stop();
    }
  },
}));

function writeApp(folder) {
  mkdirSync(join(folder, "app"), { recursive: true });
  writeFileSync(join(folder, "app", "page.jsx"), kPage);
  writeFileSync(join(folder, "app", "layout.jsx"), kLayout);
  writeFileSync(join(folder, "next.config.mjs"), kConfig);
}
