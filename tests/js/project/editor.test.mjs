// What editors show of the package, by the language service of the last TypeScript that is written in JavaScript: the parameters of
// constructors and of composites, by position and by name.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import ts from "typescript-5.9";
import { kRoot } from "../support/files.mjs";

const kFile = join(kRoot, "tests", "js", "types", "in_an_editor.ts");

// The program is shown to the compiler, but is no file.
let text = "";
let version = 0;
const service = ts.createLanguageService({
  getScriptFileNames: () => [kFile],
  getScriptVersion: (name) => (name === kFile ? String(version) : "1"),
  getScriptSnapshot: (name) => {
    const content = name === kFile ? text : ts.sys.readFile(name);
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
  },
  getCurrentDirectory: () => kRoot,
  getCompilationSettings: () => ({
    strict: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.es2022.d.ts"],
    types: [],
  }),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
});

const kStart = 'import * as eg from "edgegrad";\nconst x = eg.ones([2]);\n';

/** Shows a call to the service; returns what it says at the name of the class or function, and about the parameters. */
function shown(call) {
  const isClass = /\.[A-Z]\w*\(/.test(call);
  text = `${kStart}${isClass ? "new " : ""}${call};\n`;
  version++;
  const errors = service.getSemanticDiagnostics(kFile);
  assert.deepEqual(
    errors.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
    [],
  );
  const paren = text.indexOf("(", kStart.length);
  const info = service.getQuickInfoAtPosition(kFile, paren - 1);
  const help = service.getSignatureHelpItems(kFile, paren + 1, undefined);
  return {
    hover: plain(ts.displayPartsToString(info.displayParts)),
    documentation: ts.displayPartsToString(info.documentation),
    forms: help.items.map(({ parameters }) =>
      parameters.map(({ displayParts }) => plain(ts.displayPartsToString(displayParts))).join(", "),
    ),
    options: (name) => optionOf(name),
  };
}

// The sentence of an option, as completion shows it.
function optionOf(name) {
  const at = text.indexOf("{", kStart.length) + 1;
  const details = service.getCompletionEntryDetails(kFile, at, name, {}, undefined, {}, undefined);
  return ts.displayPartsToString(details?.documentation);
}

const plain = (shownText) =>
  shownText
    .replaceAll(/import\("[^"]*"\)\.|\beg\.(?:\w+\.)*|\s*\(alias\)\s*/g, "")
    .replaceAll(/\s+/g, " ");

describe("editors show", () => {
  test("the settings of an optimizer by name", () => {
    const { hover, documentation, options } = shown("eg.optim.Adam([x], { lr: 0.1 })");
    assert.match(
      hover,
      /^new Adam\(params: Params<AdamSettings>, options\?: Partial<AdamSettings>/,
    );
    assert.match(documentation, /^Adam: steps scaled by running averages/);
    assert.match(options("weightDecay"), /^The strength of weight decay/);
  });

  test("the settings of an optimizer by position, and both", () => {
    const positions =
      "params: Params<AdamSettings>, lr?: number | undefined, betas?: readonly [number, number] | undefined, eps?: number | undefined";
    assert.ok(shown("eg.optim.Adam([x], 0.1)").hover.startsWith(`new Adam(${positions}, `));
    const { forms } = shown("eg.optim.Adam([x], 0.1, { eps: 1 })");
    assert.ok(
      forms.some((form) => form.startsWith(positions)),
      forms.join("\n"),
    );
    const mixed =
      "params: Params<AdamSettings>, lr: number | undefined, options: Partial<AdamSettings>";
    assert.ok(forms.includes(mixed), forms.join("\n"));
  });

  test("the arguments of a layer that is made from its declaration", () => {
    assert.match(
      shown("eg.nn.Dropout(0.5)").hover,
      /^new Dropout\(p\?: number \| undefined, inplace\?: /,
    );
    assert.match(
      shown("eg.nn.Conv2d(1, 2, 3)").hover,
      /kernelSize: Ints, stride\?: Ints \| undefined, padding\?: /,
    );
    const loss = shown('eg.nn.HuberLoss({ reduction: "sum" })');
    assert.match(loss.hover, /options\?: \{ .*delta\?: number/);
    assert.match(loss.options("delta"), /^The difference below which the loss is squared/);
    assert.match(
      shown('eg.nn.HuberLoss("sum")').hover,
      /^(?:new|constructor) HuberLoss\(reduction\?: .*, delta\?: number/,
    );
  });

  test("the arguments of a distribution, a sampler and a schedule", () => {
    assert.match(
      shown("eg.distributions.Normal(0, 1)").hover,
      /^new Normal\(loc: Parameter, scale: Parameter, validateArgs\?: /,
    );
    assert.match(
      shown("eg.data.RandomSampler([1, 2])").hover,
      /dataSource: Sized, replacement\?: boolean/,
    );
    assert.match(
      shown("eg.optim.lrScheduler.ExponentialLR(new eg.optim.SGD([x]), 0.1)").hover,
      /optimizer: ScheduledOptimizer, gamma: number, lastEpoch\?: /,
    );
    const { hover, options } = shown(
      "eg.optim.lrScheduler.StepLR(new eg.optim.SGD([x]), { stepSize: 1 })",
    );
    assert.match(hover, /^(?:new|constructor) StepLR\(optimizer: ScheduledOptimizer, options: /);
    assert.match(options("gamma"), /^The factor; default 0.1/);
    assert.match(options("lastEpoch"), /^The last epoch that has been run/);
  });

  test("the parameters of a composite, by position and by name", () => {
    const positions = "input: Tensor, nFft: number, hopLength?: number | null | undefined";
    const byPosition = shown("eg.stft(x, 4)");
    assert.match(byPosition.documentation, /^The short-time Fourier transform/);
    assert.ok(byPosition.hover.includes(`(${positions}, winLength?: `), byPosition.hover);
    const named = shown("eg.stft(x, 4, { center: false })");
    assert.match(
      named.hover,
      /\(input: Tensor, nFft: number, options\?: \{ center\?: boolean; hopLength\?: number \| null; /,
    );
    const mixed = "input: Tensor, nFft: number, hopLength: number | null | undefined, options: { ";
    assert.ok(
      named.forms.some((form) => form.startsWith(mixed) && form.includes("winLength?: ")),
      named.forms.join("\n"),
    );
    assert.match(
      shown("eg.hannWindow(4, { periodic: false })").hover,
      /\(windowLength: number, options\?: \(?TensorOptions & \{ periodic\?: boolean; \}/,
    );
  });

  test("for every composite, the same names by position and in its options", () => {
    text = kStart;
    version++;
    const program = service.getProgram();
    const checker = program.getTypeChecker();
    const [entry] = program.getSourceFile(kFile).statements;
    const module = checker.getSymbolAtLocation(entry.moduleSpecifier);
    const wrong = [];
    let count = 0;
    for (const [name, type] of compositesOf(checker, module)) {
      const forms = type.getCallSignatures().map((form) => form.getParameters());
      const positions = forms[0].map((parameter) => parameter.name);
      for (const form of forms.slice(1)) {
        if (form.at(-1)?.name !== "options") continue;
        const options = checker.getTypeOfSymbol(form.at(-1)).getNonNullableType();
        const names = options.getProperties().map((option) => option.name);
        const expected = positions.slice(form.length - 1).filter((one) => one !== "options");
        const own = names.filter((one) => expected.includes(one) || !kFactoryOptions.has(one));
        count++;
        if (own.toSorted().join() !== expected.toSorted().join())
          wrong.push(`${name}: ${expected} by position, ${own} in options`);
      }
    }
    assert.ok(count > 100, `${count} forms`);
    assert.deepEqual(wrong, []);
  });

  test("the parameters of every constructor, and the name of each", () => {
    text = kStart;
    version++;
    const program = service.getProgram();
    const checker = program.getTypeChecker();
    const [entry] = program.getSourceFile(kFile).statements;
    const wrong = [];
    let count = 0;
    for (const [name, type] of classesOf(
      checker,
      checker.getSymbolAtLocation(entry.moduleSpecifier),
    )) {
      const forms = type.getConstructSignatures().map((form) => parametersOf(checker, form));
      if (forms.length > 0) count++;
      // A form of positions and options after them may be one of several.
      const readable = forms.filter((form) => !/\.\.\.\w+: (?:\[.*\] \||[A-Z]\w*<)/.test(form));
      const hasNames = forms.every((form) => !/\b(?:argument|args_\d+|given_\d+)\b/.test(form));
      if (forms.length > 0 && (readable.length < Math.min(2, forms.length) || !hasNames))
        wrong.push(`${name}: ${forms.join("\n  ")}`);
    }
    assert.ok(count > 250, `${count} classes`);
    assert.deepEqual(wrong, []);
  });
});

// What a factory adds to the options of its composite.
const kFactoryOptions = new Set(["dtype", "device", "requiresGrad"]);

/** Yields the composites of a module and of its namespaces whose arguments can be given by position and by name. */
function* compositesOf(checker, module) {
  for (const [name, symbol] of valuesOf(checker, module)) {
    const { valueDeclaration } = symbol;
    const file = valueDeclaration?.getSourceFile().fileName;
    if (!/\/composites\//.test(file) || !ts.isVariableDeclaration(valueDeclaration)) continue;
    const type = checker.getTypeOfSymbolAtLocation(symbol, valueDeclaration);
    // The others have types of their own: their results, or which arguments may be given by position, depend on the call.
    if (type.isIntersection()) yield [name, type];
  }
}

/** Yields the classes of a module and of its namespaces. */
function* classesOf(checker, module) {
  for (const [name, symbol] of valuesOf(checker, module))
    if (symbol.flags & ts.SymbolFlags.Class)
      yield [name, checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration)];
}

function* valuesOf(checker, module, seen = new Set()) {
  for (const one of checker.getExportsOfModule(module)) {
    const symbol = one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one;
    if (seen.has(symbol)) continue;
    seen.add(symbol);
    if (symbol.flags & ts.SymbolFlags.ValueModule) yield* valuesOf(checker, symbol, seen);
    else yield [one.name, symbol];
  }
}

function parametersOf(checker, form) {
  const flags =
    ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;
  return checker.signatureToString(form, undefined, flags, ts.SignatureKind.Construct);
}
