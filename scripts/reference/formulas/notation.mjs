// Formulas in plain notation, such as "1 / n * sum_i((x_i - t_i)^2)", as MathML, which browsers show without a library. The expressions of
// src/formulas are read by the same grammar.
//
//   a_i, a_{i j}, x[n, c]    indices                      a / b, a^b, sqrt(a), abs(a)   fraction, power, root, magnitude
//   sum_i(a), sum(i=1, n, a)  sums; so prod, int, max, min  where(c, a, b)               a case for each condition
//   norm(a), norm(a, p)       norms                        floor, ceil, hat, bar, tilde, conj
//   "words"                   text                         a; b                          formulas one below the other

// Names and signs, by turns.
const kSigns =
  "alpha α beta β gamma γ delta δ epsilon ε eps ε zeta ζ eta η theta θ kappa κ lambda λ lambd λ mu μ nu ν xi ξ pi π rho ρ " +
  "sigma σ tau τ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Sigma Σ Phi Φ Psi Ψ Omega Ω inf ∞ Infinity ∞ grad ∇";
const kNames = Object.fromEntries(
  [...kSigns.matchAll(/(\w+) (\S+)/g)].map(([, name, sign]) => [name, sign]),
);

const kOperators = {
  "<=": "≤",
  ">=": "≥",
  "==": "=",
  "!=": "≠",
  "->": "→",
  "<-": "←",
  "*": "·",
  "|": "or",
  "&": "and",
  "||": "or",
  "&&": "and",
  "!": "not ",
  "~": "∼",
  in: "∈",
  "-": "−",
  "+-": "±",
};

// From those that bind least.
const kLevels = [
  ["->", "<-", "=", "~", "≈"],
  ["|", "||"],
  ["&", "&&"],
  ["<=", ">=", "==", "!=", "<", ">", "in"],
  [":", "..."],
  ["+", "-", "+-"],
  ["*", "/", "@"],
];

