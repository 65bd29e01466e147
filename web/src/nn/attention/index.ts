export {
  type AttentionArguments,
  type AttentionOptions,
  MultiheadAttention,
  type MultiheadAttentionOptions,
} from "./attention.js";
export {
  type DecoderLayerArguments,
  type DecoderLayerOptions,
  TransformerDecoderLayer,
} from "./decoder_layer.js";
export {
  type EncoderArguments,
  type EncoderOptions,
  TransformerEncoderLayer,
  type TransformerEncoderLayerOptions,
} from "./encoder_layer.js";
export {
  type DecoderLayer,
  type EncoderLayer,
  type FinalNorm,
  TransformerDecoder,
  type TransformerDecoderArguments,
  type TransformerDecoderCall,
  type TransformerDecoderOptions,
  TransformerEncoder,
  type TransformerEncoderArguments,
  type TransformerEncoderCall,
  type TransformerEncoderOptions,
} from "./stacks.js";
export {
  type CustomDecoder,
  type CustomEncoder,
  Transformer,
  type TransformerArguments,
  type TransformerCall,
  type TransformerOptions,
} from "./transformer.js";
export type { TransformerActivation, TransformerLayerOptions } from "./transformer_options.js";
