// Compares the results of a device with those of the CPU.

// Functions are accurate to a few units in the last place; formulas and sums of about ten terms in another order add these
// errors. Second derivatives have more such terms, which may cancel.
const kTolerances = [
  { relative: 1e-4, absolute: 2e-5 },
  { relative: 1e-4, absolute: 2e-5 },
  { relative: 2e-3, absolute: 4e-4 },
];

// The rounding steps of half precision. Devices that differ in the last digit of a float32 round to neighbors; derivatives are
// computed from rounded tensors, and may be sums over several paths.
const kHalfSteps = { float16: 2 ** -10, bfloat16: 2 ** -7 };

function toleranceOf(dtype, order, values) {
  if (isExact(dtype)) return { relative: 0, absolute: 0 };
  const step = kHalfSteps[dtype];
  if (step === undefined) return kTolerances[order];
  const largest = Math.max(0, ...Array.from(values, Math.abs).filter(Number.isFinite));
  return { relative: step, absolute: 2 ** -24 + (order > 0 ? 8 * step * largest : 0) };
}

const isExact = (dtype) => !/float|complex/.test(dtype);

/**
 * Returns how two outcomes (of which the values do not matter if they are drawn) differ as { order, text } with the order of the derivative, or -1 for everything; null if they agree.
 */
export function difference(found, right, { areDrawn = false } = {}) {
  if (found.code !== right.code || shapesOf(found) !== shapesOf(right))
    return { order: -1, text: `${describe(found)}, not ${describe(right)}` };
  if (areDrawn) return null;
  for (const [i, array] of (right.arrays ?? []).entries()) {
    const { values } = found.arrays[i];
    const place = differingPlace(values, array);
    if (place < 0) continue;
    const text = `element ${place} of array ${i}: ${values[place]}, not ${array.values[place]}`;
    return { order: array.order, text };
  }
  return null;
}

const shapesOf = ({ arrays = [] }) =>
  arrays.map(({ shape, dtype }) => `${dtype}[${shape}]`).join(" ");

function describe(outcome) {
  const { code, message } = outcome;
  return code === undefined ? shapesOf(outcome) : `${code} (${message})`;
}

function differingPlace(values, { dtype, order, values: rights }) {
  const { relative, absolute } = toleranceOf(dtype, order, rights);
  return rights.findIndex((right, i) => {
    const value = values[i];
    if (value === right || Object.is(value, right)) return false;
    const distance = Math.abs(Number(value) - Number(right));
    return !(distance <= absolute + relative * Math.abs(Number(right)));
  });
}
