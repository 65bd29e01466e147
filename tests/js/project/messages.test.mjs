// The messages of errors, which npm run check reads from the sources: what it requires of them, and that it finds them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allMessages, findMessageErrors } from "../../../scripts/checks/messages.mjs";

const kGood = {
  code: "InvalidArgument",
  caller: "narrow",
  text: "expected a number, got ….",
  where: "web/src/ops/narrow.ts",
};
const problemsOf = (change) => findMessageErrors([{ ...kGood, ...change }]).join();

describe("a message", () => {
  test("has nothing wrong", () => assert.equal(problemsOf({}), ""));

  test("names its caller, unless all calls may end with it or C++ adds the caller", () => {
    assert.match(problemsOf({ caller: "" }), /narrow\.ts: the InvalidArgument .* names no caller/);
    assert.equal(problemsOf({ caller: "", code: "NotInitialized" }), "");
    assert.equal(problemsOf({ caller: "", where: "src/ops/all.h" }), "");
    assert.equal(problemsOf({ caller: "", text: "…" }), "");
  });

  test("is a sentence", () => {
    assert.match(problemsOf({ text: "expected a number" }), /does not end like a sentence/);
    assert.match(problemsOf({ text: "" }), /is empty/);
    assert.match(problemsOf({ text: "expected  a number." }), /two spaces/);
  });
});

test("the messages of C++ and of TypeScript are found, with their callers", () => {
  const all = allMessages();
  const has = (wanted) =>
    all.some((one) => Object.keys(wanted).every((key) => wanted[key].test(one[key])));
  assert.ok(all.length > 1000);
  assert.ok(has({ code: /^ShapeMismatch$/, caller: /^\w+$/, where: /^src\// }));
  assert.ok(
    has({
      code: /^Internal$/,
      caller: /^spawn$/,
      where: /^web\/src\/runtime\/bridge\/bridge\.ts$/,
    }),
  );
  assert.ok(has({ text: /….*…/, where: /^web\/onnx\// }));
});
