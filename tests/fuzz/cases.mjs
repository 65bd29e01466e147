// A case: a short program, determined by a seed and a number, which is run and checked.

import { collectGarbageOnce } from "../js/support/collect_garbage.mjs";
import { fileCall } from "./files.mjs";
import { opCall } from "./op_calls.mjs";
import { hasGrown, held, Problem, problemOfError, textOfHeld } from "./oracle.mjs";
import { Program } from "./program.mjs";
import { Random } from "./random.mjs";
import { recipe } from "./recipe_calls.mjs";
import { membersOf, surfaceCall, surfaceOf } from "./surface.mjs";
import { newTensor } from "./tensors.mjs";

// `isDisposed`: the memory of a call is freed only by dispose() on its results.
const kKinds = {
  ops: { weight: 9, isAsync: false, build: ops },
  dispose: { weight: 2, isAsync: false, isDisposed: true, build: ops },
  recipes: { weight: 5, isAsync: true, build: recipes },
  surface: { weight: 2, isAsync: true, build: surface },
  files: { weight: 2, isAsync: true, build: files },
};

/** The names of the kinds of cases. */
export const kKindNames = Object.keys(kKinds);

/** Runs cases and programs on a running engine. */
export class Runner {
  #eg;
  #canaries;
  #options;
  #surface;

  constructor(eg, canaries, options = {}) {
    this.#eg = eg;
    this.#canaries = canaries;
    this.#options = options;
    this.#surface = { functions: surfaceOf(eg), ...membersOf(eg) };
  }

  /** Runs a case; resolves to { kind, program }, where the program holds its problem, if any. */
  async runCase(seed, number, only = kKindNames) {
    const random = new Random(seed, number);
    const kinds = this.#options.faults?.kinds ?? kKinds;
    const unknown = only.find((kind) => kinds[kind] === undefined);
    if (unknown !== undefined)
      throw new Error(`unknown kind of case "${unknown}"; expected one of ${kKindNames}`);
    const name = random.weighted(only.map((kind) => [kinds[kind].weight, kind]));
    const kind = kinds[name];
    this.#eg.manualSeed(number);
    const build = (program) => kind.build(random, program, this.#surface);
    return { kind: name, program: await this.#run(kind, build) };
  }

  /** Runs given lines in the same way as a case of a kind. */
  async runLines(name, lines, number = 0) {
    this.#eg.manualSeed(number);
    const replay = async (program) => {
      for (const { text, mayChange } of lines) {
        if (text.startsWith("await ")) await program.runAsync(text, { mayChange });
        else program.run(text, { mayChange });
        if (program.problem?.isFatal) return;
      }
    };
    return this.#run({ ...kKinds[name], isAsync: true, build: replay }, replay);
  }

  async #run(kind, build) {
    const eg = this.#eg;
    const before = held(eg);
    const program = new Program(eg, { isScoped: kind.isDisposed, ...this.#options });
    try {
      if (kind.isDisposed) await build(program);
      else if (kind.isAsync) await eg.scope(async () => program.end(await build(program)));
      else eg.scope(() => program.end(build(program)));
      if (program.problem?.isFatal) return program;
      program.end();
      program.problem ??= this.#canaries.problem();
      program.problem ??= await leakSince(eg, before, kind);
    } catch (error) {
      // Reading and freeing results must always work.
      program.problem ??= problemOfError(eg, error) ?? new Problem("broken engine", String(error));
      program.problem.isFatal = true;
    }
    return program;
  }
}

// What a finalizer frees may have been all that kept something else alive.
const kCollections = 10;

// Tensors of layers and optimizers are freed by the garbage collector; those of plain calls are not.
async function leakSince(eg, before, { isDisposed }) {
  const isLeft = () => hasGrown(before, held(eg));
  for (let round = 0; !isDisposed && round < kCollections && isLeft(); round++) {
    await collectGarbageOnce();
  }
  if (!isLeft()) return null;
  return new Problem("leak", `${textOfHeld(before)}, then ${textOfHeld(held(eg))}`);
}

function addTensors(random, program) {
  for (let i = 1 + random.int(3); i > 0; i--) program.make(newTensor(random));
}

function ops(random, program) {
  addTensors(random, program);
  for (let i = 2 + random.int(6); i > 0 && program.problem === null; i--) {
    const { length } = program.tensors;
    opCall(random, program);
    if (program.tensors.length > length && random.chance(0.25)) differentiate(random, program);
  }
}

function differentiate(random, program) {
  const result = program.tensors.at(-1);
  const tensor = `${result}${random.chance(0.5) ? ".abs()" : ""}.sum()`;
  const root = program.isScoped ? result : tensor;
  // backward() is not called with createGraph: a leaf and its gradient would then reference each other, as in PyTorch.
  const calls = [
    `${root}.backward(${random.pick(["", "null, { retainGraph: true }"])})`,
    `eg.autograd.grad(${root}, ${random.pick(program.tensors)}, { createGraph: ${random.chance(0.5)} })`,
    `${result}.dispose()`,
  ];
  program.run(random.pick(calls), { mayChange: true });
}

async function recipes(random, program) {
  addTensors(random, program);
  for (let i = 1 + random.int(2); i > 0 && program.problem === null; i--) {
    await recipe(random, program);
  }
}

async function surface(random, program, found) {
  addTensors(random, program);
  for (let i = 2 + random.int(6); i > 0 && program.problem === null; i--) {
    await surfaceCall(random, program, found);
  }
}

async function files(random, program) {
  for (let i = 10; i > 0 && program.problem === null; i--) await fileCall(random, program);
}
