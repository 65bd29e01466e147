// saveSafetensors writes to a stream what it returns otherwise.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertThrows } from "../support/assert.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const { saveSafetensors } = eg.io;

const dict = {
  a: eg.arange(6).reshape([2, 3]).t(),
  large: eg.arange(3e6, { dtype: "float32" }),
  half: eg.ones([3]).half(),
};

/** A stream that collects what is written. */
function collector(more = {}) {
  const pieces = [];
  const stream = new WritableStream({ write: (piece) => void pieces.push(piece), ...more });
  return { stream, pieces };
}

describe("saveSafetensors to a stream", () => {
  test("writes the same file, in pieces, and closes the stream", async () => {
    let isClosed = false;
    const close = () => {
      isClosed = true;
    };
    const { stream, pieces } = collector({ close });
    const result = await saveSafetensors(dict, stream, { metadata: { k: "v" } });
    assert.equal(result, undefined);
    assert.ok(isClosed);
    assert.ok(pieces.length >= 5 && pieces.every(({ length }) => length <= 2 ** 23));
    assert.ok(Buffer.concat(pieces).equals(saveSafetensors(dict, { metadata: { k: "v" } })));
  });

  test("holds one tensor at a time", async () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`t${i}`, dict.large]));
    let most = 0;
    const write = async () => {
      await collectGarbage();
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    };
    await collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    await saveSafetensors(many, new WritableStream({ write }));
    assert.ok(most - before < 4 * dict.large.numel * 4, `${most - before} bytes`);
  });

  test("aborts the stream when a tensor cannot be written", async () => {
    const reasons = [];
    const abort = (reason) => void reasons.push(reason.code);
    await assertRejects(
      saveSafetensors({ a: 1 }, collector({ abort }).stream),
      "InvalidArgument",
      /"a"/,
    );
    await assertRejects(saveSafetensors(5, collector({ abort }).stream), "InvalidArgument", /dict/);
    await assertRejects(
      saveSafetensors(dict, collector({ abort }).stream, { meta: 1 }),
      "InvalidArgument",
    );
    assert.deepEqual(reasons, ["InvalidArgument", "InvalidArgument", "InvalidArgument"]);
  });

  test("reports what the stream throws, and a stream in use", async () => {
    const failure = new Error("disk full");
    const write = () => {
      throw failure;
    };
    const promise = saveSafetensors(dict, new WritableStream({ write }));
    await assert.rejects(
      promise,
      (error) => error.cause === failure && /disk full/.test(error.message),
    );
    const { stream } = collector();
    stream.getWriter();
    await assertRejects(saveSafetensors(dict, stream), "InvalidArgument", /stream/);
  });

  test("is not confused with options", () => {
    assertThrows(() => saveSafetensors(dict, { stream: 1 }), "InvalidArgument", /unknown option/);
    assertThrows(() => saveSafetensors(dict, {}, {}), "InvalidArgument", /too many/);
  });
});
