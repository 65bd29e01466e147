// Fourier transforms and related functions.

export * from "./frequencies.js";
export { istft, stft } from "./spectrogram.js";
export * from "./transforms.js";
export * from "./windows.js";
