// Memory: what Python lets go is free, cycles do not leak, and an interrupt leaves nothing behind.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { run, startPython, testsIn } from "./support/python.mjs";

const python = await startPython();

describe("memory", () => {
  testsIn(python, "python/memory.py");

  for (const what of ["hooks", "functions"]) {
    test(`cycles through ${what} do not leak`, async () => {
      run(python, `import gc\nfrom memory_tests import ${what}, torch`);
      // Python's half of a graph is free once JavaScript's is, and the other way round.
      const left = async () => {
        run(python, `${what}()`);
        for (let i = 0; i < 3; i++) {
          run(python, "gc.collect()");
          await collectGarbage();
        }
        return run(python, "torch.memory()['handles']");
      };
      assert.equal(await left(), await left());
    });
  }

  test("after an interrupt anywhere, sweep() finds what is left", () => {
    const buffer = new Uint8Array(new SharedArrayBuffer(1));
    python.setInterruptBuffer(buffer);
    run(
      python,
      "from memory_tests import interrupted_step\nstep = interrupted_step()\nfor _ in range(3): step()",
    );
    const counts = () => run(python, "torch.sweep(); torch.memory()['tensors']");
    const before = counts();
    python.globals.set("interrupt", () => {
      buffer[0] = 2;
    });
    let interrupts = 0;
    for (let calls = 1; calls < 60; calls += 2) {
      try {
        python.runPython(`
import edgegrad.torch._bridge as bridge, sys
sys.last_exc = sys.last_value = sys.last_traceback = None
left = [${calls}]
def trace(frame, event, arg):
    left[0] -= 1
    if left[0] == 0:
        interrupt()
sys.setprofile(trace)
try:
    step()
finally:
    sys.setprofile(None)`);
      } catch (error) {
        assert.match(error.message, /KeyboardInterrupt/);
        interrupts++;
      }
      buffer[0] = 0;
      run(python, "sys.last_exc = sys.last_value = sys.last_traceback = None\ntorch.sweep()");
    }
    python.setInterruptBuffer(undefined);
    run(python, "sys.last_exc = sys.last_value = sys.last_traceback = None\nstep()");
    assert.ok(interrupts > 12, `${interrupts} interrupts`);
    assert.equal(counts(), before);
    assert.equal(run(python, "torch.is_grad_enabled()"), true);
  });
});
