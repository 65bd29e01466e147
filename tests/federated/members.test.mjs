// Tests that fail do not leave clients and coordinators behind, which would keep the process.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runNode } from "../js/support/child.mjs";

test("a file whose test fails ends although its client still takes part", async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = await runNode(["tests/federated/support/failing_member.mjs"], { env });
  assert.equal(status, 1);
  assert.match(stdout, /as it should/);
});
