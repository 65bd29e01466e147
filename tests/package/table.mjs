// What came out of the rows: a table for the terminal and one for README.md.

/** Returns the line of a row for the terminal. */
export function lineOf({ id, group, title, version, works, reason, seconds }) {
  const answer = works ? "yes" : "no ";
  const time = `${seconds.toFixed(1)} s`.padStart(8);
  const name = [group, version, title].filter(Boolean).join(" · ");
  return `  ${answer} ${time}  ${id.padEnd(40)} ${name}${reason ? ` (${reason})` : ""}`;
}

/** Returns README.md's table, a line for every group. */
export function readmeTable(results) {
  const groups = [...new Set(results.map(({ group }) => group))];
  const lines = groups.map((group) => {
    const rows = results.filter((row) => row.group === group);
    const versions = unique(rows.map(({ version }) => version)).join(", ");
    return `| ${group} | ${versions} | ${whatWorks(rows)} |\n`;
  });
  return `| | versions | what works |\n|---|---|---|\n${lines.join("")}`;
}

function whatWorks(rows) {
  const works = unique(rows.filter((row) => row.works).map(({ title }) => title)).join(", ");
  const exceptions = rows
    .filter((row) => !row.works)
    .map(({ title, version, reason }) => `; not ${title} in ${version}: ${reason}`);
  return works + exceptions.join("");
}

function unique(list) {
  return [...new Set(list)];
}
