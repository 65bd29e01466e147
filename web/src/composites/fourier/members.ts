// The members of eg.fft: the functions of torch.fft.

export { fft, ifft, irfft, rfft } from "../../generated/ops.js";
export { fftfreq, fftshift, ifftshift, rfftfreq } from "./frequencies.js";
export {
  fft2,
  fftn,
  hfft,
  hfft2,
  hfftn,
  ifft2,
  ifftn,
  ihfft,
  ihfft2,
  ihfftn,
  irfft2,
  irfftn,
  rfft2,
  rfftn,
} from "./transforms.js";
