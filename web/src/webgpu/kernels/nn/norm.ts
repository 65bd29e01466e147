// Normalization of rows: layer norm, and RMS norm, which has no mean.

import type {
  RowNorm,
  RowNormBackwardInput,
  RowNormBackwardParameters,
} from "../../../generated/stream";
import type { Kernel } from "../kernel";
import { chooseLanes, combineLanes, dispatchOfLanes, forEachLane, kSum } from "../lanes";
import { accesses, dispatchRows } from "./rows";

export const rowNorm: Kernel<RowNorm> = {
  supported: { all: ["float32"] },

  play({ rows, width, eps, x, weight, bias, y, mean, rstd }, commands): void {
    const meanText = `var mean = 0f;
  for (var k = lane; k < u.size; k += kLanes) {
    mean += load_x(first + k);
  }
  mean = sum_of_lanes(thread, mean) / f32(u.size);`;
    const result = `(load_x(first + k) - mean) * rstd${weight ? " * load_weight(k)" : ""}${bias ? " + load_bias(k)" : ""}`;
    dispatchRows(
      commands,
      { outer: rows, size: width, inner: 1 },
      {
        key: `row_norm ${!!weight} ${!!bias} ${!!mean}`,
        memory: [...accesses("read", { x, weight, bias }), ...accesses("write", { y, mean, rstd })],
        uniforms: { f32: { eps } },
        stores: [{ name: "y", count: rows * width }],
        combine: { sum_of_lanes: kSum },
        work: `${mean ? meanText : "let mean = 0f;"}
  var squares = 0f;
  for (var k = lane; k < u.size; k += kLanes) {
    let centered = load_x(first + k) - mean;
    squares += centered * centered;
  }
  squares = sum_of_lanes(thread, squares);
  let rstd = 1f / sqrt_f32(squares / f32(u.size) + u.eps);
  if (is_inside) {
    for (var k = lane; k < u.size; k += kLanes) {
      store_y(first + k, ${result});
    }
    if (lane == 0u) {
      ${mean ? "store_mean(position, mean);" : ""}
      store_rstd(position, rstd);
    }
  }`,
      },
    );
  },
};

export const rowNormBackwardInput: Kernel<RowNormBackwardInput> = {
  supported: { all: ["float32"] },

  play({ rows, width, x, weight, mean, rstd, gradY: g, gradX }, commands): void {
    // With x' = (x - mean) rstd and g' = g weight, the gradient is rstd (g' - mean(g') - x' mean(g' x')).
    dispatchRows(
      commands,
      { outer: rows, size: width, inner: 1 },
      {
        key: `row_norm_backward_input ${!!weight} ${!!mean}`,
        memory: [
          ...accesses("read", { x, weight, mean, rstd, g }),
          ...accesses("write", { grad_x: gradX }),
        ],
        stores: [{ name: "grad_x", count: rows * width }],
        combine: { sum_of_lanes: kSum },
        functions: `fn weighted(first: u32, k: u32) -> f32 { return load_g(first + k)${weight ? " * load_weight(k)" : ""}; }`,
        work: `let mean = ${mean ? "load_mean(position)" : "0f"};
  let rstd = load_rstd(position);
  var dot = 0f;
  var sum = 0f;
  for (var k = lane; k < u.size; k += kLanes) {
    let g = weighted(first, k);
    dot += g * (load_x(first + k) - mean);
    sum += g;
  }
  let mean_gx = sum_of_lanes(thread, dot) * rstd / f32(u.size);
  let mean_g = ${mean ? "sum_of_lanes(thread, sum) / f32(u.size)" : "0f"};
  if (is_inside) {
    for (var k = lane; k < u.size; k += kLanes) {
      let normalized = (load_x(first + k) - mean) * rstd;
      store_grad_x(first + k, (weighted(first, k) - mean_g - normalized * mean_gx) * rstd);
    }
  }`,
      },
    );
  },
};

export const rowNormBackwardParameters: Kernel<RowNormBackwardParameters> = {
  supported: { all: ["float32"] },

  play({ rows, width, x, mean, rstd, gradY: g, gradWeight, gradBias }, commands): void {
    if (width === 0 || !(gradWeight || gradBias)) return;
    const chosen = chooseLanes(commands, width, rows, false);
    const dispatch = dispatchOfLanes(chosen, width, (lanes) => ({
      key: `row_norm_backward_parameters ${!!mean} ${!!gradWeight} ${!!gradBias}`,
      memory: [
        ...accesses("read", { x, mean, rstd, g }),
        ...accesses("write", { grad_weight: gradWeight, grad_bias: gradBias }),
      ],
      uniforms: { u32: { positions: width, rows } },
      body: () =>
        [
          combineLanes("sum_of_lanes", lanes, kSum),
          forEachLane(
            lanes,
            `var weight = 0f;
  var bias = 0f;
  for (var row = lane; row < u.rows; row += kLanes) {
    let at = row * u.positions + position;
    let g = load_g(at);
    bias += g;
    weight += g * (load_x(at) - ${mean ? "load_mean(row)" : "0f"}) * load_rstd(row);
  }
  weight = sum_of_lanes(thread, weight);
  bias = sum_of_lanes(thread, bias);
  if (lane == 0u && is_inside) {
    ${gradWeight ? "store_grad_weight(position, weight);" : ""}
    ${gradBias ? "store_grad_bias(position, bias);" : ""}
  }`,
          ),
        ].join("\n"),
    }));
    commands.dispatch(dispatch);
  },
};
