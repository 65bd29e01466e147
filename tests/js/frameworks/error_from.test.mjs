// Errors that cross to another thread or page by structured cloning and by Comlink.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import * as Comlink from "comlink";
import nodeEndpoint from "comlink/dist/umd/node-adapter.js";
import * as eg from "edgegrad";
import { soon } from "../../support/until.mjs";

function thrownBy(code) {
  try {
    code();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

const kErrors = {
  "an operation's": () => thrownBy(() => eg.ones([2]).matmul(eg.ones([3]))),
  "an internal one": () => new eg.EdgeGradError("Internal", "[init] for no reason."),
  "one with a cause": () =>
    new eg.EdgeGradError("Disposed", "[add] gone.", { cause: new RangeError("why") }),
  "one of many lines": () => new eg.EdgeGradError("NoGradPath", "[grad] one\n    at two\nthree"),
};

describe("errorFrom()", () => {
  for (const [name, make] of Object.entries(kErrors)) {
    const restored = async (send) => {
      await eg.init({ threads: 1 });
      const error = make();
      const back = eg.errorFrom(await send(error));
      assert.ok(back instanceof eg.EdgeGradError);
      const { code, message, name: ownName, cause } = back;
      assert.deepEqual([code, message, ownName], [error.code, error.message, "EdgeGradError"]);
      return [error, back, cause];
    };

    test(`restores the class and code of ${name} after structured cloning`, async () => {
      const [error, { stack }, cause] = await restored(structuredClone);
      assert.equal(stack, error.stack);
      assert.equal(cause?.message, error.cause?.message);
    });

    test(`restores the class and code of ${name} after Comlink`, async () => {
      await restored(async (error) => {
        const { port1, port2 } = new MessageChannel();
        const fail = () => {
          throw error;
        };
        Comlink.expose({ fail }, nodeEndpoint(port1));
        const remote = Comlink.wrap(nodeEndpoint(port2));
        const received = await soon(
          "error of Comlink",
          remote.fail().catch((thrown) => thrown),
        );
        for (const port of [port1, port2]) port.close();
        return received;
      });
    });

    // As Firefox, which leaves the title of a stack out.
    test(`restores the code of ${name} from a cause`, () => {
      const { code, message } = make();
      const back = eg.errorFrom(new Error(message, { cause: { code } }));
      assert.deepEqual([back.code, back.message, back.cause], [code, message, undefined]);
    });
  }

  test("returns everything else as it is", () => {
    const own = kErrors["an internal one"]();
    const coded = Object.assign(new Error("[read] no"), { code: "ENOENT" });
    for (const value of [
      own,
      coded,
      new Error("x"),
      null,
      undefined,
      5,
      "text",
      {},
      [],
      new Map(),
    ]) {
      assert.equal(eg.errorFrom(value), value);
    }
  });
});
