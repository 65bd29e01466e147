// How far a shader may be from the CPU's kernel.
//
// The CPU's words are good to 5 units in the last place, those in WGSL to a few more; formulas add up
// both. What is denormal may be zero on a GPU, also in the middle of a formula: hence the absolute part, the
// least normal number times a factor of that size.

const kUsual = { relative: 1e-5, absolute: 1.2e-38 * 1000 };

const kCrossesZero = { reason: "a sum that is zero between its terms", absolute: 2e-7 };
const kSquares = {
  reason: "squares of small operands are denormal",
  exceptFor: (operands) => operands.some((x) => Math.abs(x) < 1e-17 && x !== 0),
};
const kExponential = {
  reason: "exp(target) is denormal before it is multiplied",
  exceptFor: ([, target]) => target < -87,
};
const kReflection = {
  reason: "below zero it is the difference of sums over all integers and to the left",
  absolute: 4e-6,
};

const kExceptions = {
  forward: {
    logaddexp: kCrossesZero,
    logaddexp2: kCrossesZero,
    kl_error_of_log: kExponential,
    polygamma: kReflection,
  },
  gradient: {
    addcdiv: kSquares,
    atan2: kSquares,
    mish: kCrossesZero,
    kl_error_of_log: kExponential,
    digamma: kReflection,
    polygamma: kReflection,
  },
};

/** What is allowed of element `i`, given the operands; null where nothing is asked. */
export function toleranceOf(name, kind) {
  const exception = kExceptions[kind][name] ?? {};
  return (columns, i) => {
    const operands = columns.map((column) => column[i]);
    return exception.exceptFor?.(operands) ? null : { ...kUsual, ...exception };
  };
}
