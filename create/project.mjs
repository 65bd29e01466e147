// Writes a project from its template.

import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const kHere = fileURLToPath(new URL(".", import.meta.url));

/** The templates by name: what each is, the script that starts it, and where it has the shared files. */
export const kTemplates = {
  "vite-ts": {
    title: "Vite and TypeScript",
    command: "dev",
    shared: { hosting: ".", "train.js": "src/train.ts" },
  },
  vanilla: {
    title: "a page without a bundler",
    command: "dev",
    shared: { hosting: ".", "train.js": "public/train.js" },
  },
  react: {
    title: "React, with the training in a worker",
    command: "dev",
    shared: { hosting: ".", "train.js": "src/train.ts" },
  },
  node: { title: "a program for Node", command: "start", shared: { "train.js": "train.js" } },
  cloudflare: {
    title: "a Cloudflare worker",
    command: "dev",
    shared: { "train.js": "src/train.ts" },
  },
};

/** A mistake of the user, which is reported without a stack. */
export class Mistake extends Error {}

/** Writes the project of a template into a folder, which is new or empty. */
export function writeProject(folder, template) {
  const known = Object.keys(kTemplates);
  if (!known.includes(template))
    throw new Mistake(`There is no template "${template}". There are ${known.join(", ")}.`);
  const target = resolve(folder);
  const name = packageName(target);
  assertEmpty(folder, target);
  cpSync(join(kHere, "templates", template), target, { recursive: true });
  const { shared } = kTemplates[template];
  for (const [name, place] of Object.entries(shared))
    cpSync(join(kHere, "shared", name), join(target, place), { recursive: true });
  if (shared.hosting) {
    // A file of the page's own origin, which no bundler may touch.
    const script = createRequire(import.meta.url).resolve("coi-serviceworker");
    cpSync(script, join(target, "public", "coi-serviceworker.js"));
  }
  writeFileSync(join(target, ".gitignore"), "node_modules/\ndist/\n.wrangler/\n");
  writeManifest(join(target, "package.json"), name);
}

function assertEmpty(folder, target) {
  if (!existsSync(target)) return;
  if (!statSync(target).isDirectory())
    throw new Mistake(`${folder} is a file: choose a new folder.`);
  const names = readdirSync(target).filter((name) => name !== ".git");
  if (names.length > 0)
    throw new Mistake(
      `The folder ${folder} is not empty: it has ${names[0]}. Choose a new folder.`,
    );
}

/** Returns the name of the package in a folder, as npm allows it. */
function packageName(target) {
  const name = basename(target)
    .toLowerCase()
    .replace(/[^a-z0-9._~-]+/g, "-")
    .replace(/^[._-]+/, "");
  return name || "edgegrad-app";
}

function writeManifest(path, name) {
  const { version } = JSON.parse(readFileSync(join(kHere, "package.json"), "utf8"));
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  manifest.dependencies.edgegrad = `^${version}`;
  writeFileSync(path, `${JSON.stringify({ name, ...manifest }, null, 2)}\n`);
}
