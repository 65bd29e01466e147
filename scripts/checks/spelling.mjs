// The spelling of words is American, in code, comments, messages and docs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot, read } from "../process.mjs";

/** Beginnings and parts of British words, and how American English writes them. */
const kWords = {
  analyse: "analyze",
  behaviour: "behavior",
  cancelled: "canceled",
  cancelling: "canceling",
  catalogue: "catalog",
  centred: "centered",
  centre: "center",
  centring: "centering",
  colour: "color",
  favour: "favor",
  generalis: "generaliz",
  grey: "gray",
  honour: "honor",
  initialis: "initializ",
  labelled: "labeled",
  labelling: "labeling",
  licence: "license",
  maximis: "maximiz",
  minimis: "minimiz",
  modelled: "modeled",
  modelling: "modeling",
  neighbour: "neighbor",
  normalis: "normaliz",
  optimis: "optimiz",
  organis: "organiz",
  quantis: "quantiz",
  recognis: "recogniz",
  serialis: "serializ",
  specialis: "specializ",
  summaris: "summariz",
  synchronis: "synchroniz",
  tokenis: "tokeniz",
  travell: "travel",
  utilis: "utiliz",
  visualis: "visualiz",
};

// "optimistic", "specialist" and the like are the same in both, aria-labelledby is a name of HTML, and AnalyserNode one of Web Audio.
const kPattern = new RegExp(`(${Object.keys(kWords).join("|")})(?!t|by|rNode)`, "gi");
const kText = /\.(css|cpp|h|html|js|json|md|mjs|py|s|ts|tsx|txt|vue|svelte|yml)$/;
/** Texts of others, data, and names that PyTorch's tests have. */
const kOthers =
  /(^|\/)(package-lock\.json|THIRD_PARTY_NOTICES\.md|LICENSE)$|^demos\/char_model\/\w+\.txt$|^tests\/(golden|pytorch\/expected)\/|^tests\/js\/project\/spelling\.test\.mjs$|^scripts\/checks\/spelling\.mjs$/;

const inCaseOf = (found, word) => {
  if (found === found.toUpperCase()) return word.toUpperCase();
  return found[0] === found[0].toUpperCase() ? word[0].toUpperCase() + word.slice(1) : word;
};

/** Returns a text with its words spelled the American way. */
export const spelled = (text) =>
  text.replace(kPattern, (found) => inCaseOf(found, kWords[found.toLowerCase()]));

/** Returns the tracked files whose spelling is checked, relative to the checkout. */
export function spelledFiles() {
  const names = read("git", ["-C", kRoot, "ls-files"]).split("\n");
  return names.filter((name) => kText.test(name) && !kOthers.test(name));
}

/** Returns one line per word in another spelling. */
export function findSpellingErrors(files = spelledFiles(), folder = kRoot) {
  return files.flatMap((file) =>
    readFileSync(join(folder, file), "utf8")
      .split("\n")
      .flatMap((line, i) =>
        [...line.matchAll(kPattern)].map(
          ([found]) =>
            `${file}:${i + 1}: ${found} is ${inCaseOf(found, kWords[found.toLowerCase()])}`,
        ),
      ),
  );
}
