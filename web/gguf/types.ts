// The numbers that GGUF files have for types of values and of tensors.

/** A value of the metadata: large lists of numbers are typed arrays. */
export type GgufValue = number | boolean | string | readonly GgufValue[] | ArrayLike<number>;

/** The types of values of the metadata by their numbers. */
export const kValueTypes = [
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "float32",
  "bool",
  "string",
  "array",
  "uint64",
  "int64",
  "float64",
] as const;

/** The types of tensors that files have, by their numbers. */
export const kTensorTypes: Readonly<Record<number, string>> = {
  0: "F32",
  1: "F16",
  2: "Q4_0",
  3: "Q4_1",
  6: "Q5_0",
  7: "Q5_1",
  8: "Q8_0",
  9: "Q8_1",
  10: "Q2_K",
  11: "Q3_K",
  12: "Q4_K",
  13: "Q5_K",
  14: "Q6_K",
  15: "Q8_K",
  16: "IQ2_XXS",
  17: "IQ2_XS",
  18: "IQ3_XXS",
  19: "IQ1_S",
  20: "IQ4_NL",
  21: "IQ3_S",
  22: "IQ2_S",
  23: "IQ4_XS",
  24: "I8",
  25: "I16",
  26: "I32",
  27: "I64",
  28: "F64",
  29: "IQ1_M",
  30: "BF16",
  34: "TQ1_0",
  35: "TQ2_0",
  39: "MXFP4",
};

/** The bytes at the beginning of a file. */
export const kMagic = "GGUF";

/** Tensors begin at multiples of this many bytes, unless `general.alignment` says otherwise. */
export const kAlignment = 32;
