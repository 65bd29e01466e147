// Sparse tensors in files of torch.save.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { archive, pickle, tensorOpcodes, text } from "../support/torch_files.mjs";

const { loadTorch, saveTorch, saveSafetensors } = eg.io;

describe("files of torch.save", () => {
  test("keep sparse tensors", async () => {
    const x = eg.sparseCooTensor([[1, 0, 1]], eg.tensor([[1, 2], [3, 4], [5, 6]]), [3, 2]); // biome-ignore format: rows
    const csr = eg.tensor([[0, 1], [2, 0]], { dtype: "float16" }).toSparseCsr(); // biome-ignore format: rows
    const one = x.coalesce();
    const { tensors, bytes } = eg.memory();
    const file = await saveTorch({ x, csr, one, again: x, batch: [csr] });
    assert.equal(eg.memory().tensors, tensors);
    assert.equal(eg.memory().bytes, bytes);
    const loaded = await loadTorch(file);
    assert.deepEqual([loaded.x.layout, loaded.csr.layout], ["sparse_coo", "sparse_csr"]);
    assert.deepEqual([loaded.x.isCoalesced, loaded.one.isCoalesced], [false, true]);
    assert.equal(loaded.again, loaded.x);
    assert.equal(loaded.batch[0], loaded.csr);
    assertTensor(loaded.x.toDense(), x.toDense().dataSync(), { shape: [3, 2] });
    assertTensor(loaded.x.indices(), [1, 0, 1]);
    assert.equal(loaded.csr.dtype, "float16");
    assertTensor(loaded.csr.toDense().to("float32"), [0, 1, 2, 0]);
  });

  const kIndices = Buffer.from(new BigInt64Array([0n, 5n]).buffer);
  const kValues = Buffer.from(new Float32Array([1, 2]).buffer);
  // What PyTorch writes: the layout by its name, then the parts.
  const coo = (size) =>
    archive(
      pickle(
        "ctorch._utils\n_rebuild_sparse_tensor\n(ctorch.serialization\n_get_layout\n(",
        text("torch.sparse_coo"),
        "tR(",
        tensorOpcodes({
          key: "0",
          storage: "torch\nLongStorage",
          count: 2,
          shape: [1, 2],
          strides: [2, 1],
        }),
        tensorOpcodes({ key: "1", count: 2, shape: [2], strides: [1] }),
        `ctorch\nSize\n((K${String.fromCharCode(size)}ttR\x89ttR`,
      ),
      [kIndices, kValues],
    );

  test("have the names that PyTorch writes", async () => {
    const x = await loadTorch(coo(6));
    assertTensor(x.toDense(), [1, 0, 0, 0, 0, 2]);
  });

  test("are refused if indices lie outside", async () => {
    await assertRejects(
      loadTorch(coo(5)),
      "InvalidArgument",
      /sparse tensor whose parts do not fit/,
    );
  });

  test("safetensors has no sparse tensors", async () => {
    const x = eg.eye(2).toSparse();
    const refused = /"x" is sparse/;
    assertThrows(() => saveSafetensors({ x }), "InvalidArgument", refused);
    const stream = new WritableStream();
    await assertRejects(saveSafetensors({ x }, stream), "InvalidArgument", refused);
  });
});
