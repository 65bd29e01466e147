// What the headers of an answer mean for a page that trains.

import { kIsolation } from "../../../scripts/isolation.mjs";
import type { Answer } from "./request.js";

/** Something about an answer: right, to be improved, wrong, or hidden from this page. */
export interface Finding {
  readonly verdict: "good" | "better" | "bad" | "hidden";
  readonly text: string;
}

type Kind = "page" | "script" | "wasm" | "other";

const kTypes: Record<Exclude<Kind, "other">, RegExp> = {
  page: /^text\/html\b/,
  script: /^(?:text|application)\/javascript\b/,
  wasm: /^application\/wasm\b/,
};
const kExpected = { page: "text/html", script: "text/javascript", wasm: "application/wasm" };
const kExtensions: Record<string, Kind> = { js: "script", mjs: "script", wasm: "wasm" };

// Smaller files gain nothing from compression.
const kSmall = 1000;
const kDay = 86_400;

/** Returns the findings, the most important first. */
export function findingsOf(answer: Answer): Finding[] {
  if (answer.status !== 200)
    return [{ verdict: "bad", text: `The server answers with status ${answer.status}.` }];
  const kind = kindOf(answer);
  const type = typeFinding(answer, kind);
  // A page in place of another file: nothing else about it matters.
  if (type.verdict === "bad" && isPage(answer)) return [type];
  return [
    type,
    compressionFinding(answer),
    ...isolationFindings(answer, kind),
    cachingFinding(answer, kind),
  ];
}

function kindOf({ url, header }: Answer): Kind {
  const extension = /\.(\w+)$/.exec(url.pathname)?.[1] ?? "";
  const known = kExtensions[extension];
  if (known !== undefined) return known;
  const type = header("Content-Type") ?? "";
  const kinds = Object.entries(kTypes) as [Exclude<Kind, "other">, RegExp][];
  return kinds.find(([, pattern]) => pattern.test(type))?.[0] ?? "other";
}

function isPage({ header }: Answer): boolean {
  return kTypes.page.test(header("Content-Type") ?? "");
}

function typeFinding(answer: Answer, kind: Kind): Finding {
  const type = answer.header("Content-Type");
  const text = `Content-Type: ${type ?? "none"}`;
  if (kind === "other" || kTypes[kind].test(type ?? "")) return { verdict: "good", text };
  const expected = `Expected ${kExpected[kind]}.`;
  if (isPage(answer))
    return {
      verdict: "bad",
      text: `${text}. ${expected} A web page came instead: the file is not there, and the server sends its start page for unknown addresses.`,
    };
  if (kind === "wasm")
    return {
      verdict: "bad",
      text: `${text}. ${expected} Browsers then compile only after the download instead of during it.`,
    };
  return { verdict: "bad", text: `${text}. ${expected} Browsers refuse modules of other types.` };
}

function compressionFinding(answer: Answer): Finding {
  const { bytes, sent, isSameOrigin } = answer;
  const size = `${kilobytes(bytes.length)} kB`;
  const onNetwork = sent === null ? size : `${kilobytes(sent)} of ${size} are sent`;
  const coding = answer.header("Content-Encoding");
  if (coding !== null) {
    const isBest = /br|zstd/.test(coding);
    const advice = isBest ? "" : ". Brotli (br) would make the engine a fifth smaller";
    return {
      verdict: isBest ? "good" : "better",
      text: `Content-Encoding: ${coding}, ${onNetwork}${advice}.`,
    };
  }
  if (!isSameOrigin && (sent === null || sent < bytes.length)) {
    const seen = sent === null ? "" : `, but it is compressed: ${onNetwork}`;
    return {
      verdict: sent === null ? "hidden" : "good",
      text: `Content-Encoding is hidden from other origins${seen}.`,
    };
  }
  if (bytes.length < kSmall)
    return { verdict: "good", text: `Not compressed, ${size}: it is small.` };
  return {
    verdict: "bad",
    text: `Not compressed: ${size} are sent. With gzip it would be about a third; npx edgegrad-compress dist makes .br and .gz files.`,
  };
}

// Pages need both headers; scripts of workers the second one. Other files need none on the same origin.
function isolationFindings(answer: Answer, kind: Kind): Finding[] {
  const all = Object.entries(kIsolation);
  const needed = kind === "page" ? all : kind === "script" ? all.slice(1) : [];
  return needed.map(([name, wanted]) => {
    const value = answer.header(name);
    if (value === null && !answer.isSameOrigin)
      return { verdict: "hidden", text: `${name} is hidden from other origins.` };
    const isRight =
      value === wanted || (name.endsWith("Embedder-Policy") && value === "credentialless");
    if (isRight) return { verdict: "good", text: `${name}: ${value}` };
    const lost =
      kind === "page"
        ? "Without it the page has one thread."
        : "Without it browsers refuse the script as a worker of an isolated page.";
    return { verdict: "bad", text: `${name}: ${value ?? "none"}. Expected ${wanted}. ${lost}` };
  });
}

function cachingFinding(answer: Answer, kind: Kind): Finding {
  const value = answer.header("Cache-Control");
  const text = `Cache-Control: ${value ?? "none"}`;
  const age = Number(/max-age=(\d+)/.exec(value ?? "")?.[1] ?? 0);
  if (/no-store/.test(value ?? ""))
    return { verdict: "bad", text: `${text}. Every visit downloads the file again.` };
  if (kind === "page") {
    if (age <= kDay) return { verdict: "good", text };
    return { verdict: "bad", text: `${text}. Visitors keep an old page for long after an update.` };
  }
  if (age >= kDay) return { verdict: "good", text };
  return {
    verdict: "better",
    text: `${text}. Browsers ask again at each visit. A file whose name changes with its content can have max-age=31536000, immutable.`,
  };
}

function kilobytes(bytes: number): string {
  return (bytes / 1000).toLocaleString("en", { maximumFractionDigits: bytes < 10_000 ? 1 : 0 });
}
