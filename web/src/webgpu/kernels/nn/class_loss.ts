// Losses of classes given by index, as defined in src/kernels/class_loss.h.

import type {
  ClassTargets,
  CrossEntropy,
  CrossEntropyBackward,
  FindBadTarget,
  MeanLoss,
  NllLosses,
  TargetDistribution,
} from "../../../generated/stream";
import { int64Of } from "../../scalars";
import type { Access } from "../../shader";
import { kReporting, statusOf } from "../index/checked";
import { forEach, invocations } from "../invocations";
import type { Kernel } from "../kernel";
import { chooseLanes, combineLanes, dispatchOfLanes, forEachLane, kMaximum, kSum } from "../lanes";
import { dispatchRows } from "./rows";
import { kRowSum } from "./softmax";

// The parts that all shaders for targets share.
function partsOf(targets: ClassTargets) {
  const { rows, index, weight, ignoreIndex, smoothing } = targets;
  const memory: Access[] = [
    { name: "target", view: index, mode: "read" },
    ...(weight === undefined ? [] : [{ name: "weight", view: weight, mode: "read" } as const]),
  ];
  const uniforms = {
    u32: { classes: rows.size },
    i64: { ignore: int64Of(ignoreIndex) },
    f32: { hit: 1 - smoothing, share: smoothing / rows.size },
  };
  const functions = `fn weight_of(class_index: u32) -> f32 { return ${weight === undefined ? "1f" : "load_weight(class_index)"}; }
fn is_ignored(position: u32) -> bool { return equal_i64(load_target(position), u.ignore); }
fn class_of(position: u32) -> u32 { return min(load_target(position).x, u.classes - 1u); }
`;
  return { key: weight === undefined ? "" : "w", memory, uniforms, functions };
}

const kTargetViews = [["int64"], ["float32"]] as const;

export const nllLosses: Kernel<NllLosses> = {
  supported: { views: [...kTargetViews, ["float32"], ["float32"]] },

  play({ targets, logProbabilities, losses }, commands): void {
    const { outer, size, inner } = targets.rows;
    const { key, memory, uniforms, functions } = partsOf(targets);
    const count = outer * inner;
    commands.dispatch({
      key: `nll_losses ${key}`,
      memory: [
        ...memory,
        { name: "x", view: logProbabilities, mode: "read" },
        { name: "losses", view: losses, mode: "write" },
      ],
      uniforms: { ...uniforms, u32: { ...uniforms.u32, count, size, inner } },
      workgroups: invocations(count),
      body: () =>
        functions +
        forEach(`var loss = 0f;
  if (!is_ignored(i)) {
    let chosen = class_of(i);
    loss = -weight_of(chosen) * load_x(i / u.inner * u.inner * u.size + chosen * u.inner + i % u.inner);
  }
  store_losses(i, loss);`),
    });
  },
};

export const targetDistribution: Kernel<TargetDistribution> = {
  supported: { views: [...kTargetViews, ["float32"]] },

  play({ targets, distribution }, commands): void {
    const { key, memory, uniforms, functions } = partsOf(targets);
    dispatchRows(commands, targets.rows, {
      key: `target_distribution ${key}`,
      memory: [...memory, { name: "q", view: distribution, mode: "write" }],
      uniforms,
      combine: {},
      functions,
      work: `if (is_inside) {
    let ignored = is_ignored(position);
    var chosen = 0u;
    if (!ignored) {
      chosen = class_of(position);
    }
    for (var k = lane; k < u.size; k += kLanes) {
      let all = u.share * weight_of(k);
      let q = select(all, all + u.hit * weight_of(k), k == chosen);
      store_q(first + k * u.inner, select(q, 0f, ignored));
    }
  }`,
    });
  },
};

export const crossEntropy: Kernel<CrossEntropy> = {
  supported: { views: [...kTargetViews, ["float32"], ["float32"], ["float32"], ["float32"]] },

  play({ targets, scores, losses, largest, logSum }, commands): void {
    const { key, memory, uniforms, functions } = partsOf(targets);
    const isSmooth = targets.smoothing !== 0;
    const smooth = `var smooth_loss = 0f;
  for (var k = lane; k < u.size; k += kLanes) {
    smooth_loss += weight_of(k) * (log_sum - (load_x(first + k * u.inner) - largest));
  }
  smooth_loss = sum_of_lanes(thread, smooth_loss);`;
    dispatchRows(commands, targets.rows, {
      key: `cross_entropy ${key} ${isSmooth}`,
      memory: [
        ...memory,
        { name: "x", view: scores, mode: "read" },
        { name: "losses", view: losses, mode: "write" },
        { name: "largest", view: largest, mode: "write" },
        { name: "log_sum", view: logSum, mode: "write" },
      ],
      uniforms,
      combine: { largest_of_lanes: kMaximum, sum_of_lanes: kSum },
      functions,
      work: `${kRowSum}
  let log_sum = log_f32(sum);
  ${isSmooth ? smooth : ""}
  if (lane == 0u && is_inside) {
    var loss = 0f;
    if (!is_ignored(position)) {
      let chosen = class_of(position);
      let cost = log_sum - (load_x(first + chosen * u.inner) - largest);
      loss = u.hit * weight_of(chosen) * cost${isSmooth ? " + u.share * smooth_loss" : ""};
    }
    store_losses(position, loss);
    store_largest(position, largest);
    store_log_sum(position, log_sum);
  }`,
    });
  },
};

