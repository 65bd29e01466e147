// Files that are damaged at random: each is read or refused with an EdgeGradError, in a few seconds at most, and without more memory than
// a few times its size. The seeds are fixed. EG_MUTATED_FILES=200000 reads so many of each kind.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { cpuSeconds } from "../support/cpu_time.mjs";
import { eg } from "../support/engine.mjs";
import { mutated, randomFrom } from "../support/mutations.mjs";
import { archive, bytesOf, kNames, pickle, tensorOpcodes, zip } from "../support/torch_files.mjs";

const kCount = Number(process.env.EG_MUTATED_FILES ?? 1500);
const kSeed = 28;

const { loadSafetensors, loadTorch, openSafetensors, saveSafetensors } = eg.io;

const floats = Buffer.from(new Float32Array(4).buffer);
// Pickles in small archives without checksums: a changed byte would otherwise nearly always be refused for the checksum.
const bare = (data) =>
  zip([
    { name: "a/data.pkl", data, checksum: 0 },
    { name: "a/data/0", data: floats, checksum: 0 },
  ]);
const kTorchFiles = [
  ...kNames.map(bytesOf),
  bare(pickle(tensorOpcodes())),
  bare(pickle("}(X\x01\0\0\0a", tensorOpcodes({ shape: [2, 2], strides: [1, 2] }), "u")),
  archive(pickle("](K\x01G\x3f\xf0\0\0\0\0\0\0\x8a\x02\xff\x7fNe"), [floats]),
  zip([{ name: "a/data.pkl", data: pickle("]", "N".repeat(50)), isDeflated: true }]),
];

const kSafetensorsFiles = [
  saveSafetensors({ a: eg.ones([2, 3]), b: eg.tensor([1n, 2n]), c: eg.zeros([0]) }),
  saveSafetensors({ "x.y": eg.tensor([true]), h: eg.ones([3]).half() }, { metadata: { a: "b" } }),
  saveSafetensors({}),
  Buffer.from(JSON.stringify({ metadata: { a: 1 }, weight_map: { a: "m.safetensors" } })),
];

async function readAll(bytes) {
  const file = await openSafetensors(bytes);
  for (const key of file.keys) (await file.tensor(key)).dispose();
  for (const key of file.keys) (await file.slice(key)).dispose();
  await file.close();
}

const kReaders = {
  loadTorch: [(bytes) => loadTorch(bytes), kTorchFiles],
  "loadTorch of a Blob": [(bytes) => loadTorch(new Blob([bytes])), kTorchFiles, 0.1],
  loadSafetensors: [async (bytes) => loadSafetensors(bytes), kSafetensorsFiles],
  openSafetensors: [readAll, kSafetensorsFiles],
};

/** The engine's memory that one file may take: what its tensors take at most, and what the engine allocates at once. */
const mostMemory = (size) => 4 * size + 2 ** 16;

describe("damaged files are read or refused:", () => {
  for (const [name, [read, files, share = 1]] of Object.entries(kReaders)) {
    test(name, async (t) => {
      const random = randomFrom(kSeed);
      let [refused, slowest] = [0, 0];
      for (let i = 0; i < kCount * share; i++) {
        const bytes = mutated(random, files[random(files.length)], files);
        const { cpuBytes } = eg.memory();
        const start = cpuSeconds();
        try {
          await eg.scope(async () => {
            await read(bytes);
            const taken = eg.memory().cpuBytes - cpuBytes;
            assert.ok(taken <= mostMemory(bytes.length), `file ${i}: ${taken} bytes of memory`);
          });
        } catch (error) {
          refused++;
          const what = `file ${i} of the seed ${kSeed}: ${error?.stack}`;
          assert.ok(error instanceof eg.EdgeGradError, what);
          assert.notEqual(error.code, "Internal", what);
        }
        slowest = Math.max(slowest, cpuSeconds() - start);
        assert.ok(slowest < 5, `file ${i} of the seed ${kSeed} took ${slowest} s`);
      }
      assert.equal({}.polluted, undefined);
      t.diagnostic(
        `${refused} of ${kCount * share} refused, the slowest in ${slowest.toFixed(3)} s`,
      );
    });
  }

  test("and leave nothing behind", async () => {
    const random = randomFrom(kSeed);
    await collectGarbage();
    const before = eg.memory();
    for (let i = 0; i < 200; i++) {
      const bytes = mutated(random, kTorchFiles[random(kTorchFiles.length)], kTorchFiles);
      await eg.scope(() => loadTorch(bytes).then(() => {})).catch(() => {});
    }
    const after = eg.memory();
    assert.deepEqual([after.tensors, after.storages], [before.tensors, before.storages]);
  });
});
