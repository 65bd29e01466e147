export {
  type CellArguments,
  type CellOptions,
  GRUCell,
  LSTMCell,
  RNNCell,
  type RNNCellOptions,
} from "./cells.js";
export type { Sequence } from "./packed_sequence.js";
export type { RecurrentOptions } from "./recurrent.js";
export {
  GRU,
  type GRUOptions,
  LSTM,
  type LSTMOptions,
  type LSTMState,
  RNN,
  type RNNOptions,
} from "./rnn.js";
export type { Nonlinearity as RNNNonlinearity } from "./steps.js";
