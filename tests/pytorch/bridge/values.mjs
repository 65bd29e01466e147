// How values travel. What JSON has is sent as it is; the rest is an object with one key that begins with "$":
//
//   $t tensor, $o other object of JavaScript, both by number   $p object or function of Python by number
//   $c function of Python to be called from JavaScript         $f number that JSON lacks: NaN, infinities, -0
//   $b integer beyond 2^53, $z complex number                  $d dictionary as a list of pairs
//   $s slice, $u undefined, $path name in the package, $y bytes in base64   (Python's half is shim/torch/_bridge/values.py)

import * as eg from "edgegrad";

/** An object of Python that JavaScript only hands back. */
class PythonObject {
  constructor(id) {
    this.id = id;
  }
}

/** An exception of Python on its way through JavaScript. */
export class PythonError extends Error {
  constructor(id, text) {
    super(text);
    this.pythonId = id;
  }
}

/** Returns what a path such as "nn.functional" names in the package; "" is the package. */
export function resolve(path) {
  return path === "" ? eg : path.split(".").reduce((owner, name) => owner[name], eg);
}

// The numbers by which Python knows the classes of tensors.
const kTensorKinds = [
  eg.Tensor,
  eg.nn.Parameter,
  eg.nn.Buffer,
  eg.nn.UninitializedParameter,
  eg.nn.UninitializedBuffer,
];
const kFirstWithoutShape = kTensorKinds.indexOf(eg.nn.UninitializedParameter);

/** Encodes and decodes values, and holds the objects that Python knows until it lets them go. */
export class Values {
  #objects = new Map(); // by number
  #numbers = new Map(); // by object
  #next;
  #ofPython = new Map(); // weak references to PythonObjects and functions, by the number in Python
  #gone = [];
  #remembered = new WeakMap(); // objects of Python by the modules that they belong to
  #registry = new FinalizationRegistry((id) => this.#gone.push(id));
  #callPython;

  /** Numbers begin at `first`; `callPython(id, args)` calls a function of Python. */
  constructor(first, callPython) {
    this.#next = first;
    this.#callPython = callPython;
  }

  /** How many objects Python holds. */
  get size() {
    return this.#objects.size;
  }

  /**
   * Returns the numbers of objects of Python that JavaScript has let go since the last call, or undefined. One that Python has sent again
   * since then is not among them.
   */
  takeGone() {
    if (this.#gone.length === 0) return undefined;
    const gone = this.#gone.splice(0).filter((id) => !this.#ofPython.get(id)?.deref());
    for (const id of gone) this.#ofPython.delete(id);
    return gone;
  }

  /** Returns the error in JavaScript for an exception of Python. */
  raised(id, text) {
    return this.#known(id, () => new PythonError(id, text));
  }

  /** Lets go what Python has let go. */
  release(numbers = []) {
    for (const number of numbers) {
      this.#numbers.delete(this.#objects.get(number));
      this.#objects.delete(number);
    }
  }

  /** Keeps an object of Python with an object, with which Python gets it back. */
  remember(object, ofPython) {
    this.#remembered.set(object, ofPython);
  }

  object(number) {
    const found = this.#objects.get(number);
    if (found === undefined) throw new Error(`bridge: no object has the number ${number}`);
    return found;
  }

  /** Encodes an object by its number even where encode() would copy it: a group of an optimizer. */
  reference(value) {
    return { $o: this.#numberOf(value), k: "Object", s: "object" };
  }

  encode = (value) => {
    if (value === undefined || value === null) return null;
    switch (typeof value) {
      case "boolean":
      case "string":
        return value;
      case "number":
        return encodeNumber(value);
      case "bigint":
        return { $b: String(value) };
      case "symbol":
        return String(value);
    }
    if (value instanceof PythonObject) return { $p: value.id };
    if (value.pythonId !== undefined && typeof value === "function") return { $p: value.pythonId };
    if (Array.isArray(value)) return value.map(this.encode);
    if (ArrayBuffer.isView(value)) return Array.from(value, this.encode);
    if (value instanceof Map) return this.#pairs([...value]);
    if (value instanceof eg.Tensor) return this.#tensor(value);
    if (isRecord(value)) return this.#pairs(Object.entries(value));
    const kind = value.pythonKind ?? kindOf(value);
    const ofPython = this.#remembered.get(value)?.id;
    return {
      $o: this.#numberOf(value),
      k: value.constructor?.name,
      s: kind,
      n: value.name,
      p: ofPython,
    };
  };

  decode = (value) => {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(this.decode);
    const [[tag, content]] = Object.entries(value);
    switch (tag) {
      case "$o":
        return this.object(content);
      case "$f":
        return Number(content);
      case "$b":
        return BigInt(content);
      case "$u":
        return undefined;
      case "$d":
        return Object.fromEntries(content.map(([key, one]) => [key, this.decode(one)]));
      case "$s":
        return eg.slice(...content.map(this.decode));
      case "$z":
        return { re: this.decode(content[0]), im: this.decode(content[1]) };
      case "$c":
        return this.#known(content, () => this.#functionOf(content));
      case "$p":
        return this.#known(content, () => new PythonObject(content));
      case "$path":
        return resolve(content);
      case "$y":
        return new Uint8Array(Buffer.from(content, "base64"));
    }
    throw new Error(`bridge: cannot decode ${JSON.stringify(value)}`);
  };

  #tensor(tensor) {
    const kind = kTensorKinds.findLastIndex((one) => tensor instanceof one);
    const encoded = { $t: this.#numberOf(tensor), k: kind };
    // A tensor that was disposed has none of these any more, and one without a shape not all of them yet.
    if (!tensor.disposed && kind < kFirstWithoutShape)
      encoded.f = [tensor.dtype, tensor.device, tensor.layout];
    return encoded;
  }

  #pairs(entries) {
    return { $d: entries.map(([key, one]) => [this.encode(key), this.encode(one)]) };
  }

  #numberOf(value) {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    const number = this.#next++;
    this.#numbers.set(value, number);
    this.#objects.set(number, value);
    return number;
  }

  #functionOf(id) {
    const call = (...args) => this.#callPython(id, args);
    call.pythonId = id;
    return call;
  }

  // The same object for the same number, as long as anything in JavaScript holds it; then Python may let go, too.
  #known(id, make) {
    const known = this.#ofPython.get(id)?.deref();
    if (known) return known;
    const made = make();
    this.#ofPython.set(id, new WeakRef(made));
    this.#registry.register(made, id);
    return made;
  }
}

function encodeNumber(value) {
  if (Object.is(value, -0)) return { $f: "-0" };
  return Number.isFinite(value) ? value : { $f: String(value) };
}

/** True for an object that stands for its entries alone, which Python gets as a dictionary. */
export function isRecord(value) {
  if (typeof value !== "object" || Object.getOwnPropertySymbols(value).length > 0) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const properties = Object.values(Object.getOwnPropertyDescriptors(value));
  return !properties.some((one) => one.get || typeof one.value === "function");
}

/** Returns the kind of an object, for which Python has a class. */
function kindOf(value) {
  if (typeof value === "function") return "function";
  if (value instanceof eg.nn.Module) return "module";
  if (value instanceof eg.Generator) return "generator";
  if (value instanceof eg.distributions.Distribution) return "distribution";
  if (value instanceof eg.distributions.Transform) return "transform";
  if (value instanceof eg.distributions.constraints.Constraint) return "constraint";
  if ("nextFunctions" in value && "registerPrehook" in value) return "node";
  if (typeof value.saveForBackward === "function") return "context";
  return "object";
}
