// The formula of a function or class, as MathML: written by hand in plain notation, or of the expression in src/formulas.

import { formulas } from "../sources.mjs";
import { kOfDistributions } from "./distributions.mjs";
import { kOfLayers } from "./layers.mjs";
import { mathOf } from "./notation.mjs";
import { kOfOps } from "./ops.mjs";
import { kOfTools } from "./tools.mjs";

const kOfSources = formulas();

const kByHand = {
  ...kOfOps,
  ...kOfLayers,
  ...kOfTools,
  ...Object.fromEntries(
    Object.entries(kOfDistributions).map(([name, formula]) => [`distributions.${name}`, formula]),
  ),
};

// Namespaces that have functions of the root again.
const kSameFunctions = /^(masked|linalg|special|sparse|fft)\./;

/** Returns the formula of a name; `base` is it without nn.functional and "_", `computes` the function that a layer calls. Null if there is none. */
export function formulaOf(name, base, computes, op) {
  const names = [name, base, base.replace(kSameFunctions, ""), computes, layerOf(name)];
  const found = names.find((one) => Object.hasOwn(kByHand, one));
  if (found !== undefined) return mathOf(kByHand[found]);
  const ofSource = kOfSources.get(op?.name);
  return ofSource === undefined
    ? null
    : read(`y = (${ofSource.forward})`.replace(/^y = \(([^=<>]*)\)$/, "y = $1"));
}

// nn.Dropout2d for nn.functional.dropout2d.
function layerOf(name) {
  return name.replace(/^nn\.functional\.(.)/, (_, first) => `nn.${first.toUpperCase()}`);
}

/** Returns the gradients of an elementwise op with respect to its operands, whose own gradient is g. */
export function gradientsOf(op) {
  const byHand = kGradients[op.js];
  if (byHand !== undefined) return [mathOf(byHand)];
  return (kOfSources.get(op.name)?.gradients ?? []).map(read).filter(Boolean);
}

// Those whose sources call functions of their own.
const kGradients = {
  elu: "where(x > 0, g, g * alpha * exp(x))",
  selu: "1.0507 * where(x > 0, g, 1.6733 * g * exp(x))",
  celu: "where(x > 0, g, g * exp(x / alpha))",
  mish: "g * (tanh(s) + x * sigma(x) * (1 - tanh(s)^2)), s = log(1 + exp(x))",
  gelu: "g * (Phi(x) + x / sqrt(2 * pi) * exp(-x^2 / 2))",
  gammainc: "g * x^{a-1} * exp(-x) / Gamma(a)",
  gammaincc: "-g * x^{a-1} * exp(-x) / Gamma(a)",
};

// The constants of C++.
const kConstants = [
  [/std::numbers::ln(\d+)/g, "log($1)"],
  [/std::numbers::inv_sqrtpi/g, "(1 / sqrt(pi))"],
  [/std::numbers::sqrt2/g, "sqrt(2)"],
  [/std::numbers::log2e/g, "(1 / log(2))"],
  [/detail::one_minus_square\(x\)/g, "(1 - x^2)"],
];

// Null if C++ is no expression of the notation.
function read(expression) {
  const plain = kConstants.reduce((text, [from, to]) => text.replaceAll(from, to), expression);
  try {
    return mathOf(plain);
  } catch {
    return null;
  }
}
