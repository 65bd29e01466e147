// The functions of Bessel and Airy in torch.special.

export { airyAi } from "./airy.js";
export {
  besselJ0,
  besselJ1,
  besselY0,
  besselY1,
  modifiedBesselK0,
  modifiedBesselK1,
  scaledModifiedBesselK0,
  scaledModifiedBesselK1,
  sphericalBesselJ0,
} from "./bessel.js";
