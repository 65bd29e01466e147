// PyTorch's test files: from Debian's source package, in the user's cache, and never in this repository.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { debianMirror, ensurePackages, isDebian } from "../../scripts/machine/apt.mjs";
import { cacheFolder, quiet, step } from "../../scripts/process.mjs";

export const kVersion = "2.6.0";
const kArchive = `pool/main/p/pytorch/pytorch_${kVersion}+dfsg.orig.tar.xz`;
const kSha256 = "099a9601bc40d67656e75735c44abedb0fbe92d08817852ab7472eebb7e6ddff";
const kTop = `pytorch-v${kVersion}`;
// Downloads by apt, with its proxies and settings, and compares the hash.
const kHelper = "/usr/lib/apt/apt-helper";
// The tests, and those of PyTorch's files that the shim uses as they are.
const kParts = [
  "test",
  "torch/testing",
  "torch/utils/_contextlib.py",
  "torch/utils/_import_utils.py",
  "torch/utils/_pytree.py",
];

/** Returns the folder with PyTorch's `test` and some files of `torch`; the first call downloads 27 MB. */
export async function pytorchSource() {
  const parts = createHash("sha256").update(kParts.join()).digest("hex").slice(0, 8);
  const folder = join(cacheFolder(), `pytorch-${kVersion}-${parts}`);
  if (existsSync(folder)) return folder;
  const mirror = await debianMirror();
  if (!mirror) throw new Error("apt's sources contain no Debian mirror");
  const work = `${folder}.partial-${process.pid}`;
  mkdirSync(work, { recursive: true });
  try {
    const archive = join(work, "archive.tar.xz");
    const url = `${mirror.replace(/\/$/, "")}/${kArchive}`;
    await step(`fetch PyTorch ${kVersion}'s source package`, () =>
      quiet(kHelper, ["download-file", url, archive, `SHA256:${kSha256}`]),
    );
    const paths = kParts.map((part) => `${kTop}/${part}`);
    await step("unpack its tests", () => quiet("tar", ["-xJf", archive, "-C", work, ...paths]));
    mkdirSync(dirname(folder), { recursive: true });
    renameSync(join(work, kTop), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Returns what pytorchSource() does once the packages of Debian are there, or null after saying why PyTorch's tests cannot run here. */
export async function sourceIfPossible() {
  try {
    if (!isDebian()) throw new Error("PyTorch's test files come from Debian's source package");
    await ensurePackages("pytorch");
    return await pytorchSource();
  } catch (error) {
    console.log(`skipped: ${error.message.split("\n")[0]}`);
    return null;
  }
}
