// ONNX's own test cases, as Debian's libonnx-testdata has them: a model, and inputs with the outputs that they give.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { optionalIn, sequenceIn, tensorIn, upperHalf } from "./onnx_values.mjs";

/** The folder of the cases; EG_ONNX_CASES names another one with the same folders. */
export const kCases = process.env.EG_ONNX_CASES ?? "/usr/share/libonnx-testdata/data";

const kKinds = ["node", "pytorch-converted", "pytorch-operator", "simple"];

/** Returns the cases as [name, folder]. */
export function cases() {
  return kKinds
    .filter((kind) => existsSync(join(kCases, kind)))
    .flatMap((kind) =>
      readdirSync(join(kCases, kind))
        .sort()
        .map((name) => [`${kind}/${name.replace(/^test_/, "")}`, join(kCases, kind, name)]),
    );
}

/** Returns the tolerance that a case has: ONNX's own. */
const kRelative = 1e-3;
const kAbsolute = 1e-7;

/** Runs a case; throws an error if an output is not as expected. */
export async function runCase(eg, onnx, folder) {
  const module = await onnx.load(new Uint8Array(readFileSync(join(folder, "model.onnx"))));
  for (const set of readdirSync(folder).filter((name) => name.startsWith("test_data_set"))) {
    const read = (kind, declared) =>
      declared.map((one, i) => {
        const file = join(folder, set, `${kind}_${i}.pb`);
        return existsSync(file) ? valueIn(new Uint8Array(readFileSync(file)), one.kind) : undefined;
      });
    const given = read("input", module.inputs);
    const wanted = read("output", module.outputs);
    eg.scope(() => {
      const inputs = given.map((one, i) => asInput(eg, retyped(one, module.inputs[i])));
      const result = module.call(...inputs);
      const results = module.outputs.length === 1 ? [result] : result;
      wanted.forEach((one, i) => {
        compare(results[i], retyped(one, module.outputs[i]), module.outputs[i].name);
      });
    });
  }
}

function valueIn(bytes, kind) {
  if (kind === "sequence") return sequenceIn(bytes);
  return kind === "optional" ? optionalIn(bytes) : tensorIn(bytes);
}

// Old files have bfloat16 as the bits of a uint16.
function retyped(value, { type }) {
  if (type !== "bfloat16" || value.type !== "uint16") return value;
  return { ...value, type, data: value.data.map(upperHalf) };
}

const kDTypes = {
  float: "float32",
  double: "float64",
  uint16: "int32",
  uint32: "int64",
  uint64: "int64",
};

function asInput(eg, value) {
  if (value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map((one) => asInput(eg, one));
  const { type, shape, data } = value;
  if (type === "string") return nested(data, shape);
  const dtype = kDTypes[type] ?? type;
  const numbers =
    dtype === "int64" ? BigInt64Array.from(data, BigInt) : Float64Array.from(data, Number);
  return eg.tensor(numbers, { dtype, shape });
}

function nested(data, [size, ...rest]) {
  if (size === undefined) return data[0];
  const step = size === 0 ? 0 : data.length / size;
  return Array.from({ length: size }, (_, i) => nested(data.slice(i * step, (i + 1) * step), rest));
}

function compare(found, wanted, name) {
  if (wanted === undefined) return;
  if (Array.isArray(wanted)) {
    if (found.length !== wanted.length)
      throw new Error(`${name}: ${found.length} for ${wanted.length} elements`);
    wanted.forEach((one, i) => {
      compare(found[i], one, `${name}[${i}]`);
    });
    return;
  }
  if (wanted === null || found === null) {
    if (wanted !== found) throw new Error(`${name}: ${found} for ${wanted}`);
    return;
  }
  const { type, shape, data } = wanted;
  if (type === "string") {
    if (JSON.stringify(found) !== JSON.stringify(nested(data, shape))) {
      throw new Error(
        `${name}: ${JSON.stringify(found)} for ${JSON.stringify(nested(data, shape))}`,
      );
    }
    return;
  }
  const dtype = kDTypes[type] ?? type;
  if (found.dtype !== dtype) throw new Error(`${name}: ${found.dtype} for ${dtype}`);
  if (found.shape.join() !== shape.join())
    throw new Error(`${name}: [${found.shape}] for [${shape}]`);
  const numbers = found.dataSync();
  data.forEach((one, i) => {
    const [a, b] = [Number(numbers[i]), Number(one)];
    const isClose =
      a === b ||
      (Number.isNaN(a) && Number.isNaN(b)) ||
      Math.abs(a - b) <= kAbsolute + kRelative * Math.abs(b);
    if (!isClose) throw new Error(`${name}[${i}]: ${a} for ${b}`);
  });
}
