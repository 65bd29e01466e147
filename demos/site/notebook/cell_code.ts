// Cells are modules of their own that share their variables: what a cell declares is there for the later ones, and its last expression is
// printed. The text keeps its lines, so that errors name the right one.

import { javascriptLanguage } from "@codemirror/lang-javascript";

type SyntaxNode = ReturnType<typeof javascriptLanguage.parser.parse>["topNode"];

const kShared = "edgegradCells";

/** A cell as a module, and the names that it declares. */
export interface CellModule {
  readonly code: string;
  readonly names: readonly string[];
}

/** Returns the module of a cell; `earlier` are the names of the cells that ran before. */
export function cellModule(text: string, earlier: readonly string[]): CellModule {
  const statements = childrenOf(javascriptLanguage.parser.parse(text).topNode);
  const names = [...new Set(statements.flatMap((node) => declaredIn(node, text)))];
  const taken = earlier.filter((name) => !names.includes(name) && uses(text, name));
  const before = taken.length === 0 ? "" : `let { ${taken.join(", ")} } = globalThis.${kShared}; `;
  const kept = [...names, ...taken].join(", ");
  const after = `\nglobalThis.${kShared} = { ...globalThis.${kShared}, ${kept} };\n`;
  return { code: before + withLastPrinted(text, statements) + after, names };
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

const kInner = ["Block", "ArrowFunction", "FunctionExpression", "ClassBody", "ParamList"];

// The names that a statement of a module declares, also by patterns, but not those inside of functions.
function declaredIn(node: SyntaxNode, text: string): string[] {
  if (!/^(Variable|Function|Class|Import)Declaration$/.test(node.name)) return [];
  const found: string[] = [];
  const visit = (at: SyntaxNode): void => {
    if (at.name === "VariableDefinition" || at.name === "PatternProperty") {
      const name = at.name === "VariableDefinition" ? at : at.getChild("PropertyName");
      const isShort = at.name === "PatternProperty" && at.getChild(":") === null;
      if (name !== null && (at.name === "VariableDefinition" || isShort))
        found.push(text.slice(name.from, name.to));
    }
    for (const child of childrenOf(at)) if (!kInner.includes(child.name)) visit(child);
  };
  visit(node);
  return found;
}

function uses(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w$.])${name.replaceAll("$", "\\$")}(?![\\w$])`).test(text);
}

function withLastPrinted(text: string, statements: readonly SyntaxNode[]): string {
  const last = statements.filter(({ name }) => !name.includes("Comment")).at(-1);
  if (last?.name !== "ExpressionStatement") return text;
  const expression = text.slice(last.from, last.to).replace(/;\s*$/, "");
  if (/^(await\s+)?console\./.test(expression)) return text;
  const printed = `{ const value = (${expression}); if (value !== undefined) console.log(value); }`;
  return text.slice(0, last.from) + printed + text.slice(last.to);
}
