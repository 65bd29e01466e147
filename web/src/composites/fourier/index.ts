// Fourier transforms and related functions.

export { fftfreq, fftshift, ifftshift, rfftfreq } from "./frequencies.js";
export { istft, stft } from "./spectrogram.js";
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
export {
  bartlettWindow,
  blackmanWindow,
  hammingWindow,
  hannWindow,
  kaiserWindow,
} from "./windows.js";
