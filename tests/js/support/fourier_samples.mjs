// Sample calls of the composites of Fourier transforms, by the name of the function (composite_calls.mjs).

const kSpectra = ["T([4, 6])", 'C([2, 3, 4]), [4, 3], [0, 2], "ortho"', "C([3, 2]), {s: [2, -1]}"];

const kReal = ["T([3, 4])", 'T([2, 3, 4]), [3, 5], [1, 2], "forward"'];

const kHalf = ["C([3, 4])", 'C([2, 3, 4]), [2, 5], [0, 2], "ortho"'];

export const kFourierSamples = {
  bartlettWindow: ["8", "1, false"],
  blackmanWindow: ["8", "5, false"],
  fft2: kSpectra,
  fftfreq: ["8, 0.5", "5"],
  fftn: kSpectra,
  fftshift: ["T([3, 4])", "C([5]), 0"],
  hammingWindow: ["8", "5, false, {alpha: 0.5, beta: 0.4}"],
  hannWindow: ["8", '5, {periodic: false, dtype: "float64"}'],
  hfft: ["C([4])", 'C([2, 3]), 5, 1, "ortho"'],
  hfft2: kHalf,
  hfftn: kHalf,
  ifft2: kSpectra,
  ifftn: kSpectra,
  ifftshift: ["T([3, 4])", "C([5]), {dim: [0]}"],
  ihfft: ["T([5])", 'T([2, 4]), {norm: "forward"}'],
  ihfft2: kReal,
  ihfftn: kReal,
  irfft2: kHalf,
  irfftn: kHalf,
  istft: [
    "C([5, 4]), 8, {window: T([8], 0.5, 1)}",
    "C([2, 8, 3]), 8, 2, 8, T([8], 0.5, 1), {center: false, length: 9, normalized: true, onesided: false}",
  ],
  kaiserWindow: ["8", "5, false, 4"],
  rfft2: kReal,
  rfftfreq: ["8, 0.5", "5"],
  rfftn: kReal,
  stft: [
    "T([20]), 8, {onesided: false, returnComplex: true}",
    'T([2, 9]), 4, 3, 3, T([3], 0.5, 1), {padMode: "constant", normalized: true, onesided: false, returnComplex: false}',
    "C([12]), 4, {center: false}",
  ],
};
