// torch.float32 and its like: the texts that options take.

/** Whole numbers from 0 to 255. */
export const uint8 = "uint8";
/** Whole numbers of 32 bits. */
export const int32 = "int32";
/** Whole numbers of 64 bits. */
export const int64 = "int64";
/** Numbers of 16 bits: 11 digits of a binary fraction. */
export const float16 = "float16";
/** Numbers of 16 bits with the range of float32 and 8 digits of a binary fraction. */
export const bfloat16 = "bfloat16";
/** Numbers of 32 bits. */
export const float32 = "float32";
/** Numbers of 64 bits. */
export const float64 = "float64";
/** Complex numbers, their parts of 32 bits. */
export const complex64 = "complex64";
/** Complex numbers, their parts of 64 bits. */
export const complex128 = "complex128";
/** True or false. */
export const bool = "bool";

export { float16 as half, float32 as float, float64 as double, int32 as int, int64 as long };
