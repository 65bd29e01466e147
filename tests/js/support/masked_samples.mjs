// Sample calls of eg.masked, in the form of composite_calls.mjs. The masks leave out the second, or the first element of each row.

const kMask = "I([2, 3], 1).add(1).cumsum(1).ne(2)";
const kRow = "I([3], 1).add(1).cumsum(0).gt(1)";

const reductions = Object.fromEntries(
  ["sum", "prod", "amax", "amin", "logsumexp", "mean", "norm", "var", "std"].map((name) => [
    `masked.${name}`,
    name === "norm"
      ? [`T([2, 3]), 3, 1, {mask: ${kMask}}`, `T([2, 3]), {mask: ${kRow}}`]
      : [`T([2, 3]), 1, {mask: ${kMask}}`, `T([2, 3]), {mask: ${kRow}}`, "T([2, 3]), [0, 1]"],
  ]),
);

const scans = Object.fromEntries(
  ["cumsum", "cumprod", "softmax", "logSoftmax", "softmin"].map((name) => [
    `masked.${name}`,
    [`T([2, 3]), 1, {mask: ${name === "logSoftmax" ? "I([3], 1).eq(0)" : kMask}}`, "T([2, 3]), 0"],
  ]),
);

/** The sample calls by the name of the function. */
export const kMaskedSamples = {
  ...reductions,
  ...scans,
  "masked.argmax": [`T([2, 3]), 1, {mask: ${kMask}}`, `T([2, 3]), {mask: ${kRow}}`],
  "masked.argmin": [`T([2, 3]), 1, {mask: ${kMask}}`, `T([2, 3]), {mask: ${kRow}}`],
  "masked.median": [`T([2, 3]), 1, {mask: ${kMask}}`, "T([3, 3])"],
  "masked.normalize": [`T([2, 3]), 2, 1, {mask: ${kMask}}`],
  "masked.logaddexp": [`T([2, 3]), T([2, 3]), {inputMask: ${kMask}, otherMask: ${kRow}}`],
};
