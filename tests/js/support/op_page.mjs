// docs/ops.md, written from what op_report.mjs found.

import { kRoot } from "./files.mjs";

/** The path of the page. */
export const kOpPage = `${kRoot}docs/ops.md`;

const kIntroduction = `# Ops

Written by \`npm run docs\` from a run of every op on its samples, not from declarations: a dtype stands here when its values agree
with those of the highest precision for the same numbers, a gradient when it agrees with finite differences (or, in single precision,
with the same gradient in double), and a second order when the gradient of the gradient does. A dtype that is missing is refused as
\`DtypeMismatch\`; uint8 and bool are missing too where their own arithmetic, which wraps around and has no differences, gives other
values. *float* is float32 and float64, *complex* is complex64 and complex128, *int* is int32, int64 and uint8; – means that there
is nothing to differentiate.

The dtypes are those of the CPU; [kernels.md](kernels.md) says what the WebGPU device computes itself.
`;

const kGroups = {
  float: ["float32", "float64"],
  complex: ["complex64", "complex128"],
  int: ["int32", "int64", "uint8"],
};

/** Returns the text of the page for the reports of all ops. */
export function opPage(reports) {
  const families = [...new Set(reports.map(({ op }) => op.family))];
  const sections = families.map(
    (family) => `## ${family}\n\n${table(reports.filter(({ op }) => op.family === family))}\n`,
  );
  return [kIntroduction, ...sections].join("\n");
}

function table(reports) {
  const rows = reports.map(({ op, forward, gradient, second }) => [
    `\`${op.js}\``,
    dtypeList(forward),
    gradient ? dtypeList(gradient) : "–",
    second ? dtypeList(second) : "–",
    op.doc.replaceAll("|", "\\|"),
  ]);
  const heads = ["op", "cpu", "gradient", "second order", "what it computes"];
  return [heads, heads.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

// Whole groups go by their name.
function dtypeList(dtypes) {
  const names = Object.entries(kGroups).flatMap(([name, members]) =>
    members.every((member) => dtypes.includes(member))
      ? [name]
      : members.filter((one) => dtypes.includes(one)),
  );
  if (dtypes.includes("bool")) names.push("bool");
  return names.join(", ");
}
