// Formulas in plain notation, and the MathML that the reference shows.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kOfDistributions } from "../../scripts/reference/formulas/distributions.mjs";
import { kOfLayers } from "../../scripts/reference/formulas/layers.mjs";
import { mathOf } from "../../scripts/reference/formulas/notation.mjs";
import { kOfOps } from "../../scripts/reference/formulas/ops.mjs";
import { kOfTools } from "../../scripts/reference/formulas/tools.mjs";
import { withoutSkips } from "../../scripts/reference/headings.mjs";

const inner = (text) => mathOf(text).replace(/^<math display="block">(.*)<\/math>$/, "$1");

describe("formulas in plain notation", () => {
  for (const [text, markup] of [
    ["x_i", "<msub><mi>x</mi><mi>i</mi></msub>"],
    ["1 / x", "<mfrac><mrow><mn>1</mn></mrow><mrow><mi>x</mi></mrow></mfrac>"],
    ["(a) / (b)", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"],
    ["sqrt(alpha)", "<msqrt><mi>α</mi></msqrt>"],
    ["exp(x)", "<msup><mi>e</mi><mrow><mi>x</mi></mrow></msup>"],
    ["2 * x", '<mrow><mn>2</mn><mspace width="0.16em"/><mi>x</mi></mrow>'],
    ["p.negative_slope", "<mi>negativeSlope</mi>"],
  ]) {
    test(`${text} is ${markup}`, () => assert.equal(inner(text), markup));
  }

  test("have parentheses where a sum is a factor or a base", () => {
    const count = (text) => inner(text).split('<mo fence="true">(</mo>').length - 1;
    assert.equal(count("(a + b) * c"), 1);
    assert.equal(count("(a + b)^2"), 1);
    assert.equal(count("(a + b) / 2"), 0);
    assert.equal(count("sum_i(a_i + b_i)"), 1);
    assert.equal(count("sum_i(a_i * b_i)"), 0);
  });

  test("list the cases of nested conditions in one column", () => {
    const rows = inner("where(x > 0, 1, where(x < 0, -1, 0))").match(/<mtr>/g);
    assert.equal(rows.length, 3);
  });

  test("are one block for each formula", () => {
    assert.equal(mathOf("a = b; c = d").match(/<math /g).length, 2);
  });

  test("refuse what they cannot read", () => {
    for (const text of ["a +", "a ? b : c", "f(x", "a b"]) assert.throws(() => mathOf(text), text);
  });

  test("of the reference can be read", () => {
    for (const formulas of [kOfOps, kOfLayers, kOfDistributions, kOfTools])
      for (const [name, text] of Object.entries(formulas))
        assert.doesNotThrow(() => mathOf(text), name);
  });
});

test("headings skip no level, and keep their looks", () => {
  assert.equal(
    withoutSkips('<h1>a</h1><h4 class="b">c</h4><h5>d</h5><h2>e</h2><h3>f</h3>'),
    '<h1>a</h1><h2 class="level-4 b">c</h2><h3 class="level-5">d</h3><h2>e</h2><h3>f</h3>',
  );
});
