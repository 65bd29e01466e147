// The limits of this machine: gemm_bench.cpp, built for WebAssembly, measures arithmetic on registers alone, and our
// matrix product without JavaScript around it.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureEmscripten } from "../../scripts/building/toolchain.mjs";
import { kRoot, quiet, step } from "../../scripts/process.mjs";

const kFolder = join(kRoot, "build", "bench");
const kFlags = { simd: [], relaxed: ["-mrelaxed-simd"] };

const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(folder, name));

/** Builds the probe of a variant if its sources are newer, and returns its path. */
export async function buildProbe(variant) {
  const program = join(kFolder, `gemm_bench-${variant}.cjs`);
  const gemm = join(kRoot, "src/backend/cpu/matrix/gemm");
  const base = join(kRoot, "src/base");
  const heap = join(base, "heap");
  const sources = [
    join(kRoot, "tests/bench/gemm_bench.cpp"),
    join(kRoot, "src/runtime/thread_pool.cpp"),
    ...[base, heap, gemm].flatMap((room) => filesIn(room)),
  ];
  if (existsSync(program) && sources.every((path) => modified(path) < modified(program))) {
    return program;
  }
  mkdirSync(kFolder, { recursive: true });
  const emscripten = await ensureEmscripten();
  await step(`build gemm_bench, ${variant}`, () =>
    quiet(join(emscripten, "em++"), [
      ...["-std=c++20", "-O3", "-msimd128", "-pthread", "-fwasm-exceptions", "-ffp-contract=off"],
      ...["-DEG_THREADS=1", "-fno-math-errno", ...kFlags[variant], `-I${join(kRoot, "src")}`],
      ...["-sPTHREAD_POOL_SIZE=2", "-sEXIT_RUNTIME", "-sINITIAL_MEMORY=256MB"],
      ...sources.filter((path) => path.endsWith(".cpp")),
      ...["-o", program],
    ]),
  );
  return program;
}

/**
 * Runs the probe: the ceilings, and the square products of size n if n is given. Resolves to its lines {bench:
 * "ceiling", operation, threads, gflops} and {bench: "gemm", layout, n, threads, gflops}.
 */
export async function runProbe(node, program, { n = 0, rounds = 20 } = {}) {
  const args = [program, "threads=2", `rounds=${rounds}`, `n=${n}`];
  const { stdout } = await promisify(execFile)(node, args);
  return stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

/** The better of two sets of ceilings {mulAdd: [1 thread, 2 threads], fused: [...]}. */
export function mergeCeilings(a, b) {
  if (!a || !b) return a ?? b;
  const best = (key) => a[key].map((value, i) => Math.max(value, b[key][i]));
  return { mulAdd: best("mulAdd"), fused: best("fused") };
}

export function ceilingsIn(lines) {
  const find = (operation, threads) =>
    lines.find(
      (line) =>
        line.bench === "ceiling" && line.operation === operation && line.threads === threads,
    )?.gflops ?? 0;
  const both = (operation) => [find(operation, 1), find(operation, 2)];
  return { mulAdd: both("multiply, add"), fused: both("multiply_add") };
}

const modified = (path) => statSync(path).mtimeMs;
