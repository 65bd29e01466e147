// The names of Python that a file of torch.save may contain, and what calling them builds: data only. Every other name is rejected.

import { kMaxDims } from "../../ops/create.js";
import { describe } from "../../runtime/errors/errors.js";
import { reject } from "../broken_file.js";
import {
  type PendingChange,
  PythonDict,
  PythonName,
  SparsePlan,
  StorageName,
  TensorPlan,
} from "./python_values.js";
import { dtypeOfStorage, storedTypeOf } from "./storage_types.js";

type Args = readonly unknown[];

/** What calls build. Calls that copy count what they copy: a pickle can ask for many copies of one long value. */
export class Builder {
  /** All tensors that were described. */
  readonly plans: TensorPlan[] = [];
  #copiesLeft: number;

  /** `size` is that of the pickle in bytes. */
  constructor(size: number) {
    this.#copiesLeft = kMaxCopies * size;
  }

  /** Returns what stands for a name; rejects a name that is not allowed. */
  find(module: string, name: string): unknown {
    const full = `${kRenamed.get(module) ?? module}.${name}`;
    const dtype = full.replace(/^torch\./, "");
    if (full.startsWith("torch.") && storedTypeOf(dtype) !== undefined) return dtype;
    const storage = dtypeOfStorage(dtype);
    if (kCalls.has(full) || kNeverCalled.has(full) || storage !== undefined)
      return new PythonName(full);
    const refused = kRefused.find(([pattern]) => pattern.test(full));
    if (refused !== undefined) reject(`it contains ${full}: ${refused[1]}`);
    return reject(
      `it contains the global ${full}, which is not allowed, because only data is read: tensors, numbers, strings and containers. ` +
        "Save such data in Python, for a model its state_dict().",
    );
  }

  /** Returns the result of a call of what find() returned. */
  call(callee: unknown, args: Args): unknown {
    const name = callee instanceof PythonName ? callee.name : undefined;
    const make = kCalls.get(name ?? "");
    if (make === undefined)
      reject(`its pickle calls ${name ?? "something that is not a function"}.`);
    return make(args, this);
  }

  /** Counts a copy of so many elements or bytes. */
  count(copied: number): void {
    this.#copiesLeft -= copied;
    if (this.#copiesLeft < 0) reject("its pickle copies its values too often for its size.");
  }
}

/** How often a pickle may copy as much as its own size. */
const kMaxCopies = 2;

// Modules that Python 3 calls otherwise.
const kRenamed: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ["__builtin__", "builtins"],
]);

const kCalls: ReadonlyMap<string, (args: Args, builder: Builder) => unknown> =
  /* @__PURE__ */ new Map<string, (args: Args, builder: Builder) => unknown>([
    ["collections.OrderedDict", dict],
    ["collections.Counter", dict],
    ["collections.defaultdict", ([, entries], builder) => dict([entries], builder)],
    ["builtins.dict", dict],
    ["builtins.list", list],
    ["builtins.tuple", list],
    ["torch.Size", list],
    ["builtins.set", (args, builder) => new Set(list(args, builder))],
    ["builtins.frozenset", (args, builder) => new Set(list(args, builder))],
    ["builtins.bytes", bytes],
    ["builtins.bytearray", bytes],
    ["builtins.complex", complex],
    ["_codecs.encode", encoded],
    ["torch.device", device],
    ["torch._utils._rebuild_tensor", tensor],
    ["torch._utils._rebuild_tensor_v2", tensor],
    ["torch._utils._rebuild_tensor_v3", tensorOfDtype],
    ["torch._utils._rebuild_parameter", parameter],
    ["torch._utils._rebuild_parameter_with_state", parameter],
    ["torch._utils._rebuild_sparse_tensor", sparseTensor],
    ["torch.serialization._get_layout", layout],
    ["torch._tensor._rebuild_from_type_v2", subclassed],
  ]);

// Names that are only arguments of others: the classes of values of a defaultdict, of storages and of tensors.
const kNeverCalled: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "builtins.int",
  "builtins.float",
  "builtins.str",
  "builtins.bool",
  "torch.Tensor",
  "torch.nn.parameter.Parameter",
  "torch.nn.parameter.Buffer",
  "torch.UntypedStorage",
  "torch.storage.UntypedStorage",
]);

const kRefused: readonly (readonly [RegExp, string])[] = [
  [
    /_rebuild_sparse/,
    "sparse tensors in this old form are not supported. Save them in a newer PyTorch.",
  ],
  [
    /_rebuild_qtensor|torch\.(?:Q|per_|quint|qint)/,
    "quantized tensors are not supported. Save x.dequantize().",
  ],
  [/_rebuild_nested/, "nested tensors are not supported. Save their parts, x.unbind()."],
  [/_rebuild_meta/, "tensors of the device meta have no data."],
  [
    /^torch\.\w+Storage$|^torch\.(?:float|u?int|complex|bits)\d+/,
    "this element type is not supported. Convert the tensors first.",
  ],
  [
    /^torch\.(?:nn|jit|optim)\.|^__torch__/,
    "an object of this class is code, not data. Save its state_dict().",
  ],
  [/^numpy\./, "NumPy's values are not supported. Save tensors, or x.item()."],
];

function dict([given = []]: Args, builder: Builder): PythonDict {
  const result = new PythonDict();
  const entries = given instanceof PythonDict ? given.entries : given;
  if (!Array.isArray(entries)) reject("its pickle makes a dict of something that has no entries.");
  builder.count(entries.length);
  for (const entry of entries) {
    if (!Array.isArray(entry) || entry.length !== 2)
      reject("its pickle has an entry of a dict that is not a pair.");
    result.entries.push([entry[0], entry[1]]);
  }
  return result;
}

