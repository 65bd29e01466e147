// nn.utils.rnn: batches of sequences of several lengths.

export { PackedSequence } from "../../recurrent/packed_sequence.js";
export {
  type PackPaddedSequenceOptions,
  type PadPackedSequenceOptions,
  packPaddedSequence,
  packSequence,
  padPackedSequence,
  unpackSequence,
} from "./packing.js";
export { type PadSequenceOptions, padSequence, unpadSequence } from "./padding.js";
