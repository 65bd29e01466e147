// The kernels that the CPU computes for the device: the player's own list.

import { bundled } from "./bundled.mjs";

const { kOnTheCpu } = await bundled(`export { kOnTheCpu } from "./kernels/on_the_cpu";`);

/** Returns the reason why the device lacks a kernel, or undefined if it has it. */
export const reasonOf = (kernel) =>
  kOnTheCpu.find(({ kernels }) => kernels.includes(kernel))?.reason;

/** Returns the kernels whose reason matches. */
export const kernelsWithReason = (pattern) =>
  kOnTheCpu.filter(({ reason }) => pattern.test(reason)).flatMap(({ kernels }) => kernels);

/** Returns all reasons as a table. */
export function reasonTable() {
  const rows = kOnTheCpu.map(({ kernels, reason }) => {
    const names = kernels.map((kernel) => `\`${kernel}\``).join(", ");
    return `| ${names} | ${reason} |`;
  });
  return ["| kernel | why on the CPU |", "| --- | --- |", ...rows].join("\n");
}