function list([given = []]: Args, builder: Builder): unknown[] {
  const items = given instanceof Set ? [...given] : given;
  if (!Array.isArray(items))
    reject("its pickle makes a list, tuple or set of something that has no elements.");
  builder.count(items.length);
  return [...items];
}

function bytes([given = new Uint8Array(0), encoding]: Args, builder: Builder): Uint8Array {
  if (typeof given === "string") return encoded([given, encoding], builder);
  if (!(given instanceof Uint8Array)) reject("its pickle makes bytes of something else.");
  builder.count(given.length);
  return given.slice();
}

// Protocol 2 writes bytes as a string of the characters 0 to 255.
function encoded([given, encoding]: Args, builder: Builder): Uint8Array {
  if (typeof given !== "string" || (encoding !== "latin1" && encoding !== "latin-1")) {
    reject("its pickle encodes something other than bytes.");
  }
  builder.count(given.length);
  return Uint8Array.from(given, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code <= 0xff ? code : reject("its pickle has bytes above 255.");
  });
}

function complex([re, im]: Args): { re: number; im: number } {
  if (typeof re !== "number" || typeof im !== "number")
    reject("its pickle has a complex number without two parts.");
  return { re, im };
}

function device([type, index]: Args): string {
  if (typeof type !== "string") reject("its pickle has a device without a name.");
  return index === undefined || index === null ? type : `${type}:${index}`;
}

function tensor(
  [storage, offset, shape, strides, requiresGrad = false, , metadata]: Args,
  builder: Builder,
): TensorPlan {
  const type = storage instanceof StorageName ? storage.type : null;
  if (type === null) reject("its pickle has a tensor without a storage of a known type.");
  return planOf(builder, storage, type, [offset, shape, strides, requiresGrad, metadata]);
}

function tensorOfDtype(args: Args, builder: Builder): TensorPlan {
  const [storage, offset, shape, strides, requiresGrad, , dtype, metadata] = args;
  if (typeof dtype !== "string" || storedTypeOf(dtype) === undefined)
    reject("its pickle has a tensor of an unknown dtype.");
  return planOf(builder, storage, dtype, [offset, shape, strides, requiresGrad, metadata]);
}

function planOf(
  builder: Builder,
  storage: unknown,
  type: string,
  [offset, shape, strides, requiresGrad, metadata]: Args,
): TensorPlan {
  const isGeometry = isSizes(shape) && isSizes(strides) && shape.length === strides.length;
  if (
    !(storage instanceof StorageName) ||
    !isSize(offset) ||
    !isGeometry ||
    typeof requiresGrad !== "boolean"
  ) {
    reject("its pickle has a tensor whose storage, offset, sizes or strides are invalid.");
  }
  const pending = pendingIn(metadata);
  const plan = new TensorPlan(storage, type, offset, shape, strides, requiresGrad, pending);
  builder.plans.push(plan);
  return plan;
}

function pendingIn(metadata: unknown): PendingChange {
  const entries = metadata instanceof PythonDict ? metadata.entries : [];
  const unknown = entries.find(([key]) => key !== "conj" && key !== "neg");
  if (unknown !== undefined) {
    reject(`it contains a tensor with the property ${describe(unknown[0])}, which is not known.`);
  }
  const has = (name: string) => entries.some(([key, value]) => key === name && value === true);
  return { isConjugated: has("conj"), isNegated: has("neg") };
}

// The length first: a pickle can refer to one long list as often as it likes.
function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.length <= kMaxDims && value.every(isSize);
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function layout([name]: Args): string {
  if (typeof name !== "string") reject("its pickle has a layout without a name.");
  return name;
}

function sparseTensor([name, parts]: Args, builder: Builder): SparsePlan {
  const kind = String(name).replace(/^torch\./, "");
  if (kind !== "sparse_coo" && kind !== "sparse_csr") {
    const shown = describe(name);
    reject(
      `it contains a tensor in the layout ${shown}, which is not supported. Save x.to_sparse().`,
    );
  }
  const given = Array.isArray(parts) ? parts : [];
  const count = kind === "sparse_coo" ? 2 : 3;
  const tensors = given.slice(0, count);
  const [size, isCoalesced = false] = given.slice(count);
  const areTensors =
    tensors.length === count && tensors.every((tensor) => tensor instanceof TensorPlan);
  if (!areTensors || !isSizes(size) || typeof isCoalesced !== "boolean")
    reject("its pickle has a sparse tensor whose parts or size are invalid.");
  builder.count(size.length);
  return new SparsePlan(kind, tensors, [...size], isCoalesced);
}

function parameter([data, requiresGrad]: Args): TensorPlan | SparsePlan {
  const isTensor = data instanceof TensorPlan || data instanceof SparsePlan;
  if (!isTensor || typeof requiresGrad !== "boolean")
    reject("its pickle has a parameter without a tensor.");
  return data.requiring(requiresGrad);
}

// A tensor with attributes of Python, which have no counterpart here.
function subclassed([make, type, args]: Args, builder: Builder): unknown {
  const name = type instanceof PythonName ? type.name : "";
  if (!kNeverCalled.has(name) || !Array.isArray(args))
    reject("its pickle has a tensor of an unknown class.");
  // The function that makes the tensor is one of those above; a subclass within a subclass would be a loop.
  if (make instanceof PythonName && make.name.endsWith("_from_type_v2"))
    reject("its pickle has a tensor within a tensor.");
  return builder.call(make, args);
}
