// The confusion matrix, as an HTML table so that screen readers can read it cell by cell.

export class ConfusionTable {
  readonly #cells: HTMLTableCellElement[] = [];

  constructor(element: HTMLElement) {
    const table = document.createElement("table");
    table.className = "confusion";
    table.createCaption().textContent =
      "Test digits by their label (rows) and prediction (columns)";
    const head = table.createTHead().insertRow();
    head.append(document.createElement("td"), ...kDigits.map((digit) => heading(digit, "col")));
    const body = table.createTBody();
    for (const digit of kDigits) {
      const row = body.insertRow();
      row.append(heading(digit, "row"));
      for (const _ of kDigits) this.#cells.push(row.insertCell());
    }
    element.append(table);
  }

  /** Shows counts, row by row. */
  show(counts: readonly number[]): void {
    this.#cells.forEach((cell, i) => {
      const row = Math.floor(i / 10);
      const count = counts[i] ?? 0;
      const sum = counts.slice(row * 10, row * 10 + 10).reduce((a, b) => a + b, 0);
      const isRight = i % 11 === 0;
      // Errors are rare and need a larger scale to be visible.
      const share = Math.min(1, (isRight ? 0.5 : 4) * (count / Math.max(1, sum)));
      cell.textContent = count === 0 ? "" : String(count);
      cell.style.setProperty("--cell", isRight ? "var(--good)" : "var(--bad)");
      cell.style.setProperty("--share", `${Math.round(60 * share)}%`);
    });
  }
}

const kDigits = Array.from({ length: 10 }, (_, digit) => digit);

function heading(digit: number, scope: string): HTMLTableCellElement {
  const cell = document.createElement("th");
  cell.scope = scope;
  cell.textContent = String(digit);
  return cell;
}
