// Writes docs/ops.md from the results of op_report.mjs.

import { aliases } from "./composite_samples.mjs";
import { kRoot } from "./files.mjs";

/** The path of the page. */
export const kOpPage = `${kRoot}docs/ops.md`;

const kIntroduction = `# Ops

Written by \`npm run docs\` from a run of every op on its samples, not from declarations: a dtype stands here when its values agree
with those of the highest precision for the same numbers, a gradient when it agrees with finite differences (or, in single precision,
with the same gradient in double), and a second order when the gradient of the gradient does. A dtype that is missing is refused as
\`DtypeMismatch\`; uint8 and bool are missing too where their own arithmetic, which wraps around and has no differences, gives other
values. *float* is float32 and float64, *complex* is complex64 and complex128, *int* is int32, int64 and uint8; – means that there
is nothing to differentiate. An op that takes float32 takes float16 and bfloat16 too, which it computes in float32.

The columns *cpu*, *gradient* and *second order* are those of the CPU. The column *webgpu* was made on the device: dtypes whose values are
the CPU's, with ′ where the gradient is too and ″ where the gradient of the gradient is as well, in single precision. What stands there
as *on the CPU* gives the same, but a kernel that the device lacks is computed on the CPU, with copies there and back; the
[last table](#on-the-cpu) says why. [kernels.md](kernels.md) has all kernels.

[Ops made of ops](#ops-made-of-ops) are functions alone, not methods of tensors, so that a bundle has those that are imported; on a device
they do what their parts do there. [Other names](#other-names) are the same functions as the ops.
`;

const kGroups = {
  float: ["float32", "float64"],
  complex: ["complex64", "complex128"],
  int: ["int32", "int64", "uint8"],
};

/** Returns the text of the page for the reports of all ops, the device's support by op, and the table of unsupported ops. */
export function opPage(reports, { cells, onTheCpu }) {
  const families = [...new Set(reports.map(({ op }) => op.family))];
  const sections = families.map(
    (family) => `## ${family}\n\n${table(ofFamily(reports, family), cells)}\n`,
  );
  return [kIntroduction, ...sections, kOtherNames, `${kLastHead}${onTheCpu}\n`].join("\n");
}

/** Reads the information about the device from a page: { cells, onTheCpu }, as opPage() takes it. */
export function deviceParts(page) {
  const rows = page.matchAll(/^\| `(\w+)` \|(?:[^|\n]*\|){3} ([^|\n]*) \|(?=.*\|$)/gm);
  const cells = Object.fromEntries([...rows].map(([, op, cell]) => [op, cell]));
  return { cells, onTheCpu: page.split(kLastHead)[1]?.trimEnd() ?? "" };
}

const kOtherNames = `## Other names

${aliases.map(({ alias, js }) => `\`${alias}\` is \`${js}\``).join(", ")}.
`;

const kLastHead = "## On the CPU\n\n";

const ofFamily = (reports, family) => reports.filter(({ op }) => op.family === family);

function table(reports, cells) {
  const hasDevice = reports.some(({ op }) => op.js in cells);
  const rows = reports.map(({ op, forward, gradient, second }) => [
    `\`${op.js}\``,
    dtypeList(forward),
    gradient ? dtypeList(gradient) : "–",
    second ? dtypeList(second) : "–",
    ...(hasDevice ? [cells[op.js] ?? "–"] : []),
    op.doc.replaceAll("|", "\\|"),
  ]);
  const device = hasDevice ? ["webgpu"] : [];
  const heads = ["op", "cpu", "gradient", "second order", ...device, "what it computes"];
  return [heads, heads.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

// Complete groups are listed by their name.
function dtypeList(dtypes) {
  const names = Object.entries(kGroups).flatMap(([name, members]) =>
    members.every((member) => dtypes.includes(member))
      ? [name]
      : members.filter((one) => dtypes.includes(one)),
  );
  if (dtypes.includes("bool")) names.push("bool");
  return names.join(", ");
}
