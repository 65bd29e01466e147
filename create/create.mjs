#!/usr/bin/env node
// npm create edgegrad@latest: asks what is not given, and writes a project.

import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { kTemplates, Mistake, writeProject } from "./project.mjs";

const kDefaultFolder = "edgegrad-app";
const kNames = Object.keys(kTemplates);

const kHelp = `npm create edgegrad@latest [FOLDER] [-- --template NAME]

Writes a project into a new or empty folder. The templates:

${kNames.map((name) => `  ${name.padEnd(12)}${kTemplates[name].title}`).join("\n")}

What is not given is asked for; without a terminal, the folder is ${kDefaultFolder} and the template ${kNames[0]}.`;

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        template: { type: "string", short: "t" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (positionals.length > 1)
      throw new Error(`One folder is expected; these are ${positionals.length}.`);
    return { ...values, folder: positionals[0] };
  } catch (error) {
    throw new Mistake(`${error.message}\n\n${kHelp}`);
  }
}

/** Asks for the folder and the template that were not given. */
async function ask({ folder, template }) {
  if (!process.stdin.isTTY)
    return { folder: folder ?? kDefaultFolder, template: template ?? kNames[0] };
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and Ctrl-D end the program without a stack.
  let isAnswered = false;
  terminal.on("close", () => {
    if (!isAnswered) process.exit(130);
  });
  const answer = async (question, otherwise) =>
    (await terminal.question(`${question} (${otherwise}): `)).trim() || otherwise;
  const wanted = folder ?? (await answer("Folder", kDefaultFolder));
  const chosen = template ?? (await askForTemplate(answer));
  isAnswered = true;
  terminal.close();
  return { folder: wanted, template: chosen };
}

async function askForTemplate(answer) {
  for (const [i, name] of kNames.entries())
    console.log(`  ${i + 1}  ${name.padEnd(12)}${kTemplates[name].title}`);
  const chosen = await answer("Template, by number or name", "1");
  return kNames[Number(chosen) - 1] ?? chosen;
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(kHelp);
  const { folder, template } = await ask(options);
  writeProject(folder, template);
  const steps = folder === "." ? [] : [`cd ${/\s/.test(folder) ? JSON.stringify(folder) : folder}`];
  steps.push("npm install", `npm run ${kTemplates[template].command}`);
  console.log(`\n${folder} has a project of the template ${template}. What comes next:\n`);
  for (const step of steps) console.log(`  ${step}`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Mistake)) throw error;
  console.error(`create-edgegrad: ${error.message}`);
  process.exitCode = 1;
}
