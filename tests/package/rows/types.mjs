// The declarations, checked with the compilers and module resolutions that users have, without skipLibCheck.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assertTrained, run } from "../running.mjs";
import { kTypeScripts } from "../tools.mjs";

const kStrict = {
  target: "es2022",
  lib: ["es2022", "dom"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  types: [],
};

const kResolutions = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

// Earlier versions reject `require` of a module, as Node.js did.
const kFirstToRequire = [5, 8];

const rows = kTypeScripts.flatMap((version) =>
  Object.entries(kResolutions).map(([resolution, options]) =>
    typeRow({ version, resolution, options, programs: ["typed.ts", "typed_edge.mts"] }),
  ),
);

const requireRows = kTypeScripts
  .filter((version) => isAtLeast(version, kFirstToRequire))
  .map((version) =>
    typeRow({
      version,
      resolution: "nodenext-require",
      title: "`import = require()` from 5.8 on",
      options: kResolutions.nodenext,
      programs: ["typed_require.cts"],
    }),
  );

// The module resolution of old projects does not support "exports".
const oldRow = typeRow({
  version: kTypeScripts[0],
  resolution: "node10",
  title: "`node10` in TypeScript 5",
  options: { module: "esnext", moduleResolution: "node10" },
  programs: ["typed.ts"],
});

export const kTypeRows = [...rows, ...requireRows, oldRow];

function typeRow({ version, resolution, title = `\`${resolution}\``, options, programs }) {
  return {
    id: `typescript-${version}-${resolution}`,
    group: "TypeScript, strict",
    title,
    quick: version === kTypeScripts.at(-1),
    version: () => version,
    async run({ projects }) {
      const folder = await projects.with(`typescript@${version}`);
      const out = join(folder, `out-${resolution}`);
      mkdirSync(out);
      writeFileSync(join(out, "tsconfig.json"), JSON.stringify(config(options, programs)));
      const compiler = join(folder, "node_modules", "typescript", "bin", "tsc");
      await run(folder, process.execPath, compiler, "--project", out);
      for (const program of programs) await runCompiled(folder, join(out, program));
    },
  };
}

function config(options, programs) {
  const compilerOptions = { ...kStrict, ...options, rootDir: "..", outDir: "." };
  return { compilerOptions, files: programs.map((name) => `../${name}`) };
}

async function runCompiled(folder, program) {
  const output = await run(folder, process.execPath, program.replace(/ts$/, "js"));
  if (program.endsWith(".ts")) assertTrained(output);
}

function isAtLeast(version, [major, minor]) {
  const [ownMajor, ownMinor] = version.split(".").map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
