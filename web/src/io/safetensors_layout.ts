// A safetensors file contains the size of the header as a little-endian 64-bit number, the header as JSON,
// then the data. The header lists each tensor with its type, shape and the range of its data.

/** The number of bytes before the header. */
export const kHeaderBytes = 8;

/** The largest header size that the reference implementation accepts. */
export const kMaxHeaderSize = 100_000_000;

/** The header's key for metadata. */
export const kMetadataKey = "__metadata__";
