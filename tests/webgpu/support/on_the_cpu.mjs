// What the CPU computes in the device's place: the player's own list.

import { bundled } from "./bundled.mjs";

const { kOnTheCpu } = await bundled(`export { kOnTheCpu } from "./kernels/on_the_cpu";`);

/** The entry for a kernel that fell back, of operands of `dtype`; undefined where nothing excuses it. */
export function excuseOf({ kernel, dtypes }, dtype) {
  return kOnTheCpu.find(
    (entry) => entry.kernels?.includes(kernel) || [...dtypes, dtype].includes(entry.dtype),
  );
}

/** The reason for a kernel that the device lacks altogether. */
export const reasonOf = (kernel) =>
  kOnTheCpu.find(({ kernels }) => kernels?.includes(kernel))?.reason;

/** All reasons as a table. */
export function reasonTable() {
  const rows = kOnTheCpu.map(({ kernels, dtype, reason }) => {
    const what = kernels?.map((kernel) => `\`${kernel}\``).join(", ") ?? dtype;
    return `| ${what} | ${reason} |`;
  });
  return ["| kernel or dtype | why on the CPU |", "| --- | --- |", ...rows].join("\n");
}
