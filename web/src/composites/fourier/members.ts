// The members of eg.fft: the functions of torch.fft.

export { fft, ifft, irfft, rfft } from "../../generated/ops.js";
export * from "./frequencies.js";
export * from "./transforms.js";