export const crossEntropyBackward: Kernel<CrossEntropyBackward> = {
  supported: {
    views: [
      ...kTargetViews,
      ["float32"],
      ["float32"],
      ["float32"],
      ["float32"],
      ["float32"],
      ["float32"],
    ],
  },

  play(
    { targets, scores, largest, logSum, grad, gradStep, totalWeight, gradScores },
    commands,
  ): void {
    const { key, memory, uniforms, functions } = partsOf(targets);
    const isSmooth = targets.smoothing !== 0;
    const total = `var total = 0f;
  for (var k = lane; k < u.size; k += kLanes) {
    total += weight_of(k);
  }
  total = sum_of_lanes(thread, total);`;
    dispatchRows(commands, targets.rows, {
      key: `cross_entropy_backward ${key} ${isSmooth} ${!!totalWeight}`,
      memory: [
        ...memory,
        { name: "x", view: scores, mode: "read" },
        { name: "largest", view: largest, mode: "read" },
        { name: "log_sum", view: logSum, mode: "read" },
        { name: "grad", view: grad, mode: "read" },
        ...(totalWeight ? [{ name: "total", view: totalWeight, mode: "read" } as const] : []),
        { name: "grad_x", view: gradScores, mode: "write" },
      ],
      uniforms: { ...uniforms, u32: { ...uniforms.u32, grad_step: gradStep } },
      combine: isSmooth ? { sum_of_lanes: kSum } : {},
      functions,
      work: `${isSmooth ? total : ""}
  if (is_inside) {
    let ignored = is_ignored(position);
    var chosen = 0u;
    if (!ignored) {
      chosen = class_of(position);
    }
    var g = load_grad(position * u.grad_step);
    ${totalWeight ? "let shares = load_total(0u);\n    g = select(g / shares, 0f, shares == 0f);" : ""}
    let hit = u.hit * weight_of(chosen);
    let all = g * (hit${isSmooth ? " + u.share * total" : ""});
    let largest = load_largest(position);
    let log_sum = load_log_sum(position);
    for (var k = lane; k < u.size; k += kLanes) {
      let at = first + k * u.inner;
      var value = all * exp_f32(load_x(at) - largest - log_sum);
      if (k == chosen) {
        value -= g * hit;
      }
      ${isSmooth ? "value -= g * u.share * weight_of(k);" : ""}
      store_grad_x(at, select(value, 0f, ignored));
    }
  }`,
    });
  },
};

export const meanLoss: Kernel<MeanLoss> = {
  supported: { views: [...kTargetViews, ["float32"], ["float32"], ["float32"]] },

  play({ targets, losses, mean, totalWeight }, commands): void {
    const { key, memory, uniforms, functions } = partsOf(targets);
    const count = targets.rows.outer * targets.rows.inner;
    const chosen = chooseLanes(commands, 1, Math.max(count, 512), true);
    const dispatch = dispatchOfLanes(chosen, 1, (lanes) => ({
      key: `mean_loss ${key}`,
      memory: [
        ...memory,
        { name: "losses", view: losses, mode: "read" },
        { name: "mean", view: mean, mode: "write" },
        { name: "total", view: totalWeight, mode: "write" },
      ],
      uniforms: { ...uniforms, u32: { ...uniforms.u32, positions: 1, count } },
      body: () =>
        [
          functions,
          combineLanes("sum_of_lanes", lanes, kSum),
          forEachLane(
            lanes,
            `var total = 0f;
  var sum = 0f;
  for (var k = lane; k < u.count; k += kLanes) {
    sum += load_losses(k);
    if (!is_ignored(k)) {
      total += weight_of(class_of(k));
    }
  }
  total = sum_of_lanes(thread, total);
  sum = sum_of_lanes(thread, sum);
  if (lane == 0u && is_inside) {
    store_total(0u, total);
    store_mean(0u, select(sum / total, nan_f32(), total == 0f && sum == 0f));
  }`,
          ),
        ].join("\n"),
    }));
    commands.dispatch(dispatch);
  },
};

/** The status words report a bad target, with the op of the command. */
export const findBadTarget: Kernel<FindBadTarget> = {
  supported: { views: [...kTargetViews, ["int64"]] },

  play({ targets, checked }, commands): void {
    if (checked === undefined) throw new Error("bad targets are reported in the status words only");
    const { key, memory, uniforms, functions } = partsOf(targets);
    const count = targets.rows.outer * targets.rows.inner;
    const status = statusOf(commands);
    commands.dispatch({
      key: `find_bad_target ${key}`,
      memory: [...memory, { name: "checked", view: checked, mode: "write" }, status.access],
      uniforms: { ...uniforms, u32: { ...uniforms.u32, count, ...status.uniforms } },
      workgroups: invocations(count),
      body: () =>
        functions +
        kReporting +
        forEach(`if (is_ignored(i)) {
    store_checked(i, load_target(i));
  } else {
    store_checked(i, vec2(reported_index(load_target(i), u.classes), 0u));
  }`),
    });
  },
};
