// The tables of README.md and the guide: edgegrad and its peers as they were last measured together.

import { comparison } from "../../../tests/bench/report/tables.mjs";
import results from "../../../tests/bench/results.json";
import { byId } from "../shared/frame.js";

const kTitles = { speed: "On the CPU", "speed on WebGPU": "On WebGPU" };

/** Shows the tables. */
export function showComparisons(): void {
  const cards = Object.entries(kTitles).map(([name, title]) => {
    const { measured, header, rows } = comparison(name, results);
    const card = document.createElement("section");
    card.className = "card wide";
    const heading = document.createElement("h2");
    heading.textContent = title;
    const frame = document.createElement("section");
    frame.className = "scroll figures";
    frame.setAttribute("aria-label", `Table: ${title}`);
    frame.tabIndex = 0;
    const table = document.createElement("table");
    table.createTHead().append(rowOf(header, "col"));
    table.createTBody().append(...rows.map((row: string[]) => rowOf(row)));
    frame.append(table);
    const source = document.createElement("p");
    source.className = "hint";
    source.textContent = `Measured ${measured}.`;
    card.append(heading, frame, source);
    return card;
  });
  byId("comparisons").replaceChildren(...cards);
}

// The first cell is the head of a row; `all` makes every cell a head.
function rowOf(texts: readonly string[], all?: "col"): HTMLTableRowElement {
  const row = document.createElement("tr");
  row.append(
    ...texts.map((text, i) => {
      const isHead = text !== "" && (all !== undefined || i === 0);
      const cell = document.createElement(isHead ? "th" : "td");
      if (isHead) cell.setAttribute("scope", all ?? "row");
      cell.textContent = text.replaceAll("`", "");
      return cell;
    }),
  );
  return row;
}
