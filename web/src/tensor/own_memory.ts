// Typed arrays that have their memory for themselves. From TypeScript 5.7 on, typed arrays have the type of their memory as a parameter,
// and the platform's functions take no shared one; before, `Uint8Array<ArrayBuffer>` is an error. The types of the platform's own
// functions are right in both.

/** Bytes in memory that no other thread has, as `Response`, `Blob` and streams take them: `Uint8Array<ArrayBuffer>` where TypeScript knows that. */
export type Bytes = ReturnType<Uint8ArrayConstructor["of"]>;

/** The typed arrays that `data()` and `dataSync()` return: each a `TypedArray` in memory that no other thread has. */
export type DataArray =
  | ReturnType<Float32ArrayConstructor["of"]>
  | ReturnType<Float64ArrayConstructor["of"]>
  | ReturnType<Int8ArrayConstructor["of"]>
  | ReturnType<Int16ArrayConstructor["of"]>
  | ReturnType<Int32ArrayConstructor["of"]>
  | ReturnType<BigInt64ArrayConstructor["of"]>
  | ReturnType<Uint16ArrayConstructor["of"]>
  | ReturnType<Uint32ArrayConstructor["of"]>
  | ReturnType<BigUint64ArrayConstructor["of"]>
  | Bytes;
