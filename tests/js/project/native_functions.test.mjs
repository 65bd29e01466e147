// The functions that the module exports, as TypeScript sees them, are those that bindings/*.cpp declares.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nativeFunctions } from "../../../scripts/generating/native_functions.mjs";

const membersOf = (text) => text.split("export interface NativeFunctions {\n")[1].split("\n");

test("a function of numbers and one of texts become members, with their comments", () => {
  const source = `
// Runs \`on_thread\` and
// waits.
EG_EXPORT("runNow")
double run_now(int on_thread, [[maybe_unused]] Handle handle,
               bool is_sure) {
  return 0;
}

EG_EXPORT("stop")
void stop() {}

// The name of a node.
std::string node_name(Handle node, const std::string& prefix) {}

EMSCRIPTEN_BINDINGS(nodes) { emscripten::function("eg_nodeName", &node_name); }
`;
  assert.deepEqual(membersOf(nativeFunctions([source])), [
    "  /** Runs `onThread` and waits. */",
    "  runNow(onThread: number, handle: number, isSure: boolean): number;",
    "  stop(): void;",
    "  /** The name of a node. */",
    "  nodeName(node: number, prefix: string): string;",
    "}",
    "",
  ]);
});

test("a binding without a declaration is refused", () => {
  const source = 'EMSCRIPTEN_BINDINGS(a) { emscripten::function("eg_a", &missing); }';
  assert.throws(() => nativeFunctions([source]), /eg_a: missing\(\) is not declared/);
});
