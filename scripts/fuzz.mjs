// npm run fuzz: calls the package with hostile values and says what went wrong. The pieces are in tests/fuzz.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureNodeModules } from "./dependencies.mjs";
import { expected, kRoot, main } from "./process.mjs";

const kVariants = ["simd", "single"];

const kHelp = `npm run fuzz -- [options]
  --minutes N       how long, all variants together (default 1)
  --seed S          which cases (default 1); "random" for new ones
  --variant V       one of the wasm builds; default: ${kVariants.join(" and then ")}
  --only A,B        only these kinds of cases: ops, dispose, recipes, surface, files
  --case K          only case K of the seed: what a finding says to run`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "1" },
      seed: { type: "string", default: "1" },
      variant: { type: "string" },
      only: { type: "string" },
      case: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const seed = values.seed === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const minutes = Number(values.minutes);
  if (!Number.isSafeInteger(seed) || !(minutes > 0)) throw expected(kHelp);
  const number = values.case === undefined ? null : Number(values.case);
  const variants = values.variant === undefined ? kVariants : [values.variant];
  return { seed, minutes, variants, only: values.only?.split(","), number, isHelp: values.help };
}

function show({ kind, message, lines, seed, variant, case: number }, { only, textOfProgram }) {
  console.log(`\nfinding: ${kind}: ${message}`);
  for (const line of textOfProgram(lines)) console.log(`    ${line.slice(0, 400)}`);
  const kinds = only === undefined ? "" : ` --only ${only}`;
  console.log(`  npm run fuzz -- --variant ${variant} --seed ${seed} --case ${number}${kinds}`);
}

await main(async () => {
  const { seed, minutes, variants, only, number, isHelp } = readOptions();
  if (isHelp) return console.log(kHelp);
  await ensureNodeModules();
  if (!existsSync(join(kRoot, "dist", "index.js"))) throw expected("Build first: npm run build");
  const { fuzz } = await import("../tests/fuzz/driver.mjs");
  const { textOfProgram } = await import("../tests/fuzz/shrink.mjs");
  let count = 0;
  for (const variant of variants) {
    const range =
      number === null
        ? { until: Date.now() + (minutes * 60_000) / variants.length }
        : { from: number, to: number + 1 };
    const onFinding = (finding) => show(finding, { only, textOfProgram });
    const { cases, calls, findings } = await fuzz({ seed, variant, only, ...range, onFinding });
    count += findings.length;
    console.log(
      `${variant}, seed ${seed}: ${cases} cases, ${calls} calls, ${findings.length} findings`,
    );
    for (const { signature, count: times } of findings) console.log(`  ${times} x ${signature}`);
  }
  return count > 0 ? 1 : 0;
});
