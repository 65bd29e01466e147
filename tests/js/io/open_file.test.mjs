// openFile(): ranges of bytes of a file of any format.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "../support/engine.mjs";
import { serveRanges } from "../support/ranges_server.mjs";

const kBytes = Uint8Array.from({ length: 200_000 }, (_, i) => i % 251);

async function check(source, options) {
  const file = await eg.io.openFile(source, options);
  assert.equal(file.size, kBytes.length);
  assert.deepEqual(await file.bytes(100_000, 100_003), kBytes.slice(100_000, 100_003));
  assert.deepEqual(await file.bytes(), kBytes);
  assert.deepEqual(await file.bytes(5, 5), new Uint8Array(0));
  await file.close();
  await assert.rejects(file.bytes(0, 1), { code: "Disposed" });
}

test("bytes, a Blob and a server of ranges are files", async () => {
  await check(kBytes);
  await check(new Blob([kBytes]));
  const server = await serveRanges({ "a.bin": kBytes });
  const asked = [];
  try {
    const own = (url, options) => {
      asked.push(options?.headers?.Range);
      return fetch(url, options);
    };
    await check(`${server.url}a.bin`, { fetch: own });
  } finally {
    server.stop();
  }
  assert.ok(asked.includes("bytes=100000-100002"), String(asked));
});

test("ranges outside of the file are refused", async () => {
  const file = await eg.io.openFile(kBytes);
  for (const range of [
    [-1, 3],
    [3, 2],
    [0, 200_001],
    [0.5, 2],
    ["0", 1],
  ]) {
    await assert.rejects(file.bytes(...range), { code: "IndexOutOfRange" });
  }
});

test("what is no file is refused", async () => {
  await assert.rejects(eg.io.openFile(3), { code: "InvalidArgument" });
  await assert.rejects(eg.io.openFile("/no/such/file"), { code: "InvalidArgument" });
  await assert.rejects(eg.io.openFile(kBytes, { other: 1 }), { code: "InvalidArgument" });
});
