// npm run fuzz: calls the package with hostile values, or (--stress) from many threads at once, and reports failures. The
// pieces are in tests/fuzz.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensurePackages } from "./machine/apt.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { expected, kRoot, main } from "./process.mjs";

const kVariants = ["simd", "single"];

const kHelp = `npm run fuzz -- [options]
  --minutes N       total duration for all variants (default 1)
  --seed S          seed of the cases (default 1); "random" for a new one
  --variant V       one of the wasm builds; default: ${kVariants.join(" and then ")}
  --only A,B        only these kinds of cases: ops, dispose, recipes, surface, files
  --case K          only case K of the seed, to reproduce a finding
  --stress          instead of hostile values, programs with threads, modes that end early, disposals and restarts
  --device D        cpu (default) or webgpu, for --stress`;

const kDevices = ["cpu", "webgpu"];

const kText = { type: "string" };
const kOptions = {
  minutes: { ...kText, default: "1" },
  seed: { ...kText, default: "1" },
  variant: kText,
  only: kText,
  case: kText,
  stress: { type: "boolean", default: false },
  device: { ...kText, default: "cpu" },
  help: { type: "boolean", short: "h", default: false },
};

function readOptions() {
  const { values } = parseArgs({ options: kOptions });
  const { device, stress, help } = values;
  const seed = values.seed === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const minutes = Number(values.minutes);
  if (!(Number.isSafeInteger(seed) && minutes > 0 && kDevices.includes(device)))
    throw expected(kHelp);
  const number = values.case === undefined ? null : Number(values.case);
  const variants = values.variant === undefined ? kVariants : [values.variant];
  return { seed, minutes, variants, only: values.only?.split(","), number, stress, device, help };
}

function show(finding, { only, stress, device, textOfProgram }) {
  const { kind, message, lines, seed, variant, case: number } = finding;
  console.log(`\nfinding: ${kind}: ${message}`);
  for (const line of textOfProgram(lines)) console.log(`    ${line.slice(0, 400)}`);
  const kinds = only === undefined ? "" : ` --only ${only}`;
  const how = stress ? ` --stress --device ${device}` : kinds;
  console.log(`  npm run fuzz -- --variant ${variant} --seed ${seed} --case ${number}${how}`);
}

await main(async () => {
  const options = readOptions();
  if (options.help) return console.log(kHelp);
  const { seed, minutes, variants, only, number, stress, device } = options;
  await ensureNodeModules();
  if (!existsSync(join(kRoot, "dist", "index.js"))) throw expected("Build first: npm run build");
  if (device === "webgpu") await ensurePackages("browser");
  const run = stress
    ? (await import("../tests/fuzz/stress/driver.mjs")).stress
    : (await import("../tests/fuzz/driver.mjs")).fuzz;
  const { textOfProgram } = await import("../tests/fuzz/shrink.mjs");
  let count = 0;
  for (const variant of variants) {
    const until = Date.now() + (minutes * 60_000) / variants.length;
    const range = number === null ? { until } : { from: number, to: number + 1 };
    const onFinding = (finding) => show(finding, { ...options, textOfProgram });
    const { cases, calls, findings } = await run({
      ...{ seed, variant, only, device, onFinding },
      ...range,
    });
    count += findings.length;
    console.log(
      `${variant}, seed ${seed}: ${cases} cases, ${calls} calls, ${findings.length} findings`,
    );
    for (const { signature, count: times } of findings) console.log(`  ${times} x ${signature}`);
  }
  return count > 0 ? 1 : 0;
});
