// Files that PyTorch has written are read as what they contain, in both forms, and can be written again.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects } from "../support/assert.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";
import {
  archive,
  assertDescribed,
  bytesOf,
  described,
  describedIn,
  kNames,
  pickle,
  tensorOpcodes,
  text,
  zip,
} from "../support/torch_files.mjs";

const { loadTorch, saveTorch } = eg.io;

describe("loadTorch reads what PyTorch wrote:", () => {
  for (const name of kNames) {
    test(name, async () => {
      const bytes = bytesOf(name);
      const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
      shared.set(bytes);
      for (const source of [bytes, bytes.buffer, shared, new Blob([bytes]), Buffer.from(bytes)]) {
        assertDescribed(await loadTorch(source), describedIn(name));
      }
    });

    test(`${name}, and saveTorch writes it again`, async () => {
      const loaded = await loadTorch(bytesOf(name));
      const again = described(await loadTorch(await saveTorch(loaded)));
      // A tensor that shares nothing and has gaps is packed.
      assert.deepEqual(withoutStrides(again), withoutStrides(describedIn(name)));
    });
  }
});

function withoutStrides(value) {
  return JSON.parse(JSON.stringify(value, (key, one) => (key === "strides" ? undefined : one)));
}

describe("what loadTorch returns", () => {
  test("are tensors that share memory as they did, and are no views", async () => {
    for (const name of ["shared", "shared_legacy"]) {
      const { base, tail, every, matrix, row, again } = await loadTorch(bytesOf(name));
      assert.equal(again, base);
      base.fill_(7);
      for (const tensor of [tail, every, matrix, row]) {
        assert.ok(tensor.isLeaf && !tensor.isView);
        assert.ok(tensor.dataSync().every((one) => one === 7));
      }
    }
  });

  test("can be trained on", async () => {
    const { model: weights, optimizer: state } = await loadTorch(bytesOf("training"));
    const { Sequential, Conv2d, BatchNorm2d, Flatten, Linear } = eg.nn;
    const model = new Sequential(
      new Conv2d(1, 2, 2),
      new BatchNorm2d(2),
      new Flatten(),
      new Linear(2, 1),
    );
    model.loadStateDict(weights);
    const optimizer = new eg.optim.Adam(model.parameters());
    optimizer.loadStateDict(state);
    assert.equal(optimizer.paramGroups[0].lr, 0.1);
    model
      .call(eg.randn([3, 1, 2, 2]))
      .sum()
      .backward();
    optimizer.step();
  });

  test("pollutes no prototype", async () => {
    const value = await loadTorch(bytesOf("containers"));
    assert.equal({}.polluted, undefined);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.ok(Object.hasOwn(value, "__proto__"));
  });

  test("is freed as a whole when nothing of it is kept", async () => {
    const before = eg.memory();
    const { base, tail } = await loadTorch(bytesOf("shared"));
    base.dispose();
    assert.deepEqual(tail.tolist(), [8, 9, 10, 11]);
    await eg.scope(async () => {
      await loadTorch(bytesOf("dtypes"));
    });
    tail.dispose();
    await collectGarbage();
    assert.ok(eg.memory().tensors <= before.tensors + 6);
  });

  test("has the elements that PyTorch conjugates or negates when it reads them", async () => {
    const complex = { storage: "torch\nComplexFloatStorage", count: 1, shape: [1] };
    const bytes = Buffer.from(new Float32Array([1, 2]).buffer);
    const read = (metadata) =>
      loadTorch(archive(pickle(tensorOpcodes({ ...complex, metadata })), [bytes]));
    const [conj, neg] = ["conj", "neg"].map((name) => `${text(name).toString("latin1")}\x88s`);
    assert.deepEqual((await read("")).tolist(), [{ re: 1, im: 2 }]);
    assert.deepEqual((await read(`}${conj}`)).tolist(), [{ re: 1, im: -2 }]);
    assert.deepEqual((await read(`}${neg}`)).tolist(), [{ re: -1, im: -2 }]);
    assert.deepEqual((await read(`}${conj}${neg}`)).tolist(), [{ re: -1, im: 2 }]);
    await assertRejects(read(`}${conj.replace("conj", "quux")}`), "InvalidArgument", /"quux"/);
  });

  test("may contain itself", async () => {
    // l = [l]
    const list = await loadTorch(archive(pickle("]q\0h\0a")));
    assert.equal(list[0], list);
  });
});

describe("loadTorch reads archives", () => {
  const data = pickle(tensorOpcodes());
  const storage = new Float32Array([1, 2, 3, 4]);
  const bytes = Buffer.from(storage.buffer);

  test("at every position in memory, with storages of every size", async () => {
    for (let size = 0; size < 20; size++) {
      const sized = pickle(
        tensorOpcodes({ storage: "torch\nByteStorage", count: size, shape: [size] }),
      );
      const content = Uint8Array.from({ length: size }, (_, i) => 7 * i);
      const file = archive(sized, [content]);
      for (let offset = 0; offset < 4; offset++) {
        const memory = new Uint8Array(offset + file.length);
        memory.set(file, offset);
        const x = await loadTorch(memory.subarray(offset));
        assert.deepEqual(x.tolist(), [...content]);
      }
    }
  });

  test("with deflated files", async () => {
    const file = zip([
      { name: "a/data.pkl", data, isDeflated: true },
      { name: "a/data/0", data: bytes, isDeflated: true },
    ]);
    assert.deepEqual((await loadTorch(file)).tolist(), [1, 2, 3, 4]);
  });

  test("without checksums, which PyTorch can leave out", async () => {
    const file = zip([
      { name: "a/data.pkl", data, checksum: 0 },
      { name: "a/data/0", data: bytes, checksum: 0 },
    ]);
    assert.deepEqual((await loadTorch(file)).tolist(), [1, 2, 3, 4]);
  });

  test("whose numbers have 64 bits, and whose fields lie beyond every file", async () => {
    const files = [
      { name: "a/data.pkl", data },
      { name: "a/data/0", data: bytes },
    ];
    const file = zip(files, { isWide: true });
    assert.deepEqual((await loadTorch(file)).tolist(), [1, 2, 3, 4]);
    const [pickled] = files;
    const beyond = zip([{ ...pickled, start: 2 ** 50 }], { isWide: true });
    await assertRejects(loadTorch(beyond), "InvalidArgument", /overlaps/);
  });

  test("whose storage no tensor uses", async () => {
    assert.equal(await loadTorch(archive(pickle("K\x05"), [bytes])), 5);
  });
});

test("loadTorch takes the options of torch.load that are possible here", async () => {
  const bytes = bytesOf("numbers");
  for (const options of [{}, { weightsOnly: true }, { mmap: true }, undefined])
    await loadTorch(bytes, options);
  await assertRejects(
    loadTorch(bytes, { weightsOnly: false }),
    "InvalidArgument",
    /weightsOnly.*never run/,
  );
  await assertRejects(loadTorch(bytes, { weights_only: true }), "InvalidArgument", /weightsOnly/);
  for (const value of [undefined, null, 5, "a.pt", {}, [1]])
    await assertRejects(loadTorch(value), "InvalidArgument", /^\[loadTorch\] expected the bytes/);
});

test("loadTorch says what it takes, and how a path or an address becomes that", async () => {
  const takes = /\[loadTorch\] expected .* a Uint8Array, an ArrayBuffer or a Blob, got/;
  for (const given of [null, undefined, 7, {}]) {
    await assertRejects(loadTorch(given), "InvalidArgument", takes);
  }
  await assertRejects(loadTorch("a.pt"), "InvalidArgument", /readFileSync\(path\)/);
});
