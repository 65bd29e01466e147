// TextStreamer: what it passes on is, put together, what decode() returns, for tokenizers of every kind.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Tokenizer } from "@huggingface/tokenizers";
import "../support/engine.mjs";
import { AutoTokenizer, TextStreamer } from "edgegrad/transformers";
import { kTokenizers } from "../support/tiny_tokenizers.mjs";

// Numbers that are the same in each run.
function* drawn(seed) {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

describe("a streamed text is the decoded one", () => {
  for (const [kind, { files, count }] of Object.entries(kTokenizers)) {
    test(kind, async () => {
      const tokenizer = await AutoTokenizer.fromPretrained(files, { Tokenizer });
      const numbers = drawn(7);
      const draw = (below) => Math.floor(numbers.next().value * below);
      let pieces = 0;
      for (let i = 0; i < 2000; i++) {
        const tokens = Array.from({ length: draw(9) }, () =>
          draw(draw(2) === 0 ? Math.min(count, 16) : count),
        );
        const texts = [];
        const streamer = new TextStreamer(tokenizer, (text) => texts.push(text));
        streamer.put([[0]]);
        for (const token of tokens) streamer.put([[token]]);
        pieces += texts.length;
        streamer.end();
        const whole = tokenizer.decode(tokens, { skipSpecialTokens: true });
        assert.equal(texts.join(""), whole, JSON.stringify(tokens));
      }
      assert.ok(pieces > 1000, "most of a text comes before its end");
    });
  }
});
