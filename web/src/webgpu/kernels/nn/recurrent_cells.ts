// The WGSL of the cells of recurrent layers, for one unit of the state of one row. It uses `row`, `unit` and `here`, the position
// of the unit in arrays with one number per unit.

import { RecurrentCell } from "../../../generated/stream";

/** The WGSL of a cell. */
export interface CellText {
  /** The number of gates. */
  readonly gates: number;
  /** Computes a step; `sums` has the hidden state's part of each gate, as a vector if there are several. */
  readonly step: string;
  /** Computes the gradient of a step; `g` is the gradient of the next hidden state. */
  readonly gradient: string;
  /** Whether the gradient reads the state before and after the step. */
  readonly readsState: boolean;
  readonly readsNextState: boolean;
}

const lstm: CellText = {
  gates: 4,
  step: `let at = row * 4u * u.width + unit;
    let input = sigmoid_f32(sums.x + load_x(at));
    let forget = sigmoid_f32(sums.y + load_x(at + u.width));
    let candidate = tanh_f32(sums.z + load_x(at + 2u * u.width));
    let output = sigmoid_f32(sums.w + load_x(at + 3u * u.width));
    let next = forget * load_state(here) + input * candidate;
    store_kept(at, input);
    store_kept(at + u.width, forget);
    store_kept(at + 2u * u.width, candidate);
    store_kept(at + 3u * u.width, output);
    store_next_state(here, next);
    store_next_hidden(here, output * tanh_f32(next));`,
  gradient: `let at = row * 4u * u.width + unit;
    let input = load_kept(at);
    let forget = load_kept(at + u.width);
    let candidate = load_kept(at + 2u * u.width);
    let output = load_kept(at + 3u * u.width);
    let shown = tanh_f32(load_next_state(here));
    let of_next = load_grad_state(here) + g * output * (1f - shown * shown);
    store_grad_gates(at, of_next * candidate * (input * (1f - input)));
    store_grad_gates(at + u.width, of_next * load_state(here) * (forget * (1f - forget)));
    store_grad_gates(at + 2u * u.width, of_next * input * (1f - candidate * candidate));
    store_grad_gates(at + 3u * u.width, g * shown * (output * (1f - output)));
    store_grad_state(here, of_next * forget);`,
  readsState: true,
  readsNextState: true,
};

const gru: CellText = {
  gates: 3,
  step: `let at = row * 3u * u.width + unit;
    let reset = sigmoid_f32(sums.x + load_x(at));
    let update = sigmoid_f32(sums.y + load_x(at + u.width));
    let candidate = tanh_f32(load_x(at + 2u * u.width) + reset * sums.z);
    let kept_at = row * 4u * u.width + unit;
    store_kept(kept_at, reset);
    store_kept(kept_at + u.width, update);
    store_kept(kept_at + 2u * u.width, sums.z);
    store_kept(kept_at + 3u * u.width, candidate);
    store_next_hidden(here, (load_hidden(here) - candidate) * update + candidate);`,
  gradient: `let kept_at = row * 4u * u.width + unit;
    let reset = load_kept(kept_at);
    let update = load_kept(kept_at + u.width);
    let hidden_part = load_kept(kept_at + 2u * u.width);
    let candidate = load_kept(kept_at + 3u * u.width);
    let all = load_grad_state(here) + g;
    let of_candidate = all * (1f - update) * (1f - candidate * candidate);
    let of_reset = of_candidate * hidden_part * (reset * (1f - reset));
    let of_update = all * (load_state(here) - candidate) * (update * (1f - update));
    let at = row * 3u * u.width + unit;
    store_grad_input_gates(at, of_reset);
    store_grad_input_gates(at + u.width, of_update);
    store_grad_input_gates(at + 2u * u.width, of_candidate);
    store_grad_gates(at, of_reset);
    store_grad_gates(at + u.width, of_update);
    store_grad_gates(at + 2u * u.width, of_candidate * reset);
    store_grad_state(here, all * update);`,
  readsState: true,
  readsNextState: false,
};

// The activation is a function of `sum`, the gradient one of its value `y`.
function rnn(activation: string, gradient: string): CellText {
  return {
    gates: 1,
    step: `let sum = sums + load_x(here);
    store_next_hidden(here, ${activation});`,
    gradient: `let y = load_next_state(here);
    store_grad_gates(here, ${gradient});`,
    readsState: false,
    readsNextState: true,
  };
}

/** The WGSL of each cell. */
export const kCells: Readonly<Record<RecurrentCell, CellText>> = {
  [RecurrentCell.Lstm]: lstm,
  [RecurrentCell.Gru]: gru,
  [RecurrentCell.Tanh]: rnn("tanh_f32(sum)", "g * (1f - y * y)"),
  [RecurrentCell.Relu]: rnn("maximum_f32(sum, 0f)", "select(g, 0f, y <= 0f)"),
};
