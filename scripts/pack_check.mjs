// npm run pack:check: creates the package's tarball, installs it in new folders with the tools that users have, and
// trains a small model there. Prints a table, stores the results of its rows in tests/package/results.json, and writes the table in
// docs/guide/install.md from it. Missing tools are installed (browsers by apt-get): 1 GB, which npm caches, and ten minutes. The pieces are in
// tests/package.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensurePackage } from "./build.mjs";
import { writeLists } from "./docs/lists.mjs";
import { withMarkedPart } from "./docs/marked_text.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { CommandError, expected, kRoot, main, quiet, step } from "./process.mjs";

const kHelp = `npm run pack:check -- [options]
  --only A,B  only rows whose names begin with one of these, such as node,vite,chromium-csp
  --quick     only the rows of npm run test:all, which write nothing
  --list      print the names of the rows`;

const kResults = join(kRoot, "tests", "package", "results.json");
const kPage = join(kRoot, "docs", "guide", "install.md");
const kMostLines = 30;
const kMostColumns = 200;

function chooseRows(rows, { only, quick }) {
  const starts = only?.split(",") ?? [""];
  const unknown = starts.find((start) => !rows.some(({ id }) => id.startsWith(start)));
  if (unknown) throw expected(`No row starts with "${unknown}"\n${kHelp}`);
  return rows.filter(
    (row) => starts.some((start) => row.id.startsWith(start)) && (!quick || row.quick),
  );
}

/** Packs the package in a folder; returns the tarball. */
async function pack(source) {
  const folder = join(kRoot, "build", "package");
  mkdirSync(folder, { recursive: true });
  await quiet("npm", ["pack", "--json", "--pack-destination", folder], { cwd: source });
  const { name, version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  return join(folder, `${name}-${version}.tgz`);
}

/** Runs a row and returns its result, which is printed and stored. */
async function runRow(row, context) {
  const { id, refused } = row;
  const start = performance.now();
  const { error } = await settle(() => row.run(context));
  const { value: version = "" } = await settle(() => row.version(context));
  const seconds = (performance.now() - start) / 1000;
  const works = error === undefined;
  const isRefused = !works && refused?.error.test(describe(error)) === true;
  if (!works && !isRefused) console.error(describe(error));
  const reason = isRefused ? refused.reason : undefined;
  const asExpected = refused ? isRefused : works;
  return { id, version, works, reason, asExpected, seconds };
}

async function settle(work) {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

/** Returns the end of a command's output, or the stack of an error. */
function describe(error) {
  const text = error instanceof CommandError ? `${error.message}\n${error.output}` : error.stack;
  const lines = text.trimEnd().split("\n").slice(-kMostLines);
  return lines.map((line) => `    ${line.slice(0, kMostColumns)}`).join("\n");
}

/** Merges the results of rows with stored results of those that did not run this time, and writes the table of all of them. */
function keep(results, rows, workingTable) {
  const kept = existsSync(kResults) ? JSON.parse(readFileSync(kResults, "utf8")) : [];
  const of = (id, list) => list.find((result) => result.id === id);
  const all = rows.map(({ id }) => of(id, results) ?? of(id, kept)).filter(Boolean);
  const saved = all.map(({ id, version, works, reason }) => ({ id, version, works, reason }));
  writeFileSync(kResults, `${JSON.stringify(saved, null, 2)}\n`);
  const page = readFileSync(kPage, "utf8");
  writeFileSync(kPage, withMarkedPart(page, "what works", workingTable(rows, saved)));
}

await main(async () => {
  const flag = { type: "boolean", default: false };
  const { values: options } = parseArgs({
    options: {
      only: { type: "string" },
      quick: flag,
      list: flag,
      help: { ...flag, short: "h" },
    },
  });
  if (options.help) return console.log(kHelp);
  await ensureNodeModules();
  const { kRows } = await import("../tests/package/rows/index.mjs");
  const rows = chooseRows(kRows, options);
  if (options.list) return console.log(rows.map(({ id }) => id).join("\n"));
  const { Browsers } = await import("../tests/package/browsers.mjs");
  const { Projects } = await import("../tests/package/projects.mjs");
  const { lineOf, workingTable } = await import("../tests/package/table.mjs");
  await ensurePackage();
  await writeLists();
  const tarball = await step("npm pack", () => pack(kRoot));
  const starter = await pack(join(kRoot, "create"));
  const projects = new Projects(tarball);
  const context = { tarball, starter, projects, browsers: new Browsers() };
  const results = [];
  // Rows of a group share folders. The longest groups are at the end of the table.
  const groups = [...new Set(rows.map(({ group }) => group))];
  const work = async () => {
    for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
      for (const row of rows.filter((row) => row.group === group)) {
        const result = await runRow(row, context);
        results.push(result);
        console.log(lineOf(row, result));
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, work));
  } finally {
    await context.browsers.close();
    await context.projects.remove();
  }
  if (!options.quick) keep(results, kRows, workingTable);
  const wrong = results.filter(({ asExpected }) => !asExpected).map(({ id }) => id);
  const names = wrong.length ? `: ${wrong.join(", ")}` : "";
  console.log(`${results.length - wrong.length} as expected, ${wrong.length} not${names}`);
  return wrong.length ? 1 : 0;
});
