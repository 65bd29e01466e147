// The list of kernels that the WebGPU device supports, from the structs in src/kernels and the
// player's table.

import { readdirSync, readFileSync } from "node:fs";
import { kRoot } from "../../js/support/files.mjs";
import { bundled } from "./bundled.mjs";
import { reasonTable } from "./on_the_cpu.mjs";

const { supported, supportedFormulas, dtypes } = await bundled(`
  export { supported, supportedFormulas } from "./kernels/table";
  export { dtypes } from "./dtype";`);

export { supported };

const kFolder = `${kRoot}src/kernels`;
const kStruct =
  /((?:\/\/\/ .*\n)*)struct \w+ \{\n\s*static constexpr std::string_view name = "(\w+)"/g;

/** Returns every kernel: its name, its header, and the first sentence of its comment. */
export function readKernels() {
  const headers = readdirSync(kFolder).filter((name) => name.endsWith(".h"));
  return headers.sort().flatMap((header) => {
    const text = readFileSync(`${kFolder}/${header}`, "utf8");
    return [...text.matchAll(kStruct)].map(([, comment, name]) => {
      const words = comment.replaceAll("/// ", "").replaceAll("\n", " ").trim();
      return { name, header, about: words.split(/(?<=[.:])\s/)[0].replace(/:$/, ".") };
    });
  });
}

function dtypesOf(name) {
  const support = supported[name];
  if (support === undefined) return "on the CPU";
  const taken = new Set(support.all ?? support.views.flat());
  return dtypes.filter((dtype) => taken.has(dtype)).join(", ");
}

/** Returns the text of the page. */
export function kernelPage() {
  const rows = readKernels().map(
    ({ name, header, about }) => `| \`${name}\` | \`${header}\` | ${dtypesOf(name)} | ${about} |`,
  );
  return `# Kernels

A kernel is a computation that ops request from a device (\`src/kernels\`). The CPU has all kernels, in every
dtype of the op. The column \`webgpu\` lists the dtypes of memory that the WebGPU device supports. In all other cases the CPU computes the
kernel, with copies in both directions and a warning the first time; the last table gives the reasons. For \`elementwise\`, the device
has the formulas of ${supportedFormulas.length} ops, with their gradients.

| kernel | header | webgpu | what it computes |
| --- | --- | --- | --- |
${rows.join("\n")}

## On the CPU

${reasonTable()}
`;
}
