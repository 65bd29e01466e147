// A device of the table.

import { percent } from "./percent.js";

/** A device's row of the table. */
export class DeviceRow {
  readonly #alone = document.createElement("td");
  readonly #rounds = document.createElement("td");
  readonly #online = document.createElement("input");
  readonly #name: string;
  #counted = 0;

  constructor(
    table: HTMLElement,
    index: number,
    digits: string,
    toggle: (isOnline: boolean) => void,
  ) {
    this.#name = `device-${index + 1}`;
    const row = document.createElement("tr");
    row.id = this.#name;
    const [name, own, online] = [0, 1, 2].map(() => document.createElement("td"));
    if (name) name.textContent = String(index + 1);
    if (own) own.textContent = digits;
    this.#online.type = "checkbox";
    this.#online.checked = true;
    this.#online.disabled = true;
    this.#online.setAttribute("aria-label", `device ${index + 1} is online`);
    this.#online.addEventListener("change", () => toggle(this.#online.checked));
    online?.append(this.#online);
    row.append(
      ...[name, own, this.#alone, this.#rounds, online].filter((part) => part !== undefined),
    );
    table.append(row);
  }

  /** A run begins. */
  begin(): void {
    this.#counted = 0;
    this.#online.checked = true;
    this.#online.disabled = false;
  }

  /** Shows a round: what this device's own model recognizes, and whether it has taken part. */
  show(alone: number, clients: readonly string[]): void {
    if (clients.includes(this.#name)) this.#counted++;
    this.#alone.textContent = percent(alone);
    this.#rounds.textContent = String(this.#counted);
  }

  /** The run has ended. */
  end(): void {
    this.#online.disabled = true;
  }
}