const kToken =
  /\s*(?:("[^"]*")|(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|((?:\p{L}|\\)[\p{L}\d]*(?:\.[a-z]\w*)*)|(\.\.\.|<=|>=|==|!=|->|<-|\|\||&&|\+-|\S))/gu;

/** Returns formulas in plain notation as MathML, each in a block of its own; throws if it cannot read them. */
export function mathOf(text) {
  return text
    .split(";")
    .map((one) => `<math display="block">${readFormula(one)}</math>`)
    .join("");
}

function readFormula(text) {
  const reader = new Reader(text);
  const parts = [reader.list()];
  if (!reader.isAtEnd) throw new Error(`"${text}": cannot read from "${reader.rest}" on`);
  return parts[0].markup;
}

const row = (...parts) => `<mrow>${parts.join("")}</mrow>`;
const sign = (value, options = "") => `<mo${options}>${escaped(value)}</mo>`;
const words = (value) => `<mtext>${escaped(value)}</mtext>`;
const escaped = (value) =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const fenced = (open, body, close) =>
  row(sign(open, ' fence="true"'), body, sign(close, ' fence="true"'));
const parens = (body) => fenced("(", body, ")");

function identifier(name) {
  const shown = Object.hasOwn(kNames, name) ? kNames[name] : name;
  return `<mi>${escaped(shown)}</mi>`;
}

// { markup, kind }: "atom" needs no parentheses; "product", "sum" and "relation" do in what binds more; "number" needs no sign before a name.
class Reader {
  #tokens;
  #at = 0;

  constructor(text) {
    this.#tokens = [...text.matchAll(kToken)].map(([, quoted, number, name, mark]) => ({
      quoted,
      number,
      name,
      mark,
      text: quoted ?? number ?? name ?? mark,
    }));
  }

  get isAtEnd() {
    return this.#at >= this.#tokens.length;
  }

  get rest() {
    return this.#tokens
      .slice(this.#at)
      .map(({ text }) => text)
      .join(" ");
  }

  #sees(...texts) {
    const token = this.#tokens[this.#at];
    return token !== undefined && token.quoted === undefined && texts.includes(token.text);
  }

  #take(text) {
    if (!this.#sees(text)) throw new Error(`expected "${text}" before "${this.rest}"`);
    this.#at++;
  }

  list() {
    const items = [this.#binary(0)];
    while (this.#sees(",")) {
      this.#at++;
      items.push(this.#binary(0));
    }
    if (items.length === 1) return items[0];
    return {
      markup: row(items.map(({ markup }) => markup).join(sign(",", ' separator="true"'))),
      kind: "list",
      items,
    };
  }

  #binary(level) {
    if (level === kLevels.length) return this.#juxtaposed();
    let left = this.#binary(level + 1);
    while (this.#sees(...kLevels[level])) {
      const operator = this.#tokens[this.#at++].text;
      left = joined(left, operator, this.#binary(level + 1), level);
    }
    return left;
  }

  // A text stands beside a value without an operator.
  #juxtaposed() {
    let left = this.#unary();
    while (
      this.#tokens[this.#at]?.quoted !== undefined ||
      (left.isText && !this.isAtEnd && !this.#sees(",", ")", "]", "}", ...kLevels.flat()))
    ) {
      const right = this.#unary();
      left = { markup: row(left.markup, right.markup), kind: "product", isText: right.isText };
    }
    return left;
  }

  #unary() {
    if (this.#sees("-", "!", "+-")) {
      const operator = this.#tokens[this.#at++].text;
      const { markup, kind } = this.#unary();
      return {
        markup: row(
          sign(kOperators[operator], ' form="prefix"'),
          kind === "sum" || kind === "relation" ? parens(markup) : markup,
        ),
        kind: "product",
      };
    }
    return this.#power();
  }

  #power() {
    const base = this.#atom();
    if (!this.#sees("^")) return base;
    this.#at++;
    const exponent = this.#sees("{")
      ? this.#braced()
      : this.#sees("-")
        ? this.#unary()
        : this.#power();
    const body = base.kind === "atom" ? base.markup : parens(base.markup);
    return {
      markup: `<msup>${body}${row(exponent.inner ?? exponent.markup)}</msup>`,
      kind: "atom",
    };
  }

  #braced() {
    this.#take("{");
    const parts = [];
    while (!this.#sees("}")) {
      parts.push(this.#binary(0).markup);
      if (this.#sees(",")) {
        this.#at++;
        parts.push(sign(","));
      }
    }
    this.#take("}");
    return { markup: row(...parts), kind: "atom" };
  }

  #atom() {
    const { quoted, number, name, mark } = this.#tokens[this.#at++] ?? {};
    if (quoted !== undefined)
      return { markup: words(`\u00a0${quoted.slice(1, -1)}\u00a0`), kind: "atom", isText: true };
    if (number !== undefined)
      return this.#indexed({
        markup: `<mn>${scientific(number)}</mn>`,
        kind: "atom",
        isNumber: true,
      });
    if (mark === "(") {
      const inner = this.list();
      this.#take(")");
      const isPlain = inner.kind === "atom" && !inner.items;
      return this.#indexed({
        markup: isPlain ? inner.markup : parens(inner.markup),
        inner: inner.markup,
        kind: isPlain ? inner.kind : "atom",
        bare: inner,
      });
    }
    if (mark === "[") {
      const inner = this.list();
      this.#take("]");
      return { markup: fenced("[", inner.markup, "]"), kind: "atom" };
    }
    if (mark === "{") {
      this.#at--;
      const inner = this.#braced();
      return { markup: fenced("{", inner.markup, "}"), kind: "atom" };
    }
    if (["...", "…", "∞", "∇"].includes(mark))
      return { markup: mark === "..." ? sign("…") : `<mi>${mark}</mi>`, kind: "atom" };
    if (name === undefined) throw new Error(`cannot read "${mark ?? "the end"}"`);
    const own = plainName(name);
    const lower = this.#subscript();
    if (this.#sees("(")) return this.#indexed(this.#call(own, lower));
    return this.#indexed({
      markup: lower === null ? identifier(own) : `<msub>${identifier(own)}${lower}</msub>`,
      kind: "atom",
    });
  }

  // An index behind "_".
  #subscript() {
    if (!this.#sees("_")) return null;
    this.#at++;
    if (this.#sees("{")) return this.#braced().markup;
    const { number, name } = this.#tokens[this.#at++];
    return number === undefined ? identifier(plainName(name)) : `<mn>${number}</mn>`;
  }

  #indexed(value) {
    let { markup } = value;
    let isChanged = false;
    while (this.#sees("[", "'", "_")) {
      isChanged = true;
      if (this.#sees("_")) {
        markup = `<msub>${markup}${this.#subscript()}</msub>`;
        continue;
      }
      const { text } = this.#tokens[this.#at++];
      if (text === "'") {
        markup = `<msup>${markup}${sign("′")}</msup>`;
        continue;
      }
      markup = `<msub>${markup}${row(this.list().markup)}</msub>`;
      this.#take("]");
    }
    return isChanged ? { markup, kind: "atom" } : value;
  }

  #call(name, lower) {
    this.#take("(");
    if (this.#sees(")")) {
      this.#at++;
      return { markup: row(identifier(name), parens("")), kind: "atom" };
    }
    const inner = this.list();
    this.#take(")");
    const args = inner.items ?? [inner];
    const make = Object.hasOwn(kCalls, name) ? kCalls[name] : plainCall(name);
    return make(args, lower);
  }
}

