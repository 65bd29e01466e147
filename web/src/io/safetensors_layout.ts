// A safetensors file: the size of the header as a little-endian 64-bit number, the header as JSON,
// then the data. The header names each tensor with its type, shape and the range of its data.

/** Bytes before the header. */
export const kHeaderBytes = 8;

/** The largest header that the reference implementation reads. */
export const kMaxHeaderSize = 100_000_000;

/** The header's entry for text. */
export const kMetadataKey = "__metadata__";
