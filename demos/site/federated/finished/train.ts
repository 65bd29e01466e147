// What the page opens with: the rounds of a run (npm run site:finished).

import { readSet } from "../../digits/shards.mjs";
import { Federation, type Round } from "../federation.js";

const kRounds = 100;

/** Returns the files by name. */
export async function train(): Promise<Record<string, string>> {
  const federation = new Federation();
  federation.use([readSet("train")], readSet("t10k"));
  const rounds: Round[] = [];
  const choice = { rounds: kRounds, isSecure: false, isCompressed: false };
  await federation.run(choice, (round) => rounds.push(structuredClone(round)));
  console.log(`  together ${rounds.at(-1)?.together}`);
  return { "run.json": JSON.stringify(rounds) };
}
