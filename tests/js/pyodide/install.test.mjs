// install() without Python: what it says when the wheel is not there.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as eg from "edgegrad";
import { install, wheelUrl } from "edgegrad/pyodide";

const kPython = { registerJsModule() {}, unpackArchive() {}, runPython() {} };

describe("install", () => {
  test("says where it looked for a wheel that is not there, and what to do", async () => {
    const wheel = new URL("missing.whl", wheelUrl());
    await assert.rejects(install(kPython, { engine: eg, wheel }), (error) => {
      assert.equal(error.code, "InvalidArgument");
      assert.match(error.message, /^\[install\] wheel: .*missing\.whl.*as `wheel`\.$/);
      return true;
    });
  });

  test("unpacks the file beside the script", async () => {
    const unpacked = [];
    const python = { ...kPython, unpackArchive: (...given) => unpacked.push(given) };
    await install(python, { engine: eg });
    assert.deepEqual(
      unpacked.map(([bytes, format]) => [bytes.byteLength > 50_000, format]),
      [[true, "wheel"]],
    );
  });
});
