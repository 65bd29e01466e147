// How much the results of a shader may differ from those of the CPU's kernel.
//
// The functions on both sides are accurate to a few units in the last place (2^-24), and formulas add these errors. A GPU may
// flush denormal numbers to zero, also in the middle of a formula; the absolute tolerance covers that: it is the smallest normal
// number times a factor of ordinary size.

const kUsual = { relative: 2e-6, absolute: 1.2e-38 * 1000 };

const kCrossesZero = { reason: "a sum that is zero between its terms", absolute: 3e-7 };
const kLastDigits = { reason: "tanh(x) takes all but the last digits of x away", absolute: 3e-7 };
const kReflection = {
  reason: "below zero the difference of numbers that are large beside it",
  absolute: 4e-6,
};
const kTailOfErfcx = {
  reason:
    "x erfcx(x) is all but the limit that is taken away, and erfcx(x) denormal where x is huge",
  absolute: 3e-7,
  exceptFor: ([x]) => x > 1e37,
};
const kGammaPower = {
  reason: "exp(-x) x^a / gamma(a) is the exponential of a sum of large numbers",
  relative: 3e-5,
};
const kGammaDensity = {
  ...kGammaPower,
  exceptFor: ([a]) => Math.abs(a) > 50,
};
const kSquares = {
  reason: "squares of small operands are denormal",
  exceptFor: (operands) => operands.some((x) => Math.abs(x) < 1e-17 && x !== 0),
};
const kExponential = {
  reason: "exp(target) is denormal before it is multiplied",
  exceptFor: ([, target]) => target < -87,
};

const kExceptions = {
  forward: {
    logaddexp: kCrossesZero,
    logaddexp2: kCrossesZero,
    binary_cross_entropy_with_logits_error: kCrossesZero,
    lgamma: kReflection,
    digamma: kReflection,
    polygamma: kReflection,
    gammainc: kGammaPower,
    gammaincc: kGammaPower,
    kl_error: kCrossesZero,
    kl_error_of_log: kExponential,
    tanhshrink: kLastDigits,
  },
  gradient: {
    sinc: kCrossesZero,
    erfcx: kTailOfErfcx,
    i0e: kCrossesZero,
    i1e: kCrossesZero,
    mish: kCrossesZero,
    silu: kCrossesZero,
    gelu: kCrossesZero,
    hardswish: kCrossesZero,
    binary_cross_entropy_error: kCrossesZero,
    binary_cross_entropy_with_logits_error: kCrossesZero,
    lgamma: kReflection,
    digamma: kReflection,
    polygamma: kReflection,
    gammainc: kGammaDensity,
    gammaincc: kGammaDensity,
    addcdiv: kSquares,
    atan2: kSquares,
    kl_error: kCrossesZero,
    kl_error_of_log: kExponential,
  },
};

/** Returns the tolerance for element `i`, given the operands; null if any result is accepted. */
export function toleranceOf(name, kind) {
  const exception = kExceptions[kind][name] ?? {};
  return (columns, i) => {
    const operands = columns.map((column) => column[i]);
    return exception.exceptFor?.(operands) ? null : { ...kUsual, ...exception };
  };
}
