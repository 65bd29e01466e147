// Constants for the dtype names that options take, like torch.float32.

/** Unsigned 8-bit integers, from 0 to 255. */
export const uint8 = "uint8";
/** Unsigned 16-bit integers, from 0 to 65535. They promote with no other integer dtype. */
export const uint16 = "uint16";
/** Unsigned 32-bit integers. They promote with no other integer dtype, and only elementwise ops and ops that move elements compute them. */
export const uint32 = "uint32";
/** Unsigned 64-bit integers. They are stored, moved and compared for equality; convert them to compute. */
export const uint64 = "uint64";
/** Signed 8-bit integers, from -128 to 127. */
export const int8 = "int8";
/** Signed 16-bit integers, from -32768 to 32767. */
export const int16 = "int16";
/** Signed 32-bit integers. */
export const int32 = "int32";
/** Signed 64-bit integers. */
export const int64 = "int64";
/** IEEE 16-bit floats, with 11 bits of precision. */
export const float16 = "float16";
/** 16-bit floats with the range of float32 and 8 bits of precision. */
export const bfloat16 = "bfloat16";
/** 8-bit floats with 4 bits of exponent and 3 of fraction, without infinity. Only stored: no other dtype promotes with them. */
export const float8_e4m3fn = "float8_e4m3fn";
/** 8-bit floats with 5 bits of exponent and 2 of fraction. Only stored: no other dtype promotes with them. */
export const float8_e5m2 = "float8_e5m2";
/** 32-bit floats. */
export const float32 = "float32";
/** 64-bit floats. */
export const float64 = "float64";
/** Complex numbers with 16-bit real and imaginary parts. */
export const complex32 = "complex32";
/** Complex numbers with 32-bit real and imaginary parts. */
export const complex64 = "complex64";
/** Complex numbers with 64-bit real and imaginary parts. */
export const complex128 = "complex128";
/** True or false. */
export const bool = "bool";

export {
  float16 as half,
  float32 as float,
  float64 as double,
  int16 as short,
  int32 as int,
  int64 as long,
};
