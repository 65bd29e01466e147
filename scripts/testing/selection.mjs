// Selects tests: sections by their group, files by a part of their paths, or those affected by a change.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildForNode } from "../build.mjs";
import { expected, kRoot, read } from "../process.mjs";
import {
  debugPreset,
  kBorderTests,
  kEngineTests,
  prepareChromium,
  prepareFirefox,
  run,
  runFiles,
  runNative,
} from "./runners.mjs";
import { kGroups, kOfTools, kSections } from "./sections.mjs";

const kNode = process.execPath;
const kTestFile = /^tests\/.*(_test\.cpp|\.test\.mjs)$/;
const kNeedFirefox = /^tests\/browser\/firefox\//;
const kNeedChromium = /^tests\/(browser(?!\/firefox)|docs|site|webgpu)\//;

function testFiles() {
  const names = readdirSync(join(kRoot, "tests"), { recursive: true });
  return names.map((name) => join("tests", name)).filter((file) => kTestFile.test(file));
}

/** Returns the sections of a group, or sections that run the files with `name` in their paths. */
export function sectionsNamed(name) {
  if (kGroups.includes(name)) return kSections.filter(({ group }) => group === name);
  const sections = sectionsOf(testFiles().filter((file) => file.includes(name)));
  if (sections.length > 0) return sections;
  throw expected(
    `No test file has "${name}" in its path; the groups of sections are ${kGroups.join(", ")}`,
  );
}

/** Returns sections that run test files. */
function sectionsOf(files) {
  const scripts = files.filter((file) => file.endsWith(".mjs"));
  const cpp = (folder) =>
    files.filter((file) => file.startsWith(`tests/${folder}/`) && file.endsWith(".cpp"));
  const native = [
    [kEngineTests, cpp("cpp")],
    [kBorderTests, cpp("bindings")],
  ].filter(([, sources]) => sources.length > 0);
  return [
    ...native.map(([program, sources]) => ({
      title: `${sources.join(", ")}, ASan + UBSan`,
      work: () => runNative(debugPreset(), { program, files: sources }),
    })),
    ...(scripts.length > 0
      ? [{ title: `${scripts.length} files in Node`, work: () => runScripts(scripts) }]
      : []),
  ];
}

async function runScripts(files) {
  if (files.some((file) => kNeedChromium.test(file))) await prepareChromium();
  if (files.some((file) => kNeedFirefox.test(file))) await prepareFirefox();
  if (
    files.some((file) => file.startsWith("tests/site/")) &&
    !existsSync(join(kRoot, "build", "site"))
  )
    await run(kNode, "scripts/site.mjs");
  if (!existsSync(join(kRoot, "dist", "index.js"))) await buildForNode();
  return runFiles(kNode, files);
}

// The groups of tests that a change of a file can break, by the first pattern that matches.
const kTouches = [
  [kTestFile, []],
  [/^tests\/(cpp|bindings)\//, ["native"]],
  [kNeedFirefox, ["firefox"]],
  [/^tests\/(js|fuzz|browser|docs|distributed|federated|site|webgpu|package)\//, ["$1"]],
  [/^(src|bindings|tools|cmake|CMake)/, ["native", "wasm", "js"]],
  [/^web\/src\/webgpu\//, ["webgpu"]],
  [/^web\/(distributed|federated)\//, ["js", "$1"]],
  [/^web\/nats\//, ["js", "distributed", "federated"]],
  [/^package/, ["js", "browser", "tools"]],
  [/^(web|tsconfig)/, ["js", "browser"]],
  [/^demos\//, ["site"]],
  [/^create\//, ["tools", "package"]],
  [/^(bin|scripts|examples|tests\/bench)\//, ["tools"]],
  [/^tests\/(golden|programs|support)\//, ["js"]],
  [/^tests\/(python|pytorch)\//, ["$1"]],
  [/\.md$/, ["docs"]],
];

/** Returns the sections for the files that differ from the branch main or, on main, from the last commit. */
export function sectionsOfChange() {
  const git = (...args) =>
    read("git", ["-C", kRoot, ...args])
      ?.split(/\n/)
      .filter(Boolean) ?? [];
  const changed = [
    ...git("diff", "--name-only", "main"),
    ...git("ls-files", "--others", "--exclude-standard"),
  ];
  if (changed.length === 0) return [];
  const groups = new Set(["check"]);
  for (const file of changed) {
    const [pattern, touched] = kTouches.find(([pattern]) => pattern.test(file)) ?? [];
    const [, folder] = pattern?.exec(file) ?? [];
    for (const group of touched ?? []) groups.add(group === "$1" ? folder : group);
  }
  const whole = kSections.filter(
    ({ group, isQuick }) => groups.has(group) && (isQuick || !hasQuick(group)),
  );
  const isCovered = (file) => groups.has(groupOf(file));
  const files = changed.filter(
    (file) => kTestFile.test(file) && existsSync(join(kRoot, file)) && !isCovered(file),
  );
  return [...whole, ...sectionsOf(files)];
}

/** Returns the group of sections that runs a file of tests. */
function groupOf(file) {
  if (kOfTools.some((folder) => file.startsWith(`${folder}/`))) return "tools";
  return /^tests\/(\w+)\//.exec(file)?.[1].replace(/^(cpp|bindings)$/, "native");
}

// The quick sections of a group are sufficient before a commit.
function hasQuick(group) {
  return kSections.some((section) => section.group === group && section.isQuick);
}
