// What the CPU computes in the device's place: the player's own list.

import { bundled } from "./bundled.mjs";

const { kOnTheCpu } = await bundled(`export { kOnTheCpu } from "./kernels/on_the_cpu";`);

/** The reason for a kernel that the device lacks; undefined where there is none. */
export const reasonOf = (kernel) =>
  kOnTheCpu.find(({ kernels }) => kernels.includes(kernel))?.reason;

/** All reasons as a table. */
export function reasonTable() {
  const rows = kOnTheCpu.map(({ kernels, reason }) => {
    const names = kernels.map((kernel) => `\`${kernel}\``).join(", ");
    return `| ${names} | ${reason} |`;
  });
  return ["| kernel | why on the CPU |", "| --- | --- |", ...rows].join("\n");
}
