// Splits a module into a core, which a page downloads before it can train, and further parts. README.md explains how.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { kFeatures, orderFunctions } from "../building/function_order.mjs";
import {
  elementSection,
  importSection,
  kFuncref,
  kSection,
  kTableKind,
  ModuleReader,
} from "../building/wasm_module.mjs";
import { checkPatterns } from "../patterns.mjs";
import { quiet } from "../process.mjs";
import { codeOf, shortName } from "./code.mjs";
import { constantsOf, dataSection, withoutConstants } from "./constants.mjs";
import { LinkedModule } from "./linked_module.mjs";
import { shortenNames } from "./names.mjs";
import { kConv, kCore, kNeeds, kPartNames, kRequests, kRest, kShared } from "./parts.mjs";
import { profile } from "./profile.mjs";
import { originsOf, plainName, reachableFrom } from "./reachable.mjs";
import { withStubs } from "./stubs.mjs";

// Functions of the C library, which have plain names. A thread calls them to wait while another one initializes a static variable: only if
// both need it at the same moment. They hold a lock.
const kGuards = ["Libcpp", "InitByte", "GuardObject"].map(
  (name) => new RegExp(`^__cxxabiv1::\\(anonymous namespace\\)::${name}`),
);
const isOfLibrary = (name) => /^\w+$/.test(name) || kGuards.some((guard) => guard.test(name));
/**
 * The code that loads parts must be in the core: these functions with everything that they call, and the functions of the C library that a
 * thread needs to request a part or to start another thread. Loading allocates memory, so no part may be needed while a lock of the
 * allocator (src/base/heap) is held.
 */
const kLoading = [
  "eg::bindings::request_part",
  "eg::detail::load_shared_parts",
  "eg::pool_\\w+",
  "eg::Heap::[^(]*",
  "eg::PageHeap::[^(]*",
  "eg::Slabs::[^(]*",
  "eg::\\(anonymous namespace\\)::SystemArena::[^(]*",
  "operator new",
  "operator delete",
].map((name) => new RegExp(`^${name}\\(`));
const isLoading = (name) => kLoading.some((pattern) => pattern.test(name));

/**
 * Splits `module` (with the names of its functions) into parts, which it writes to `fileOf(part)`; `linked` is the same module
 * before optimization, and `tools` the folder of Binaryen. All are paths.
 */
export async function split({ module, linked, fileOf, tools, variant }) {
  const scratch = (name) => join(dirname(module), `split-${name}`);
  const run = (tool, ...options) => quiet(join(tools, tool), [...kFeatures, ...options]);
  const order = (from, to) => orderFunctions(from, to, join(tools, "wasm-opt"));
  const bytes = readFileSync(module);
  const whole = new ModuleReader(bytes);
  const numbersOf = async (module) => {
    const code = await codeOf(module, join(tools, "wasm-dis"), scratch("code.wasm"));
    return code.flatMap((block) => [...block.numbers]);
  };

  const allNames = whole.functions.map(({ name }) => name);
  // Without threads, there is less to load and to guard.
  if (variant !== "single") checkPatterns([...kGuards, ...kLoading], allNames, module);
  const instrumented = scratch("instrumented.wasm");
  await run("wasm-split", "--instrument", "--in-memory", module, "-o", instrumented);
  const named = scratch("named.wasm");
  const code = await codeOf(bytes, join(tools, "wasm-dis"), named);
  const parts = await partsOf(whole, code, (programs) =>
    profile(instrumented, variant, whole.functions.length, programs),
  );
  const functions = whole.functions.map(({ name }, i) => ({ name, part: parts[i], ...code[i] }));
  const linkedModule = new LinkedModule(readFileSync(linked));
  addLambdas(functions, linkedModule);

  // The constants to which the parts that are loaded before the rest refer.
  const constants = constantsOf(whole, linkedModule);
  const reachable = new Map(
    [kCore, ...kPartNames]
      .filter((part) => part !== kRest)
      .map((part) => [part, reachableFrom(part, linkedModule, functions, constants.address)]),
  );

  const coreNames = new Set(
    functions.flatMap((body, i) => (body.part === kCore ? shortName(i) : [])),
  );
  const isCore = ({ name }) => coreNames.has(name);
  // Each step takes one part out of what remains, so the last one leaves the core.
  const modules = new Map();
  let remaining = named;
  for (const part of kPartNames.toReversed()) {
    const [others, own, list] = [`without-${part}.wasm`, `${part}.wasm`, "functions.txt"].map(
      scratch,
    );
    const names = functions.flatMap((body, i) => (body.part === part ? shortName(i) : []));
    writeFileSync(list, `${names.join("\n")}\n`);
    await run(
      "wasm-split",
      ...["--split", "-g", remaining, "--split-funcs", `@${list}`, "--no-placeholders"],
      ...["--import-namespace", kCore, "--export-prefix", "", "-o1", others, "-o2", own],
    );
    modules.set(part, new ModuleReader(readFileSync(own)));
    writeFileSync(others, withoutEmptySlots(readFileSync(others), isCore));
    remaining = others;
  }
  const core = readFileSync(remaining);

  const isInCore = reachable.get(kCore).isReachable;
  for (const [part, partModule] of modules) {
    const needed = reachable.get(part)?.isReachable;
    const data = dataSection(constants, (at) => !isInCore[at] && (needed?.[at] ?? true));
    const file = scratch(`${part}.wasm`);
    const imports = withTableOfAnySize(partModule);
    const changes = { name: null, [kSection.data]: data, [kSection.import]: imports };
    writeFileSync(file, partModule.with(changes));
    await order(file, fileOf(part));
  }

  // The rest is loaded after all other parts, so it calls them without stubs.
  const numbers = await numbersOf(core);
  for (const [part, { bytes }] of modules)
    if (part !== kRest) numbers.push(...(await numbersOf(bytes)));
  const slots = new Set([
    ...numbers,
    ...[...reachable.values()].flatMap((code) => [...code.slots]),
  ]);
  const owned = withOwnSlots(core, modules);
  const constant = withoutConstants(owned, constants, isInCore);
  const coreFile = scratch("core.wasm");
  writeFileSync(coreFile, withStubs(constant, stubsFor(modules, slots)));
  await order(coreFile, fileOf(kCore));
  shortenNames(fileOf(kCore), kPartNames.map(fileOf));
}

