import { noGrad } from "../../autograd/grad_mode.js";
import { rand, remainder, unbind, where, zeros } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Parameter, SampleShape } from "../base/arguments.js";
import { distribution, type Given } from "../base/declaration.js";
import { oneMinus } from "../base/numbers.js";
import { positive, real } from "../constraints/constraints.js";

// The polynomials that PyTorch uses for the Bessel functions of orders 0 and 1, below 3.75 and from there on.
const kBessel = [
  {
    small: [1, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2],
    large: [
      0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1,
      -0.1647633e-1, 0.392377e-2,
    ],
  },
  {
    small: [0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3],
    large: [
      0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1,
      -0.2895312e-1, 0.1787654e-1, -0.420059e-2,
    ],
  },
] as const;

/** Von Mises distribution of angles around `loc`; the larger `concentration`, the closer they are. */
export class VonMises extends distribution({
  given: {} as Given<[loc: Parameter, concentration: Parameter]>,
  parameters: {
    /** The mean angle, in radians. */
    loc: real,
    /** How concentrated the angles are around `loc`. */
    concentration: positive,
  },
  support: real,
  mode: ({ loc }) => loc,
  logProb({ loc, concentration }, value) {
    const logCos = concentration.mul(value.sub(loc).cos());
    return logCos.sub(Math.log(2 * Math.PI)).sub(logBessel(concentration, 0));
  },
}) {
  /** The circular mean. */
  override get mean(): Tensor {
    return this.loc;
  }

  /** The circular variance, from 0 to 1. */
  override get variance(): Tensor {
    const { concentration } = this;
    return oneMinus(logBessel(concentration, 1).sub(logBessel(concentration, 0)).exp());
  }

  /** Draws angles from -π to π by rejection sampling, after Best and Fisher; every round waits for the result of the previous one. */
  override sample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("sample", shape);
    return scope(() => noGrad(() => drawn(this.loc, this.concentration, extended)));
  }
}

// Drawn in float64 for every dtype, as in PyTorch.
function drawn(angle: Tensor, spread: Tensor, shape: readonly number[]): Tensor {
  const { dtype, device } = angle;
  const double = { dtype: "float64", device } as const;
  const [loc, concentration] = [angle.to("float64"), spread.to("float64")];
  const proposal = proposalFor(concentration);
  let angles = zeros(shape, double);
  let isDrawn = zeros(shape, { dtype: "bool", device });
  while (!isDrawn.all().item()) {
    const [u1, u2, u3] = unbind(rand([3, ...shape], double)) as [Tensor, Tensor, Tensor];
    const z = u1.mul(Math.PI).cos();
    const f = proposal.mul(z).add(1).div(proposal.add(z));
    const c = concentration.mul(proposal.sub(f));
    const isNear = c.mul(c.neg().add(2)).sub(u2).gt(0);
    const isTaken = isNear.logicalOr(c.div(u2).log().add(1).sub(c).ge(0));
    angles = where(isTaken, u3.sub(0.5).sign().mul(f.acos()), angles);
    isDrawn = isDrawn.logicalOr(isTaken);
  }
  const turned = remainder(angles.add(Math.PI).add(loc), 2 * Math.PI);
  return turned.sub(Math.PI).to(dtype);
}

// The parameter of the wrapped Cauchy distribution that proposes angles; a Taylor series where cancellation would lose all digits.
function proposalFor(concentration: Tensor): Tensor {
  const tau = concentration.square().mul(4).add(1).sqrt().add(1);
  const rho = tau.sub(tau.mul(2).sqrt()).div(concentration.mul(2));
  const proposal = rho.square().add(1).div(rho.mul(2));
  const taylor = concentration.reciprocal().add(concentration);
  return where(concentration.lt(1e-5), taylor, proposal);
}

// The logarithm of the modified Bessel function I of an order, for positive numbers.
function logBessel(x: Tensor, order: 0 | 1): Tensor {
  const { small, large } = kBessel[order];
  const near = polynomial(x.div(3.75).square(), small);
  const far = polynomial(x.reciprocal().mul(3.75), large);
  const logNear = order === 1 ? x.abs().mul(near).log() : near.log();
  return where(x.lt(3.75), logNear, x.sub(x.log().mul(0.5)).add(far.log()));
}

function polynomial(x: Tensor, coefficients: readonly number[]): Tensor {
  const [first = 0, ...rest] = [...coefficients].reverse();
  const [second = 0, ...others] = rest;
  return others.reduce((sum, other) => sum.mul(x).add(other), x.mul(first).add(second));
}
