// The messages of an .onnx file: each field with its number and content. Reading, writing and the TypeScript types all follow from
// this table. Names are those of onnx.proto in camelCase, without the suffix "Proto".

/** The types of fields that are not messages of the table. */
export interface Scalars {
  /** A signed 64-bit integer: a number where that is exact, otherwise a bigint. */
  int: number | bigint;
  /** An unsigned 64-bit integer. */
  uint: number | bigint;
  float: number;
  double: number;
  string: string;
  bytes: Uint8Array;
  /** Lists of numbers, which can be long: the elements of tensors. */
  floats: Float32Array;
  doubles: Float64Array;
  int32s: Int32Array;
  int64s: BigInt64Array;
}

/** The messages by name, as [number, content] by field; a "*" marks a repeated field. */
export const kMessages = {
  Model: {
    irVersion: [1, "int"],
    producerName: [2, "string"],
    producerVersion: [3, "string"],
    domain: [4, "string"],
    modelVersion: [5, "int"],
    docString: [6, "string"],
    graph: [7, "Graph"],
    opsetImport: [8, "OperatorSet*"],
    metadataProps: [14, "Entry*"],
    functions: [25, "Function*"],
  },
  OperatorSet: { domain: [1, "string"], version: [2, "int"] },
  Entry: { key: [1, "string"], value: [2, "string"] },
  Graph: {
    node: [1, "Node*"],
    name: [2, "string"],
    initializer: [5, "Tensor*"],
    docString: [10, "string"],
    input: [11, "ValueInfo*"],
    output: [12, "ValueInfo*"],
    valueInfo: [13, "ValueInfo*"],
    sparseInitializer: [15, "SparseTensor*"],
  },
  Node: {
    input: [1, "string*"],
    output: [2, "string*"],
    name: [3, "string"],
    opType: [4, "string"],
    attribute: [5, "Attribute*"],
    docString: [6, "string"],
    domain: [7, "string"],
    overload: [8, "string"],
  },
  Function: {
    name: [1, "string"],
    input: [4, "string*"],
    output: [5, "string*"],
    attribute: [6, "string*"],
    node: [7, "Node*"],
    docString: [8, "string"],
    opsetImport: [9, "OperatorSet*"],
    domain: [10, "string"],
    attributeProto: [11, "Attribute*"],
    overload: [13, "string"],
  },
  Attribute: {
    name: [1, "string"],
    f: [2, "float"],
    i: [3, "int"],
    s: [4, "bytes"],
    t: [5, "Tensor"],
    g: [6, "Graph"],
    floats: [7, "float*"],
    ints: [8, "int*"],
    strings: [9, "bytes*"],
    tensors: [10, "Tensor*"],
    graphs: [11, "Graph*"],
    docString: [13, "string"],
    tp: [14, "Type"],
    type: [20, "int"],
    refAttrName: [21, "string"],
    sparseTensor: [22, "SparseTensor"],
  },
  Tensor: {
    dims: [1, "int*"],
    dataType: [2, "int"],
    floatData: [4, "floats"],
    int32Data: [5, "int32s"],
    stringData: [6, "bytes*"],
    int64Data: [7, "int64s"],
    name: [8, "string"],
    rawData: [9, "bytes"],
    doubleData: [10, "doubles"],
    uint64Data: [11, "int64s"],
    docString: [12, "string"],
    externalData: [13, "Entry*"],
    dataLocation: [14, "int"],
  },
  SparseTensor: { values: [1, "Tensor"], indices: [2, "Tensor"], dims: [3, "int*"] },
  ValueInfo: { name: [1, "string"], type: [2, "Type"], docString: [3, "string"] },
  Type: {
    tensorType: [1, "TensorType"],
    sequenceType: [4, "ElementType"],
    mapType: [5, "MapType"],
    denotation: [6, "string"],
    sparseTensorType: [8, "TensorType"],
    optionalType: [9, "ElementType"],
  },
  TensorType: { elemType: [1, "int"], shape: [2, "Shape"] },
  ElementType: { elemType: [1, "Type"] },
  MapType: { keyType: [1, "int"], valueType: [2, "Type"] },
  Shape: { dim: [1, "Dimension*"] },
  Dimension: { dimValue: [1, "int"], dimParam: [2, "string"], denotation: [3, "string"] },
} as const;

/** The name of a message. */
export type MessageName = keyof typeof kMessages;

type Fields<N extends MessageName> = (typeof kMessages)[N];
type ContentOf<F> = F extends readonly [number, infer Content] ? Content : never;

type Read<C> = C extends keyof Scalars ? Scalars[C] : C extends MessageName ? Message<C> : never;
type Given<C> = C extends keyof Scalars ? Scalars[C] : C extends MessageName ? Draft<C> : never;

/** A message that was read: a repeated field is a list, and a missing one is undefined. */
export type Message<N extends MessageName> = {
  readonly [F in keyof Fields<N>]: ContentOf<Fields<N>[F]> extends `${infer C}*`
    ? readonly Read<C>[]
    : Read<ContentOf<Fields<N>[F]>> | undefined;
};

/** A message to write: undefined fields and empty lists are omitted. */
export type Draft<N extends MessageName> = {
  readonly [F in keyof Fields<N>]?:
    | (ContentOf<Fields<N>[F]> extends `${infer C}*`
        ? readonly Given<C>[]
        : Given<ContentOf<Fields<N>[F]>>)
    | undefined;
};

/** One field as reading and writing need it. */
export interface Field {
  readonly name: string;
  readonly number: number;
  readonly isList: boolean;
  /** A scalar, or the name of a message. */
  readonly content: keyof Scalars | MessageName;
}

const fieldsOf = new Map<MessageName, ReadonlyMap<number, Field>>();

/** Returns the fields of a message by their numbers. */
export function fieldsByNumber(message: MessageName): ReadonlyMap<number, Field> {
  let fields = fieldsOf.get(message);
  if (fields === undefined) {
    const entries = Object.entries(kMessages[message]) as [string, readonly [number, string]][];
    fields = new Map(
      entries.map(([name, [number, text]]) => {
        const content = text.replace("*", "") as Field["content"];
        return [number, { name, number, isList: text.endsWith("*"), content }];
      }),
    );
    fieldsOf.set(message, fields);
  }
  return fields;
}