const plainName = (name) =>
  name.replace(/^p\./, "").replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());

function scientific(number) {
  const [, mantissa, exponent] = /^(.*)e([+-]?\d+)$/.exec(number) ?? [];
  if (mantissa === undefined) return number;
  return `${mantissa}e${exponent}`;
}

const isLoose = ({ kind }) => kind === "sum" || kind === "relation";

function joined(left, operator, right, level) {
  if (operator === "/") {
    const bare = ({ inner, markup }) => row(inner ?? markup);
    return {
      markup: `<mfrac>${bare(left)}${bare(right)}</mfrac>`,
      kind: "product",
      isFraction: true,
    };
  }
  const isProduct = level === kLevels.length - 1;
  const wrap = (value) => (isProduct && isLoose(value) ? parens(value.markup) : value.markup);
  const kind = isProduct
    ? "product"
    : operator === "+" || operator === "-" || operator === "+-"
      ? "sum"
      : "relation";
  if (operator === "@" || (operator === "*" && left.isNumber && !right.isNumber))
    return { markup: row(wrap(left), '<mspace width="0.16em"/>', wrap(right)), kind };
  const shown = kOperators[operator] ?? operator;
  const mark = /^[a-z]/.test(shown) ? words(`\u00a0${shown}\u00a0`) : sign(shown);
  return { markup: row(wrap(left), mark, wrap(right)), kind };
}

const plainCall = (name) => (args, lower) => {
  const head = lower === null ? identifier(name) : `<msub>${identifier(name)}${lower}</msub>`;
  return {
    markup: row(head, sign("\u2061"), parens(args.map(({ markup }) => markup).join(sign(",")))),
    kind: "product",
  };
};

// sum_i(a), sum(i=1, n, a) or sum(a).
const big =
  (symbol, isWord = false) =>
  (args, lower) => {
    const mark = isWord
      ? `<mi>${symbol}</mi>`
      : sign(symbol, ' largeop="true" movablelimits="false"');
    const body = args.at(-1);
    const shown = isLoose(body) ? parens(body.markup) : body.markup;
    if (args.length === 3)
      return {
        markup: row(
          `<munderover>${mark}${row(args[0].markup)}${row(args[1].markup)}</munderover>`,
          shown,
        ),
        kind: "product",
      };
    return {
      markup: row(lower === null ? mark : `<munder>${mark}${lower}</munder>`, shown),
      kind: "product",
    };
  };

