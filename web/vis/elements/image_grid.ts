// <eg-image-grid>: the images of a run.

import type { Picture } from "../log/picture.js";
import type { LogRecord } from "../log/record.js";
import { element } from "./dom.js";
import { LogPanel } from "./log_panel.js";
import type { Data } from "./panel.js";

const kStyle = `
.pictures { display: flex; flex-wrap: wrap; gap: 12px; margin: 0; padding: 0; list-style: none; }
.pictures canvas { display: block; inline-size: var(--eg-picture-size, 112px); image-rendering: pixelated; border: 1px solid var(--line); }
.pictures span { color: var(--dim); display: block; max-inline-size: var(--eg-picture-size, 112px); overflow-wrap: anywhere; }
`;

/**
 * Images. Attributes: `tag` (shows all images of one series, oldest first; by default the newest of every series), `run` (by default all),
 * `heading`.
 */
export class ImageGrid extends LogPanel {
  protected readonly kind = "image";

  protected override draw(): string | null {
    const pictures = this.#pictures();
    if (pictures.length === 0) return "No pictures yet";
    const items = pictures.map(({ name, record }) =>
      element("li", {}, canvasOf(record.value, name), element("span", {}, name)),
    );
    this.area.replaceChildren(element("ul", { class: "pictures" }, ...items));
    return null;
  }

  protected override data(): Data {
    const rows = this.#pictures().map(({ record: { tag, step, value }, run }) => [
      ...[tag, run, String(step), `${value.width} × ${value.height}`],
    ]);
    return { titles: ["Series", "Run", "Step", "Size"], rows };
  }

  protected override defaultHeading(): string {
    return this.host.getAttribute("tag") ?? "";
  }

  protected override moreStyle(): string {
    return kStyle;
  }

  #pictures(): { name: string; run: string; record: LogRecord<"image"> }[] {
    const [tag, only] = [this.host.getAttribute("tag"), this.host.getAttribute("run")];
    const runs = this.log?.runs.filter(({ name }) => only === null || name === only) ?? [];
    return runs.flatMap((run) =>
      run.tags("image").flatMap((label) => {
        if (tag !== null && label !== tag) return [];
        const records = run.records("image", label);
        return (tag === null ? records.slice(-1) : records).map((record) => {
          const parts = [runs.length > 1 ? run.name : "", tag === null ? label : ""];
          const name = [...parts.filter((part) => part !== ""), `step ${record.step}`].join(", ");
          return { name, run: run.name, record };
        });
      }),
    );
  }
}

function canvasOf({ width, height, channels, data }: Picture, label: string): HTMLCanvasElement {
  const canvas = element("canvas", { width, height, role: "img", "aria-label": label });
  const pixels = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    for (let channel = 0; channel < 3; channel++)
      pixels.data[4 * i + channel] = data[i * channels + (channels === 1 ? 0 : channel)] as number;
    pixels.data[4 * i + 3] = channels === 4 ? (data[4 * i + 3] as number) : 255;
  }
  canvas.getContext("2d")?.putImageData(pixels, 0, 0);
  return canvas;
}
