// npm run bench -- onnx: files that other projects ship, beside onnxruntime-web on the same cores. Every contender runs in a process of its own, ours and
// theirs in turn; processes report the most memory that they have taken.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "../clock.mjs";
import { fileOf, kFiles } from "./files.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

async function run(program, ...given) {
  const { stdout } = await promisify(execFile)(process.execPath, [here(program), ...given]);
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

/** Returns the lines of a table: for each file and number of threads the time to open it and of a call, and the peak of memory. */
export async function onnxLines({ quick, threads, onProgress }) {
  const rows = [
    [
      "file",
      "threads",
      "open",
      "their open",
      "call",
      "their call",
      "call, pairs",
      "peak",
      "their peak",
    ],
    ["---", ...new Array(8).fill("---:")],
  ];
  for (const name of Object.keys(kFiles)) {
    onProgress(`fetch ${name}`);
    fileOf(name);
    for (const count of threads) {
      onProgress(`${name}, ${count} threads`);
      rows.push([name, String(count), ...(await figures(name, count, quick))]);
    }
  }
  return rows.map((cells) => `| ${cells.join(" | ")} |`);
}

async function figures(name, threads, quick) {
  const given = [name, String(threads), quick ? "5" : "20"];
  const pairs = [];
  for (let i = 0; i < (quick ? 1 : 3); i++) {
    const own = await run("edgegrad.mjs", ...given);
    pairs.push([own, await run("onnxruntime.mjs", ...given)]);
  }
  checkSame(name, ...pairs[0]);
  const of = (pick) => median(pairs.map(([own, other]) => pick(own, other)));
  return [
    ms(of((own) => own.load)),
    ms(of((_, other) => other.load)),
    ms(of((own) => own.call)),
    ms(of((_, other) => other.call)),
    `${of((own, other) => other.call / own.call).toFixed(2)} x`,
    mb(of((own) => own.megabytes)),
    mb(of((_, other) => other.megabytes)),
  ];
}

function checkSame(name, { numbers }, other) {
  const largest = Math.max(...numbers.map(Math.abs));
  const apart = Math.max(...numbers.map((one, i) => Math.abs(one - other.numbers[i])));
  const isSame = numbers.length === other.numbers.length && apart <= 1e-5 + 1e-3 * largest;
  if (!isSame) throw new Error(`${name}: onnxruntime-web returns other numbers`);
}

const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const mb = (value) => `${value.toFixed(0)} MB`;
