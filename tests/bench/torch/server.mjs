// A Python process that answers commands, one line of JSON each.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Debian's Python, for which there is the package python3-torch. */
export const kPython = "/usr/bin/python3";

/** OpenBLAS's names of processors by the instructions that their kernels need, the fastest first. */
const kOpenBlasCores = [
  ["avx512f", "SkylakeX"],
  ["avx2", "Haswell"],
];

/** PyTorch's products have failed to use the processor if they are not this many times as fast as ours, with vectors of half the width. */
const kLeast = 1.2;

/**
 * Returns the environment in which PyTorch uses the processor. OpenBLAS takes kernels of 2004, which are sixteen times as slow, on processors
 * that are newer than its release, unless it is told their name.
 */
export function torchEnvironment() {
  const [, flags] = /^flags\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8")) ?? ["", ""];
  const core = kOpenBlasCores.find(([instructions]) => flags.split(" ").includes(instructions));
  return { ...(core && { OPENBLAS_CORETYPE: core[1] }), ...process.env };
}

/**
 * Returns a warning if products in PyTorch run far below what the processor can do, else "". `blas` is what blas.py describes, `ours` the
 * speed of this package's product on the same number of threads in GFLOPS.
 */
export function blasWarning({ library, gflops }, ours) {
  if (gflops >= kLeast * ours) return "";
  const speeds = `${gflops.toFixed(0)} GFLOPS, edgegrad ${ours.toFixed(0)}`;
  return `PyTorch's products run on ${library} at ${speeds}: that library does not use this processor, so ratios to it say nothing`;
}

/** Starts a program of this folder on one thread. Returns a function that sends a command and resolves to the answer. */
export function spawnServer(program) {
  const path = fileURLToPath(new URL(`${program}`, import.meta.url));
  const python = spawn(kPython, [path], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...torchEnvironment(), OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" },
  });
  const answers = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
  return async (command) => {
    python.stdin.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error(`Error: Python exited during ${command.do}`);
    return JSON.parse(value);
  };
}
