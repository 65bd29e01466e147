// npm run release -- VERSION: checks that a release can be made, sets the version, dates CHANGELOG.md's section, builds, runs
// `npm publish --provenance --dry-run`, commits and tags. It pushes and publishes nothing: it prints what the owner does next.
// If a step fails, the files are restored.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kVariants, wasmFiles } from "./build.mjs";
import { kLists, writeLists } from "./docs/lists.mjs";
import { expected, kRoot, main, quiet, read, step } from "./process.mjs";
import {
  datedChangelog,
  kReleasedFiles,
  nextVersion,
  obstacles,
  unreleasedSection,
  withVersion,
} from "./releasing/release_plan.mjs";

const kHelp = `npm run release -- patch|minor|major|X.Y.Z [options]
  --dry-run   check, and say what would be done; change nothing
  --no-build  publish dist/ as it is`;

const kPublished = [
  "dist/index.js",
  "dist/index.modules.js",
  ...kVariants.flatMap(wasmFiles).map((name) => `dist/wasm/${name}`),
  ...kLists.map((name) => `docs/generated/${name}.md`),
];

const textOf = (file) => readFileSync(join(kRoot, file), "utf8");
const git = (...args) => quiet("git", args, { cwd: kRoot });

/** Returns the version to release and the new texts of the checkout's files; throws an error if something prevents a release. */
function makePlan(wanted, date) {
  const manifest = JSON.parse(textOf("package.json"));
  const version = nextVersion(manifest.version, wanted);
  if (version === null) throw expected(`"${wanted}" is not a version.\n${kHelp}`);
  const starter = JSON.parse(textOf("create/package.json"));
  const changelog = textOf("CHANGELOG.md");
  const status = read("git", ["-C", kRoot, "status", "--porcelain"]);
  if (status === null) throw expected("This is not a git repository: there is nothing to tag.");
  const hasTag = read("git", ["-C", kRoot, "tag", "--list", `v${version}`]) !== "";
  const isClean = status === "";
  const found = obstacles({ manifest, starter, changelog, version, isClean, hasTag });
  if (found.length > 0) throw expected([`${version} cannot be released:`, ...found].join("\n  "));
  const texts = kReleasedFiles.map((file) => [
    file,
    file === "CHANGELOG.md"
      ? datedChangelog(changelog, version, date)
      : withVersion(file, textOf(file), version),
  ]);
  const notes = unreleasedSection(changelog).body.trim();
  return { version, texts, notes, changes: notes.match(/^[-*] \S/gm).length };
}

async function tryToPublish() {
  const missing = kPublished.filter((file) => !existsSync(join(kRoot, file)));
  if (missing.length > 0)
    throw expected(`There is no ${missing.join(", no ")}: npm run build, npm run docs`);
  // A dry run works without a network: npm then skips the look-up of published versions.
  const options = ["--provenance", "--dry-run", "--ignore-scripts", "--fetch-retries=0"];
  const publish = (folder) => quiet("npm", ["publish", ...options], { cwd: join(kRoot, folder) });
  const output = await step("npm publish --provenance --dry-run", () => publish("."));
  await step("the same for create-edgegrad", () => publish("create"));
  const notices = output.matchAll(/^npm notice ((?:package size|total files|shasum): .*)$/gm);
  for (const [, line] of notices) console.log(`    ${line}`);
}

async function release({ version, texts, notes }, { "no-build": isBuilt }) {
  try {
    for (const [file, text] of texts) writeFileSync(join(kRoot, file), text);
    const build = () => quiet(process.execPath, ["scripts/build.mjs"], { cwd: kRoot });
    if (!isBuilt) {
      await step("npm run build", build);
      await writeLists();
    }
    await tryToPublish();
    await step(`commit and tag v${version}`, async () => {
      await git("commit", "--message", `Release ${version}`, "--", ...kReleasedFiles);
      // The tag's text becomes the release notes. By default git would remove the headings, as comments.
      const message = `edgegrad ${version}\n\n${notes}\n`;
      await git("tag", "--annotate", `v${version}`, "--cleanup=verbatim", "--message", message);
    });
  } catch (error) {
    await git("reset", "--quiet", "--", ...kReleasedFiles);
    await git("checkout", "--", ...kReleasedFiles);
    console.error("The files have been restored.");
    throw error;
  }
}

const nextSteps = (version) => `
Nothing has been pushed or published. What the owner does next:
  1. bash .ci/run                      on this commit, if it has not passed there yet
  2. git push origin HEAD v${version}
  3. gh workflow run publish.yml --ref v${version} -f dry-run=false
     npm gives provenance to what a hosted workflow publishes, so this is done there; it needs the secret NPM_TOKEN.
  4. gh release create v${version} --notes-from-tag
     The tag contains this version's section of CHANGELOG.md.
To take it back before the push: git tag --delete v${version} && git reset --hard HEAD~1`;

await main(async () => {
  const flag = { type: "boolean", default: false };
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "dry-run": flag, "no-build": flag, help: { ...flag, short: "h" } },
  });
  if (values.help) return console.log(kHelp);
  if (positionals.length !== 1) throw expected(kHelp);
  const plan = makePlan(positionals[0], new Date().toISOString().slice(0, 10));
  const { version, changes } = plan;
  console.log(`edgegrad ${version}: ${changes} entries in CHANGELOG.md`);
  if (values["dry-run"]) {
    console.log(`  would change ${kReleasedFiles.join(", ")}, build, commit and tag v${version}`);
    await tryToPublish();
    return console.log("Nothing was changed.");
  }
  await release(plan, values);
  console.log(nextSteps(version));
});
