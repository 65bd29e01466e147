// Operands for which an op has no right result, though the arithmetic behind it could be carried out.

import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kHalves = ["float16", "bfloat16"];
const kWhole = ["bool", "uint8", "int32", "int64"];
const ones = (dtype) => eg.ones([2], { dtype });
const refused = (run, text) => assertThrows(run, "DtypeMismatch", text);

describe("refused dtypes", () => {
  test("a quotient of integers in addcdiv(), for an input of any dtype", () => {
    for (const a of kWhole) {
      for (const b of kWhole) {
        for (const input of ["float32", "float64", ...kHalves, ...kWhole]) {
          refused(
            () => eg.addcdiv(ones(input), ones(a), ones(b)),
            /^\[addcdiv\] tensor1 or tensor2/,
          );
          refused(() => ones(input).addcdiv_(ones(a), ones(b)), /tensor1 or tensor2/);
        }
      }
      assertTensor(eg.addcdiv(ones(a), ones(a), eg.tensor([2, 4])), [1.5, 1.25]);
      assertTensor(eg.addcdiv(ones("float32"), eg.tensor([2, 4]), ones(a)), [3, 5]);
    }
    assertTensor(eg.addcmul(ones("int64"), ones("int64"), ones("int64")), [2, 2]);
  });

  test("booleans where numbers are meant", () => {
    const yes = ones("bool");
    for (const name of ["relu", "relu6"]) refused(() => eg[name](yes), /bool/);
    refused(() => eg.addcmul(yes, yes, yes), /bool/);
    refused(() => eg.nn.functional.prelu(yes, eg.ones([1], { dtype: "bool" })), /bool/);
    for (const dtype of ["float32", "float64", ...kHalves]) {
      refused(() => ones(dtype).sub(yes), /^\[sub\].*logicalNot/);
      refused(() => ones(dtype).sub_(yes), /logicalNot/);
      refused(() => yes.sub(ones(dtype)), /logicalNot/);
    }
  });

  test("a mask that is not bool in maskedFill()", () => {
    for (const dtype of ["uint8", "int64", "float32", "float16"]) {
      for (const input of ["float32", "float16", "int64", "complex64"]) {
        refused(() => eg.maskedFill(ones(input), ones(dtype), 7), /mask must be bool/);
        refused(() => ones(input).maskedFill_(ones(dtype), 7), /mask must be bool/);
      }
    }
    assertTensor(eg.maskedFill(ones("float32"), ones("bool"), 7), [7, 7]);
  });

  test("weights and statistics of norms that are not floating-point", () => {
    const { batchNorm, groupNorm, instanceNorm } = eg.nn.functional;
    const input = eg.tensor([
      [1, 2],
      [3, 5],
    ]);
    for (const dtype of ["bool", "int64", "complex64"]) {
      refused(() => groupNorm(input, 1, ones(dtype)), /weight must be floating-point/);
      refused(() => groupNorm(input, 1, null, ones(dtype)), /bias must be floating-point/);
      const weights = { weight: ones(dtype), training: true };
      refused(() => batchNorm(input, null, null, weights), /weight must be floating-point/);
      const mean = ones(dtype);
      refused(
        () => batchNorm(input, mean, mean, { training: true }),
        /mean must be floating-point/,
      );
      refused(() => instanceNorm(input.unsqueeze(2), mean, mean), /mean must be floating-point/);
    }
  });

  test("losses and similarities", () => {
    const { cosineSimilarity, klDiv, softMarginLoss } = eg.nn.functional;
    for (const dtype of kWhole) {
      refused(() => klDiv(ones("float32"), ones(dtype)), /floating-point/);
      refused(() => klDiv(ones(dtype), ones("float32")), /floating-point/);
    }
    refused(() => cosineSimilarity(ones("complex64"), ones("complex64"), 0), /real/);
    // Labels are not negated in their own dtype.
    const loss = Math.log1p(Math.exp(-1));
    for (const dtype of ["uint8", "int64"]) {
      assertTensor(softMarginLoss(ones("float32"), ones(dtype)), [loss], { rtol: 1e-6 });
    }
  });

  test("orders of polygamma() that are no whole numbers from 0", () => {
    const x = eg.tensor([1, 2]);
    for (const order of [-1, 1.5, Infinity, -3]) {
      for (const dtype of ["float32", "float64", "float16", "int64"]) {
        const wrong = [() => eg.polygamma(order, x.to(dtype)), () => x.to(dtype).polygamma(order)];
        for (const run of wrong) assertThrows(run, "InvalidArgument", /whole number from 0/);
      }
      assertThrows(() => x.clone().polygamma_(order), "InvalidArgument", /whole number from 0/);
    }
    assertTensor(x.polygamma(1), [Math.PI ** 2 / 6, Math.PI ** 2 / 6 - 1], { rtol: 1e-6 });
    assertTensor(eg.polygamma(0, x), [-0.5772156649, 0.4227843351], { rtol: 1e-6 });
  });
});
