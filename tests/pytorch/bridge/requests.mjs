// What Python can ask for, by the name of the request.

import * as eg from "edgegrad";
import { isRecord, resolve } from "./values.mjs";

/**
 * Returns the table of requests. `values` encodes and decodes; `callPython(id, args)` calls a function of Python; `within()` tells Python
 * that a block was entered and serves it until the block ends.
 */
export function requests(values, { callPython, within }) {
  const { encode, decode } = values;
  const owner = ({ o, p }) => (p === undefined ? values.object(o) : resolve(p));
  const results = {
    call: (m) => owner(m)[m.n](...m.a.map(decode)),
    construct: ({ p, a }) => new (resolve(p))(...a.map(decode)),
    get: (m) => owner(m)[m.n],
    set({ o, n, v }) {
      values.object(o)[n] = decode(v);
    },
    delete: ({ o, n }) => delete values.object(o)[n],
    has: ({ o, n }) => n in values.object(o),
    keys: ({ o }) => Object.keys(values.object(o)),
    dispose({ o }) {
      values.object(o)[Symbol.dispose]();
    },
    within({ p, n, a }) {
      const args = a.map((one) => (one === "$body" ? within : decode(one)));
      return resolve(p)[n](...args);
    },
    later() {
      throw new Error("n/a: a promise inside of a function that JavaScript calls");
    },
    changing: ({ cb }) => changing(cb, callPython),
    defineFunction: (m) => functionClass(m, callPython),
    createModule: ({ a, ...described }) =>
      new (moduleClass(described, callPython))(...a.map(decode)),
    remember: ({ o, v }) => values.remember(values.object(o), decode(v)),
    lookup: ({ p }) => resolve(p),
    memory: () => ({ ...eg.memory(), heldByPython: values.size }),
    manifest,
  };
  // The elements of an array, each by its number.
  const references = ({ o, n }) => values.object(o)[n].map((one) => values.reference(one));
  const answer = (message) =>
    message.t === "references" ? references(message) : encode(results[message.t](message));
  return Object.assign(answer, { later: results.call });
}

/** Returns an autograd.Function whose static methods are functions of Python. */
function functionClass({ name, forward, backward, vmap, jvp, once, generate }, callPython) {
  const classes = {
    [name]: class extends eg.autograd.Function {
      static forward(...args) {
        return callPython(forward, args);
      }
      static backward(...args) {
        return callPython(backward, args) ?? null;
      }
    },
  };
  const made = classes[name];
  if (once) made.onceDifferentiable = true;
  if (generate) made.generateVmapRule = true;
  if (vmap) made.vmap = (...args) => callPython(vmap, args);
  if (jvp) made.jvp = (...args) => callPython(jvp, args) ?? null;
  made.pythonKind = "class";
  return made;
}

/** Returns a function of Python that may change arrays and records among its arguments: it returns its result and the arguments. */
function changing(id, callPython) {
  return (...args) => {
    const [result, after] = callPython(id, args);
    for (const [i, one] of args.entries()) become(one, after[i]);
    return result ?? undefined;
  };
}

/** Gives an array or a record the contents of another. */
function become(value, after) {
  if (Array.isArray(value)) {
    value.splice(0, value.length, ...after);
  } else if (isRecord(value)) {
    for (const key of Object.keys(value)) if (!(key in after)) delete value[key];
    for (const [key, one] of Object.entries(after)) {
      if (Array.isArray(value[key])) become(value[key], one);
      else value[key] = one;
    }
  }
}

const kModuleClasses = new Map();

/**
 * Returns the class of modules for a class in Python: with its name, a layer as its base or none, lazy or not, and its methods that
 * JavaScript calls, by their names.
 */
function moduleClass({ name, base, lazy, methods }, callPython) {
  const key = JSON.stringify([name, base, lazy, methods]);
  const known = kModuleClasses.get(key);
  if (known) return known;
  const own = base ? resolve(base) : eg.nn.Module;
  const made = { [name]: class extends (lazy ? eg.nn.LazyModuleMixin(own) : own) {} }[name];
  for (const [method, id] of Object.entries(methods)) {
    made.prototype[method] = function (...args) {
      return callPython(id, [this, ...args]);
    };
  }
  kModuleClasses.set(key, made);
  return made;
}

const kSpaces = [
  "autograd",
  "autograd.forwardAd",
  "autograd.functional",
  "autograd.graph",
  "distributions",
  "distributions.constraints",
  "fft",
  "func",
  "linalg",
  "masked",
  "nn",
  "nn.functional",
  "nn.grad",
  "nn.init",
  "nn.utils",
  "nn.utils.parametrizations",
  "nn.utils.parametrize",
  "nn.utils.prune",
  "nn.utils.rnn",
  "optim",
  "optim.lrScheduler",
  "optim.swaUtils",
  "random",
  "signal.windows",
  "sparse",
  "special",
];

/** The names that the package has: by them Python knows what exists. */
function manifest() {
  return {
    tensor: membersOf(eg.Tensor.prototype),
    root: Object.keys(eg),
    spaces: Object.fromEntries(kSpaces.map((path) => [path, Object.keys(resolve(path) ?? {})])),
  };
}

function membersOf(prototype) {
  const names = new Set();
  for (let at = prototype; at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  return [...names];
}