const limited = (name) => (args, lower) => {
  if (lower === null) return plainCall(name)(args, lower);
  return {
    markup: row(
      `<munder><mi>${name}</mi>${lower}</munder>`,
      sign("\u2061"),
      row(args.map(({ markup }) => markup).join(sign(","))),
    ),
    kind: "product",
  };
};

const between =
  (open, close) =>
  ([body]) => ({ markup: fenced(open, body.markup, close), kind: "atom" });

const accent =
  (mark) =>
  ([body]) => ({
    markup: `<mover accent="true">${row(body.inner ?? body.markup)}${sign(mark)}</mover>`,
    kind: "atom",
  });

// Exponents with fractions of fractions are too small to read.
const kLongExponent = 400;

const kCalls = {
  sum: big("∑"),
  prod: big("∏"),
  int: big("∫"),
  max: limited("max"),
  min: limited("min"),
  maximum: plainCall("max"),
  minimum: plainCall("min"),
  argmax: limited("arg max"),
  argmin: limited("arg min"),
  sqrt: ([body]) => ({ markup: `<msqrt>${body.markup}</msqrt>`, kind: "atom" }),
  rsqrt: ([body]) => ({
    markup: `<mfrac><mn>1</mn><msqrt>${body.markup}</msqrt></mfrac>`,
    kind: "product",
  }),
  square: ([body]) => ({
    markup: `<msup>${body.kind === "atom" ? body.markup : parens(body.markup)}<mn>2</mn></msup>`,
    kind: "atom",
  }),
  root: ([body, degree]) => ({
    markup: `<mroot>${row(body.markup)}${row(degree.markup)}</mroot>`,
    kind: "atom",
  }),
  pow: ([base, exponent]) => ({
    markup: `<msup>${base.kind === "atom" ? base.markup : parens(base.markup)}${row(exponent.markup)}</msup>`,
    kind: "atom",
  }),
  exp: (args) =>
    args[0].markup.length < kLongExponent && !args[0].markup.includes("<mfrac><mrow><mfrac")
      ? { markup: `<msup><mi>e</mi>${row(args[0].markup)}</msup>`, kind: "atom" }
      : plainCall("exp")(args, null),
  abs: between("|", "|"),
  floor: between("⌊", "⌋"),
  ceil: between("⌈", "⌉"),
  norm: ([body, order]) => {
    const plain = fenced("‖", body.markup, "‖");
    return {
      markup: order === undefined ? plain : `<msub>${plain}${row(order.markup)}</msub>`,
      kind: "atom",
    };
  },
  fact: ([body]) => ({
    markup: row(body.kind === "atom" ? body.markup : parens(body.markup), sign("!")),
    kind: "product",
  }),
  hat: accent("^"),
  bar: accent("¯"),
  tilde: accent("~"),
  conj: accent("¯"),
  binom: ([n, k]) => ({
    markup: parens(`<mfrac linethickness="0">${row(n.markup)}${row(k.markup)}</mfrac>`),
    kind: "atom",
  }),
  where: (args) => ({
    markup: row(
      sign("{", ' fence="true" stretchy="true"'),
      `<mtable columnalign="left left">${cases(args).join("")}</mtable>`,
    ),
    kind: "atom",
    cases: cases(args),
  }),
};

const line = (value, condition) => `<mtr><mtd>${value}</mtd><mtd>${condition}</mtd></mtr>`;

// The value elsewhere may have cases of its own.
function cases([condition, value, elsewhere]) {
  const first = line(value.markup, row(words("if\u00a0"), condition.markup));
  return [first, ...(elsewhere.cases ?? [line(elsewhere.markup, words("otherwise"))])];
}
