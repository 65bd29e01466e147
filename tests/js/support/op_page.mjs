// The list of ops, from the results of op_report.mjs and from what the device was found to support.

import { aliases } from "./composite_samples.mjs";

const kIntroduction = `# Ops

This list is the outcome of running every op on samples, and relies on no declarations. A dtype is listed if the values agree with
those computed in the highest precision from the same numbers; a gradient, if it agrees with finite differences (or, in single precision,
with the gradient in double); a second order, if the gradient of the gradient does. An op given a dtype that is not listed throws
\`DtypeMismatch\`, except that uint8 and bool are also missing where their arithmetic gives other values, because it wraps around or has no
differences. *float* is float32 and float64, *complex* is complex64 and complex128, *int* is int32, int64 and uint8; – means that there is
nothing to differentiate. An op that supports float32 also supports float16 and bfloat16, and computes them in float32; one that
supports int32 also supports int8 and int16, and computes them in int32.
`;

const kAboutDevice = `The columns *cpu*, *gradient* and *second order* describe the CPU. The column *webgpu* was measured on the device: it lists the dtypes whose
values equal the CPU's, in single precision; ′ means that the gradient does too, ″ the gradient of the gradient as well. *on the CPU* means
that the results are the same, but that the device lacks a kernel, which the CPU computes with copies in both directions; the
[last table](#on-the-cpu) gives the reasons. [Kernels](kernels.md) lists all kernels.
`;

const kWithoutDevice = `The columns describe the CPU: there was no WebGPU device on the machine that ran the ops. [Kernels](kernels.md) lists what a device
computes.
`;

const kAboutNames = `[Ops made of ops](#ops-made-of-ops) are only functions, not methods of tensors, so a bundle contains only those that are imported. On a device
they run the ops that they consist of. [Other names](#other-names) are aliases of ops.
`;

const kGroups = {
  float: ["float32", "float64"],
  complex: ["complex64", "complex128"],
  int: ["int32", "int64", "uint8"],
};

/**
 * Returns the text of the page for the reports of all ops. `device` has what the device supports, { cells, onTheCpu }: a cell for each op,
 * and the table of kernels that it lacks; null without a device.
 */
export function opPage(reports, device) {
  const families = [...new Set(reports.map(({ op }) => op.family))];
  const sections = families.map(
    (family) => `## ${family}\n\n${table(ofFamily(reports, family), device?.cells ?? {})}\n`,
  );
  return [
    kIntroduction,
    device ? kAboutDevice : kWithoutDevice,
    kAboutNames,
    ...sections,
    kOtherNames,
    ...(device ? [`## On the CPU\n\n${device.onTheCpu}\n`] : []),
  ].join("\n");
}

const kOtherNames = `## Other names

${aliases.map(({ alias, js }) => `\`${alias}\` is \`${js}\``).join(", ")}.
`;

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
