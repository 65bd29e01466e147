// What visitors take home of a demo: a link, one HTML file, a component of React, weights, and a project.

import { button, copyButton, element, paragraph } from "../elements.js";
import { download } from "../files.js";
import { errorText } from "../printed.js";
import type { Program } from "./program.js";
import { linkTo } from "./state_link.js";
import "./take_home.css";

/** What a demo has to give; what is missing has no button. */
export interface Goods {
  /** The name of files. */
  readonly name: () => string;
  /** The state for a link, which stateOfLink() returns when it is opened. */
  readonly state?: () => Promise<unknown>;
  /** The weights as a safetensors file. */
  readonly weights?: () => Promise<Uint8Array>;
  /** The model as an ONNX file. */
  readonly onnx?: () => Promise<Uint8Array>;
  readonly program?: () => Program;
}

/** Fills a card with the buttons. */
export function offerToTakeHome(card: HTMLElement, goods: Goods): void {
  const { name, state, weights, onnx, program } = goods;
  const note = paragraph("", "hint");
  note.setAttribute("role", "status");
  const controls = element("div", "", "controls");
  const offer = (text: string, give: () => Promise<string>) => {
    const made = button(text, { press: () => void deliver(made, note, give) });
    controls.append(made);
  };
  if (state !== undefined)
    controls.append(copyButton(async () => linkTo(await state()), "Copy a link"));
  const file = (ending: string, bytes: Uint8Array) => {
    download(`${name()}${ending}`, bytes);
    return `${name()}${ending}, ${sizeText(bytes.length)}.`;
  };
  if (program !== undefined && weights !== undefined) {
    offer("One HTML file", async () => {
      const { oneFile } = await import("./one_file.js");
      const text = await oneFile(program(), await weights());
      return `${file(".html", utf8(text))} It runs alone, from a disk too.`;
    });
    offer("Download as a project", async () => {
      const { projectZip } = await import("./project.js");
      return `${file(".zip", projectZip(program(), await weights()))} What npm create edgegrad makes, with src/model.js and its weights.`;
    });
    offer("React component", async () => {
      const { reactComponent } = await import("./react_component.js");
      return `${file(".tsx", utf8(reactComponent(program())))} Put model.js and weights.safetensors of the project beside it.`;
    });
  }
  if (weights !== undefined) {
    offer("Weights (safetensors)", async () => file(".safetensors", await weights()));
  }
  if (onnx !== undefined) offer("Model (ONNX)", async () => file(".onnx", await onnx()));
  const title = element("h2", "Take it home");
  title.id = "take-home-title";
  card.setAttribute("aria-labelledby", title.id);
  card.replaceChildren(title, controls, note);
}

async function deliver(
  made: HTMLButtonElement,
  note: HTMLElement,
  give: () => Promise<string>,
): Promise<void> {
  made.disabled = true;
  note.textContent = "One moment …";
  try {
    note.textContent = await give();
  } catch (error) {
    note.textContent = `This did not work. ${errorText(error)}`;
  } finally {
    made.disabled = false;
  }
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
