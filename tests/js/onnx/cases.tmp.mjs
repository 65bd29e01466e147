import * as eg from "edgegrad";
import * as onnx from "edgegrad/onnx";
import { cases, runCase } from "../support/onnx_cases.mjs";

await eg.init({ webgpu: "off", threads: 1 });
let ok = 0;
const bad = [];
const t0 = performance.now();
for (const [name, folder] of cases()) {
  if (process.argv[2] && !name.includes(process.argv[2])) continue;
  try {
    await runCase(eg, onnx, folder);
    ok++;
  } catch (e) {
    bad.push([name, process.env.STACK ? e.stack : String(e.message).slice(0, 230)]);
  }
}
for (const [n, m] of bad) console.log(n, "|", m);
console.log(ok, "ok", bad.length, "bad", ((performance.now() - t0) / 1000).toFixed(1), "s");
process.exit(0);