/** Returns the part of each function. */
async function partsOf({ functions }, code, ranIn) {
  const inRequests = await ranIn(kRequests);
  const needs = [];
  for (const { programs, parts } of kNeeds) {
    const own = parts.at(-1) ?? kCore;
    const others = parts.filter((part) => part !== own && part !== kShared);
    needs.push({ own, others, ran: await ranIn(programs) });
  }
  const needing = functions.map(({ name }, index) => {
    if (isLoading(name) || (inRequests[index] !== 0 && isOfLibrary(name))) return [kCore];
    const found = needs.filter(({ ran }) => ran[index] !== 0);
    const isHad = ({ others }) => found.some(({ own }) => others.includes(own));
    return found.filter((need) => !isHad(need)).map(({ own }) => own);
  });

  // Which instances of a template over sizes run depends on the sizes, so all instances go where one of them is needed.
  const families = new Map();
  const familyOf = ({ name }) => name.replace(/\b\d+(?:ul)?\b/g, "#");
  functions.forEach((body, index) => {
    const family = familyOf(body);
    families.set(family, [...(families.get(family) ?? []), ...needing[index]]);
  });
  const parts = functions.map((body) => sharedPart(families.get(familyOf(body))));

  const follow = (index, isFollowed) => {
    for (const callee of code[index].calls.keys()) {
      if (parts[callee] === kCore || !isFollowed(functions[callee].name)) continue;
      parts[callee] = kCore;
      follow(callee, isFollowed);
    }
  };
  const inCore = (isFrom) =>
    [...parts.keys()].filter((index) => parts[index] === kCore && isFrom(functions[index].name));
  for (const index of inCore(isLoading)) follow(index, () => true);
  // Which functions of the C library run depends on values, so all that the core calls are in the core.
  for (const index of inCore(() => true)) follow(index, isOfLibrary);
  return parts;
}

// Whether a lambda runs may depend on sizes, such as that of a parallel loop, so it goes to the part of the function that passes it on.
function addLambdas(functions, linked) {
  const ofName = new Map();
  for (const body of functions.filter(({ name }) => name.includes("'lambda")))
    ofName.set(plainName(body.name), [...(ofName.get(plainName(body.name)) ?? []), body]);
  const needing = new Map();
  for (const part of [kCore, ...kPartNames].filter((name) => name !== kRest)) {
    for (const index of originsOf(part, linked, functions)) {
      for (const pointer of linked.references[index].pointers) {
        // Negative indices are imports.
        const name = linked.module.functions[pointer]?.name ?? "";
        for (const lambda of ofName.get(plainName(name)) ?? [])
          needing.set(lambda, [...(needing.get(lambda) ?? []), part]);
      }
    }
  }
  for (const [lambda, parts] of needing)
    lambda.part = sharedPart(lambda.part === kRest ? parts : [lambda.part, ...parts]);
}

/** Returns the part for a function that all these parts need. */
function sharedPart(needing) {
  const all = new Set(needing);
  if (all.has(kCore) || (all.size > 1 && all.has(kConv))) return kCore;
  return all.size > 1 ? kShared : ([...all][0] ?? kRest);
}

/** Returns the stubs that the core needs: for the slots with functions of other parts. */
function stubsFor(modules, slots) {
  return [...modules].flatMap(([part, module]) => {
    const types = module.types();
    return [...module.table()]
      .filter(([slot]) => slots.has(slot))
      .map(([slot, index]) => {
        const { type } = module.functions[index - module.importedFunctions];
        return { slot, part: kPartNames.indexOf(part), type: types[type] };
      });
  });
}

// Binaryen needs a table without gaps. Any function can fill them, because the slots of parts get their contents at the end.
function withoutEmptySlots(bytes, isCore) {
  const module = new ModuleReader(bytes);
  const filler = module.importedFunctions + module.functions.findIndex(isCore);
  const table = module.table();
  const size = module.tableSize();
  for (let slot = 1; slot < size; ++slot) if (!table.has(slot)) table.set(slot, filler);
  return module.with({ [kSection.element]: elementSection(table) });
}

// Parts that are split off later enlarge the table. Returns the section of imports.
function withTableOfAnySize(module) {
  return importSection(module, (entry) =>
    entry.kind === kTableKind ? { ...entry, description: [kFuncref, 0, 0] } : entry,
  );
}

// Returns the core with only its own functions in the table.
function withOwnSlots(bytes, modules) {
  const module = new ModuleReader(bytes);
  const table = module.table();
  for (const part of modules.values()) for (const slot of part.table().keys()) table.delete(slot);
  return module.with({ [kSection.element]: elementSection(table) });
}
