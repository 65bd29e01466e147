// The page that tells what a server sends.

import { fastestVariant } from "../../../web/src/runtime/start/builds.js";
import { byId } from "../shared/frame.js";
import { type Finding, findingsOf } from "./findings.js";
import { request, Unanswered } from "./request.js";

const kMarks = { good: "✓", better: "○", bad: "✗", hidden: "?" };
const kNames = { good: "right", better: "could be better", bad: "wrong", hidden: "hidden" };

// The addresses of the engine's files, whatever their number.
const kWasm = import.meta.glob<string>("../../../dist/wasm/*.wasm", {
  query: "?url",
  import: "default",
  eager: true,
});

const form = byId<HTMLFormElement>("form");
const address = byId<HTMLInputElement>("address");

/** The page, its script, and the files of the engine that this browser loads. */
function ownAddresses(): URL[] {
  const own = `edgegrad-${fastestVariant()}.`;
  const files = Object.entries(kWasm).filter(([path]) => path.includes(own));
  const relative = [location.href, import.meta.url, ...files.map(([, url]) => url)];
  return relative.map((path) => new URL(path, document.baseURI));
}

async function check(urls: readonly URL[]): Promise<void> {
  const controls = form.querySelectorAll("button");
  for (const button of controls) button.disabled = true;
  byId("state").textContent = "Asking the server …";
  byId("answers").replaceChildren();
  try {
    for (const url of urls) byId("answers").append(await answerCard(url));
    byId("state").textContent = "";
  } finally {
    for (const button of controls) button.disabled = false;
  }
}

async function answerCard(url: URL): Promise<HTMLElement> {
  const card = element("section", "");
  card.className = "card wide answer";
  card.append(element("h2", url.href));
  try {
    const list = element("ul", "");
    list.className = "findings";
    list.append(...findingsOf(await request(url)).map(item));
    card.append(list);
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    card.append(element("p", error.message));
  }
  const command = element("p", "On the command line: ");
  command.className = "hint command";
  command.append(element("code", `curl -sI --compressed '${url.href}'`));
  card.append(command);
  return card;
}

function item({ verdict, text }: Finding): HTMLElement {
  const line = element("li", "");
  const mark = element("span", kMarks[verdict]);
  mark.dataset.verdict = verdict;
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", kNames[verdict]);
  line.append(mark, element("span", text));
  return line;
}

function element(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

/** Returns what a visitor has entered as an address, or a sentence that says what is wrong with it. */
function parse(text: string): URL | string {
  const whole = /^[a-z]+:/i.test(text) ? text : `https://${text}`;
  if (text === "" || !URL.canParse(whole)) return `"${text}" is no address.`;
  const url = new URL(whole);
  if (!/^https?:$/.test(url.protocol)) return `${url.protocol} addresses cannot be requested.`;
  const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && location.protocol === "https:" && !isLocal)
    return "A page that came by https: cannot request an address with http:.";
  return url;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const url = parse(address.value.trim());
  if (url instanceof URL) return void check([url]);
  byId("answers").replaceChildren();
  byId("state").textContent = url;
});
byId("site").addEventListener("click", () => void check(ownAddresses()));

address.value = new URL("../", document.baseURI).href;
void check(ownAddresses());
