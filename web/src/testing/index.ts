// eg.testing: comparisons for tests.

export { type AssertCloseOptions, assertClose } from "./assert_close.js";
export { tensorsAreEqual } from "./tensors_are_equal.js";
