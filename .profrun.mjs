import { startTraining, kDeepMlp, kGptTask } from "./tests/bench/workloads/training.mjs";
import { setTimeout } from "node:timers/promises";
const [lib, which, n = "5"] = process.argv.slice(2);
const library = await (await import(`./tests/bench/libraries/${lib}.mjs`)).load({ device: "webgpu" });
const t = startTraining(library, which === "gpt" ? kGptTask : kDeepMlp);
for (let i = 0; i < 3; i++) { t.step(i); await t.loss(); }
const ch = new BroadcastChannel("profile");
ch.postMessage("reset");
await setTimeout(100);
const t0 = performance.now();
for (let i = 0; i < +n; i++) { t.step(i); await t.loss(); }
console.log("ms/step", ((performance.now() - t0) / +n).toFixed(1));
let all = [];
ch.onmessage = ({ data }) => { if (Array.isArray(data)) all.push(...data); };
ch.postMessage("?");
await setTimeout(500);
all.sort((a, b) => b[1].ms - a[1].ms);
let total = 0; for (const [, a] of all) total += a.ms / +n;
console.log("sum of dispatches", total.toFixed(1));
for (const [k, a] of all.slice(0, 28)) console.log(k.padEnd(40), "n/step", (a.n / +n).toFixed(1), "ms/step", (a.ms / +n).toFixed(2), "best each", a.best.toFixed(2));
import { writeFileSync } from "node:fs";
writeFileSync("/tmp/gpub/codes.txt", all.map(([k, a]) => `##### ${k}\n${a.code}`).join("\n"));
process.exit(0);
