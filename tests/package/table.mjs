// Formats the results of the rows: a line for the terminal, and the guide's table of what works.

/** Returns the line of a row for the terminal. */
export function lineOf({ id, group, title }, { version, works, reason, seconds }) {
  const answer = works ? "yes" : "no ";
  const time = `${seconds.toFixed(1)} s`.padStart(8);
  return `  ${answer} ${time}  ${id.padEnd(34)} ${group} ${version}: ${title}${reason ? ` (${reason})` : ""}`;
}

/** Returns the guide's table, with a line for every group of rows that have a result. */
export function workingTable(rows, results) {
  const resultOf = (row) => results.find(({ id }) => id === row.id);
  const all = rows.filter(resultOf).map((row) => ({ ...row, ...resultOf(row) }));
  const groups = [...new Set(all.map(({ group }) => group))];
  const lines = groups.map((group) => {
    const own = all.filter((row) => row.group === group);
    const versions = unique(own.map(({ version }) => version)).join(", ");
    return `| ${group} | ${versions} | ${whatWorks(own)} |\n`;
  });
  return `| | versions | what works |\n|---|---|---|\n${lines.join("")}`;
}

function whatWorks(rows) {
  const works = unique(rows.filter((row) => row.works).map(({ title }) => title)).join(", ");
  const exceptions = rows
    .filter((row) => !row.works)
    .map(({ title, version, reason }) => `not ${title} in ${version}: ${reason ?? "it fails"}`);
  return [works, ...exceptions].filter(Boolean).join("; ");
}

function unique(list) {
  return [...new Set(list)];
}
