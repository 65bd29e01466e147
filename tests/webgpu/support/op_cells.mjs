// The column `webgpu` of the list of ops, from what the laws found on the device.

const kInts = ["int32", "int64", "uint8"];
const kMarks = ["", "′", "″"];

/** Returns the cell of an op: dtypes grouped by who computes them, marked with the orders of derivatives that agree. */
export function deviceCell({ dtypes }) {
  const agreeing = Object.entries(dtypes).filter(([, { orders }]) => orders >= 0);
  const own = agreeing.filter(([, { fallbacks }]) => fallbacks.length === 0);
  const others = agreeing.filter(([, { fallbacks }]) => fallbacks.length > 0);
  const parts = [];
  if (own.length > 0) parts.push(names(own));
  if (others.length > 0) parts.push(`on the CPU: ${names(others)}${kernelsOf(others)}`);
  return parts.join("; ") || "–";
}

function names(entries) {
  const dtypes = entries.map(([dtype]) => dtype);
  const isWhole = kInts.every((dtype) => dtypes.includes(dtype));
  return entries
    .filter(([dtype]) => !isWhole || !kInts.slice(1).includes(dtype))
    .map(([dtype, { orders }]) => (isWhole && dtype === kInts[0] ? "int" : dtype + kMarks[orders]))
    .join(", ");
}

function kernelsOf(entries) {
  const lacking = entries.flatMap(([, { fallbacks }]) =>
    fallbacks.map(({ kernel }) => `\`${kernel}\``),
  );
  return ` (${[...new Set(lacking)].sort().join(", ")})`;
}
