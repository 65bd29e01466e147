// Written by tools/border.cpp (npm run generate). Do not edit.
//
// The words, flags and names that C++ and TypeScript exchange; bindings/words.h explains them.

/** What native.borderHash() returns of a module with this format and that of stream.ts. */
export const kBorderHash = 3529594212;

/** The element type of a tensor. */
export type DType =
  | "float32"
  | "float64"
  | "int32"
  | "int64"
  | "uint8"
  | "bool"
  | "complex64"
  | "complex128"
  | "float16"
  | "bfloat16"
  | "int8"
  | "int16"
  | "complex32"
  | "float8_e4m3fn"
  | "float8_e5m2"
  | "uint16"
  | "uint32"
  | "uint64";

/** All of them, in the order of their numbers. */
export const kDTypes: readonly DType[] = [
  "float32",
  "float64",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
  "complex128",
  "float16",
  "bfloat16",
  "int8",
  "int16",
  "complex32",
  "float8_e4m3fn",
  "float8_e5m2",
  "uint16",
  "uint32",
  "uint64",
];

/** The dtypes that kernels compute, in the order of their numbers. */
export const kComputedDTypes = [
  "float32",
  "float64",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
  "complex128",
] as const;

/** A dtype that kernels compute. */
export type ComputedDType = (typeof kComputedDTypes)[number];

/** The codes of `EdgeGradError`. */
export type ErrorCode =
  | "NotInitialized"
  | "InvalidArgument"
  | "ShapeMismatch"
  | "DtypeMismatch"
  | "DeviceMismatch"
  | "IndexOutOfRange"
  | "NonScalarBackward"
  | "NoGradPath"
  | "GraphFreed"
  | "ModifiedInPlace"
  | "LeafInPlace"
  | "ViewInPlace"
  | "UnusedInput"
  | "InvalidGradient"
  | "InferenceTensor"
  | "NotDifferentiable"
  | "AnomalyNan"
  | "OutOfMemory"
  | "DeviceUnavailable"
  | "DeviceLost"
  | "WouldBlock"
  | "Disposed"
  | "Internal";

// TensorWords
export const kDtypeWord = 0;
export const kDeviceWord = 1;
export const kNdimWord = 2;
export const kNumelWord = 3;
export const kOffsetWord = 4;
export const kVersionWord = 5;
export const kOutputNrWord = 6;
export const kFlagsWord = 7;
export const kNnzWord = 8;
export const kSparseDimWord = 9;

/** The number of TensorWords. */
export const kTensorWords = 10;

// MemoryWords
export const kTensorsWord = 0;
export const kStoragesWord = 1;
export const kBytesWord = 2;
export const kPeakBytesWord = 3;
export const kCachedBytesWord = 4;
export const kNodesWord = 5;
export const kHandlesWord = 6;

/** The number of MemoryWords. */
export const kMemoryWords = 7;

// GpuMemoryWords
export const kGpuBytesWord = 0;
export const kGpuPeakBytesWord = 1;
export const kGpuBuffersWord = 2;

/** The number of GpuMemoryWords. */
export const kGpuMemoryWords = 3;

// TensorFlags
export const kRequiresGrad = 1;
export const kIsLeaf = 2;
export const kIsContiguous = 4;
export const kIsView = 8;
export const kRetainsGrad = 16;
export const kIsInference = 32;
export const kIsSparse = 64;
export const kIsCsr = 128;
export const kIsCoalesced = 256;

// InvokeFlags
export const kInPlace = 1;

// GraphFlags
export const kRetainGraphGiven = 1;
export const kRetainGraph = 2;
export const kCreateGraph = 4;
export const kAllowUnusedGiven = 8;
export const kAllowUnused = 16;
export const kMaterializeGrads = 32;
export const kGradsBatched = 64;
export const kCaptureGrads = 128;

// AnomalyFlags
export const kAnomalyEnabled = 1;
export const kAnomalyCheckNan = 2;

// Features
export const kHasThreads = 1;
export const kHasSimd = 2;
export const kHasRelaxedSimd = 4;

