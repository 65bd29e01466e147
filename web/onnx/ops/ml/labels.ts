// Ops on labels and categories.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import { Host, isTexts } from "../../values/host.js";
import { elementType, host, shapeOf, tensor, type Value } from "../../values/value.js";
import { range } from "../axes.js";
import {
  flag,
  float,
  int,
  maybeFloats,
  maybeInts,
  maybeList,
  maybeStrings,
  type Ops,
  op,
  string,
} from "../op.js";

type Items = readonly (string | number)[];

// The elements of numbers or strings, as keys of a map: NaN is equal to itself there.
const itemsOf = (value: Value): Items => (isTexts(value) ? value.data : host(value).data);

const kEncoder = {
  classes_strings: maybeStrings,
  default_float: float(-0),
  default_int64: int(-1),
  default_string: string("_Unused"),
  default_tensor: maybeList,
  keys_floats: maybeFloats,
  keys_int64s: maybeInts,
  keys_strings: maybeStrings,
  keys_tensor: maybeList,
  values_floats: maybeFloats,
  values_int64s: maybeInts,
  values_strings: maybeStrings,
  values_tensor: maybeList,
};

const labelEncoder = op({
  attributes: kEncoder,
  ownTypes: true,
  run: ([input], given) => {
    const items = itemsOf(input);
    const shape = shapeOf(input);
    const { classes_strings: classes } = given;
    if (classes?.length) {
      // Version 1: a list of strings, from a string to its place or back.
      const places = new Map(classes.map((label, i) => [label, i]));
      return isTexts(input)
        ? new Host(
            "int64",
            shape,
            items.map((item) => places.get(item as string) ?? given.default_int64),
          )
        : new Host(
            "string",
            shape,
            items.map((item) => classes[item as number] ?? given.default_string),
          );
    }
    const keys: Items =
      given.keys_tensor?.data ?? given.keys_strings ?? given.keys_int64s ?? given.keys_floats ?? [];
    const found = given.values_tensor ?? valuesOf(given);
    const values = new Map(keys.map((key, i) => [key, found.data[i] as string | number]));
    const usual = { string: given.default_string, int64: given.default_int64 };
    const missing: string | number =
      given.default_tensor?.data[0] ??
      (usual as Readonly<Record<string, string | number>>)[found.type] ??
      given.default_float;
    return new Host(
      found.type,
      shape,
      items.map((item) => values.get(item) ?? missing),
    );
  },
});

function valuesOf({
  values_strings,
  values_int64s,
  values_floats,
}: {
  readonly values_strings: readonly string[] | undefined;
  readonly values_int64s: readonly number[] | undefined;
  readonly values_floats: readonly number[] | undefined;
}): Host {
  if (values_strings) return new Host("string", [values_strings.length], values_strings);
  if (values_int64s) return new Host("int64", [values_int64s.length], values_int64s);
  return new Host("float", [values_floats?.length ?? 0], values_floats ?? []);
}

const oneHotEncoder = op({
  attributes: { cats_int64s: maybeInts, cats_strings: maybeStrings, zeros: flag(true) },
  ownTypes: true,
  run: ([input], { cats_int64s, cats_strings, zeros }) => {
    const categories: Items = cats_strings?.length ? cats_strings : (cats_int64s ?? []);
    const places = new Map(categories.map((category, i) => [category, i]));
    const items = itemsOf(input);
    const data = new Float32Array(items.length * categories.length);
    items.forEach((item, i) => {
      const place = places.get(typeof item === "number" ? Math.trunc(item) : item);
      if (place !== undefined) data[i * categories.length + place] = 1;
      else if (!zeros)
        fail("InvalidArgument", "OnnxModule", `"${item}" is none of the categories.`);
    });
    return eg.tensor(data, { shape: [...shapeOf(input), categories.length] });
  },
});

// Elements of the last axis; the result has at least two axes.
function extracted(input: Value, indices: Value): Value {
  const places = host(indices).data;
  const shape = shapeOf(input);
  const size = shape.at(-1) ?? 1;
  const wrong = places.find((at) => !(at >= 0 && at < size));
  if (wrong !== undefined)
    fail("IndexOutOfRange", "OnnxModule", `index ${wrong} is out of range for ${size} features.`);
  const sizes = [...(shape.length < 2 ? [1] : shape.slice(0, -1)), places.length];
  if (isTexts(input)) {
    const rows = range(input.data.length / size);
    const data = rows.flatMap((row) => places.map((at) => input.data[row * size + at] as string));
    return new Host("string", sizes, data);
  }
  const x = tensor(input);
  const index = eg.tensor(BigInt64Array.from(places, BigInt), { device: x.device });
  return eg.indexSelect(x, x.ndim - 1, index).reshape(sizes);
}

export const kLabelOps: Ops = {
  LabelEncoder: labelEncoder,
  OneHotEncoder: oneHotEncoder,
  ArrayFeatureExtractor: op({ run: ([input, indices]) => extracted(input, indices) }),
  // A list of maps, one for each row.
  ZipMap: op({
    attributes: { classlabels_int64s: maybeInts, classlabels_strings: maybeStrings },
    ownTypes: true,
    run: ([input], { classlabels_int64s, classlabels_strings }) => {
      const labels: Items = classlabels_strings?.length
        ? classlabels_strings
        : (classlabels_int64s ?? []);
      const { data, shape } = host(input);
      const size = shape.at(-1) ?? 0;
      if (size !== labels.length) {
        const text = `ZipMap has ${labels.length} labels for ${size} scores of type ${elementType(input)}.`;
        fail("ShapeMismatch", "OnnxModule", text);
      }
      const maps = range(data.length / Math.max(size, 1)).map(
        (row) => new Map(labels.map((label, i) => [label, data[row * size + i] as number])),
      );
      // In an array of its own, because an op returns its outputs as an array.
      return [maps];
    },
  }),
};
