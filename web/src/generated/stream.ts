// Written by tools/border.cpp (npm run generate). Do not edit.
//
// The GPU's stream. The fields are explained at the structs: commands in
// src/backend/webgpu/commands.h, kernels in src/kernels.

import type { Formula, Operand, View } from "../webgpu/stream";
import type { ComputedDType } from "./border";

export interface Allocate {
  readonly block: number;
  readonly bytes: number;
}

export interface Free {
  readonly block: number;
}

export interface Use {
  readonly block: number;
  readonly bytes: number;
}

export interface Write {
  readonly block: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface Read {
  readonly block: number;
  readonly offset: number;
  readonly count: number;
  readonly address: number;
  readonly ticket: number;
}

export interface Kernel {
  readonly kernel: number;
  readonly op: number;
}

export interface Name {
  readonly number: number;
  readonly text: string;
}

export interface Stamp {
  readonly slot: number;
}

export interface Stamps {
  readonly block: number;
  readonly count: number;
}

export interface BeginRecording {
  readonly recording: number;
}

export interface EndRecording {
}

export interface Play {
  readonly recording: number;
}

export interface Forget {
  readonly recording: number;
}

export interface Idle {
  readonly block: number;
}

export interface HeadMatrices {
  readonly memory: View;
  readonly strides: readonly number[];
}

export interface OptionalHeadMatrices {
  readonly memory: View | undefined;
  readonly strides: readonly number[];
}

export interface Attention {
  readonly batch: readonly number[];
  readonly queries: number;
  readonly keys: number;
  readonly features: number;
  readonly valueFeatures: number;
  readonly scale: number;
  readonly isCausal: boolean;
  readonly query: HeadMatrices;
  readonly key: HeadMatrices;
  readonly value: HeadMatrices;
  readonly mask: OptionalHeadMatrices;
}

export interface Attend {
  readonly attention: Attention;
  readonly y: View;
  readonly yStrides: readonly number[];
  readonly logSums: View;
}

const kHeadMatrices = { memory: "memory", strides: "list" } as const;

const kOptionalHeadMatrices = { memory: "optional memory", strides: "list" } as const;

const kAttention = { batch: "list", queries: "int64", keys: "int64", features: "int64", valueFeatures: "int64", scale: "double", isCausal: "bool", query: kHeadMatrices, key: kHeadMatrices, value: kHeadMatrices, mask: kOptionalHeadMatrices } as const;

export interface AttendBackward {
  readonly attention: Attention;
  readonly gradY: HeadMatrices;
  readonly logSums: View;
  readonly gradQuery: View | undefined;
  readonly gradKey: View | undefined;
  readonly gradValue: View | undefined;
}

export interface RunningChannels {
  readonly momentum: number;
  readonly mean: View | undefined;
  readonly variance: View | undefined;
}

export interface ChannelNorm {
  readonly outer: number;
  readonly channels: number;
  readonly inner: number;
  readonly eps: number;
  readonly x: View;
  readonly weight: View | undefined;
  readonly bias: View | undefined;
  readonly y: View;
  readonly mean: View;
  readonly variance: View | undefined;
  readonly rstd: View;
  readonly running: RunningChannels;
}

const kRunningChannels = { momentum: "double", mean: "optional result", variance: "optional result" } as const;

export interface ChannelNormBackward {
  readonly outer: number;
  readonly channels: number;
  readonly inner: number;
  readonly x: View;
  readonly weight: View | undefined;
  readonly mean: View;
  readonly rstd: View;
  readonly gradY: View;
  readonly gradX: View | undefined;
  readonly gradWeight: View | undefined;
  readonly gradBias: View | undefined;
}

export interface Rows {
  readonly outer: number;
  readonly size: number;
  readonly inner: number;
}

export interface ClassTargets {
  readonly rows: Rows;
  readonly index: View;
  readonly weight: View | undefined;
  readonly ignoreIndex: number;
  readonly smoothing: number;
}

export interface FindBadTarget {
  readonly op: string;
  readonly targets: ClassTargets;
  readonly checked: View | undefined;
}

const kRows = { outer: "int64", size: "int64", inner: "int64" } as const;

const kClassTargets = { rows: kRows, index: "memory", weight: "optional memory", ignoreIndex: "int64", smoothing: "double" } as const;

export interface MeanLoss {
  readonly targets: ClassTargets;
  readonly losses: View;
  readonly mean: View;
  readonly totalWeight: View;
}

export interface NllLosses {
  readonly targets: ClassTargets;
  readonly logProbabilities: View;
  readonly losses: View;
}

export interface TargetDistribution {
  readonly targets: ClassTargets;
  readonly distribution: View;
}

export interface CrossEntropy {
  readonly targets: ClassTargets;
  readonly scores: View;
  readonly losses: View;
  readonly largest: View;
  readonly logSum: View;
}

export interface CrossEntropyBackward {
  readonly targets: ClassTargets;
  readonly scores: View;
  readonly largest: View;
  readonly logSum: View;
  readonly grad: View;
  readonly gradStep: number;
  readonly totalWeight: View | undefined;
  readonly gradScores: View;
}

export interface Convolution {
  readonly batch: number;
  readonly groups: number;
  readonly inChannels: number;
  readonly outChannels: number;
  readonly in: readonly [number, number];
  readonly kernel: readonly [number, number];
  readonly out: readonly [number, number];
  readonly stride: readonly [number, number];
  readonly padding: readonly [number, number];
  readonly dilation: readonly [number, number];
}

export interface Convolve {
  readonly conv: Convolution;
  readonly x: View;
  readonly weight: View;
  readonly bias: View | undefined;
  readonly y: View;
}

const kConvolution = { batch: "int64", groups: "int64", inChannels: "int64", outChannels: "int64", in: ["int64", "int64"], kernel: ["int64", "int64"], out: ["int64", "int64"], stride: ["int64", "int64"], padding: ["int64", "int64"], dilation: ["int64", "int64"] } as const;

export interface ConvolveBackwardInput {
  readonly conv: Convolution;
  readonly gradY: View;
  readonly weight: View;
  readonly bias: View | undefined;
  readonly gradX: View;
}

export interface ConvolveBackwardWeight {
  readonly conv: Convolution;
  readonly gradY: View;
  readonly x: View;
  readonly gradWeight: View;
}

export interface Copy {
  readonly shape: readonly number[];
  readonly to: View;
  readonly toStrides: readonly number[];
  readonly from: View;
  readonly fromStrides: readonly number[];
}

export interface Fill {
  readonly count: number;
  readonly value: number | bigint;
  readonly y: View;
}

export interface Ramp {
  readonly count: number;
  readonly first: number;
  readonly step: number;
  readonly y: View;
}

export interface MatrixBatch {
  readonly count: number;
  readonly rows: number;
  readonly columns: number;
}

export interface Qr {
  readonly batch: MatrixBatch;
  readonly qColumns: number;
  readonly a: View;
  readonly q: View | undefined;
  readonly r: View;
}

const kMatrixBatch = { count: "int64", rows: "int64", columns: "int64" } as const;

export interface Breakdown {
  readonly matrix: View | undefined;
  readonly order: View | undefined;
}

export interface Svd {
  readonly batch: MatrixBatch;
  readonly full: boolean;
  readonly a: View;
  readonly u: View | undefined;
  readonly s: View;
  readonly vh: View | undefined;
  readonly breakdown: Breakdown;
}

const kBreakdown = { matrix: "optional result", order: "optional result" } as const;

export interface Eigh {
  readonly batch: MatrixBatch;
  readonly upper: boolean;
  readonly a: View;
  readonly l: View;
  readonly v: View | undefined;
  readonly breakdown: Breakdown;
}

export interface Eig {
  readonly batch: MatrixBatch;
  readonly a: View;
  readonly l: View;
  readonly v: View | undefined;
  readonly breakdown: Breakdown;
}

export interface Balance {
  readonly batch: MatrixBatch;
  readonly most: number;
  readonly a: View;
  readonly ratios: View;
}

export interface Distances {
  readonly p: number;
  readonly batch: number;
  readonly rows: number;
  readonly columns: number;
  readonly width: number;
  readonly x1: View;
  readonly x2: View;
  readonly distances: View;
}

export interface DistancesBackward {
  readonly p: number;
  readonly batch: number;
  readonly rows: number;
  readonly columns: number;
  readonly width: number;
  readonly rowStep: number;
  readonly columnStep: number;
  readonly x1: View;
  readonly x2: View;
  readonly distances: View;
  readonly grad: View;
  readonly gradX1: View;
}

export interface FindDistinct {
  readonly consecutive: boolean;
  readonly size: number;
  readonly x: View;
  readonly firsts: View;
  readonly counts: View;
  readonly inverse: View | undefined;
  readonly number: View;
}

export interface Dropout {
  readonly count: number;
  readonly keep: number;
  readonly x: View;
  readonly mask: View;
  readonly y: View;
}

export interface Elementwise {
  readonly formula: Formula;
  readonly compute: ComputedDType;
  readonly result: ComputedDType;
  readonly shape: readonly number[];
  readonly operands: readonly Operand[];
}

export interface Fft {
  readonly rows: Rows;
  readonly inverse: boolean;
  readonly scale: number;
  readonly x: View;
}

export interface RealFft {
  readonly rows: Rows;
  readonly scale: number;
  readonly x: View;
  readonly y: View;
}

export interface InverseRealFft {
  readonly rows: Rows;
  readonly scale: number;
  readonly x: View;
  readonly y: View;
}

export interface FindOutOfRange {
  readonly op: string;
  readonly count: number;
  readonly dim: number;
  readonly size: number;
  readonly index: View;
  readonly position: View | undefined;
  readonly bad: View | undefined;
  readonly checked: View | undefined;
}

export interface IndexedRows {
  readonly outer: number;
  readonly rows: number;
  readonly inner: number;
  readonly count: number;
  readonly index: View;
}

export interface TakeRows {
  readonly selection: IndexedRows;
  readonly indexed: View;
  readonly packed: View;
}

const kIndexedRows = { outer: "int64", rows: "int64", inner: "int64", count: "int64", index: "memory" } as const;

export interface PutRows {
  readonly selection: IndexedRows;
  readonly packed: View;
  readonly indexed: View;
}

export interface AddRows {
  readonly selection: IndexedRows;
  readonly packed: View;
  readonly indexed: View;
  readonly skip: number;
}

export interface IndexedElements {
  readonly shape: readonly number[];
  readonly dim: number;
  readonly strides: readonly number[];
  readonly index: View;
}

export interface TakeElements {
  readonly selection: IndexedElements;
  readonly indexed: View;
  readonly packed: View;
}

const kIndexedElements = { shape: "list", dim: "int64", strides: "list", index: "memory" } as const;

export interface PutElements {
  readonly selection: IndexedElements;
  readonly packed: View;
  readonly indexed: View;
}

export interface AddElements {
  readonly selection: IndexedElements;
  readonly packed: View;
  readonly indexed: View;
}

export interface MultiplyElements {
  readonly selection: IndexedElements;
  readonly packed: View;
  readonly indexed: View;
}

export interface ExtremeElements {
  readonly largest: boolean;
  readonly selection: IndexedElements;
  readonly packed: View;
  readonly indexed: View;
}

export interface CountTrue {
  readonly count: number;
  readonly mask: View;
  readonly trueCount: View;
}

export interface FindTrue {
  readonly count: number;
  readonly mask: View;
  readonly positions: View;
}

export interface ClearTriangle {
  readonly count: number;
  readonly rows: number;
  readonly columns: number;
  readonly diagonal: number;
  readonly lower: boolean;
  readonly matrices: View;
}

export interface Determinants {
  readonly batch: MatrixBatch;
  readonly a: View;
  readonly det: View;
  readonly sign: View;
  readonly logAbs: View;
  readonly breakdown: Breakdown;
}

export interface Solve {
  readonly batch: MatrixBatch;
  readonly columns: number;
  readonly a: View;
  readonly b: View | undefined;
  readonly x: View;
  readonly breakdown: Breakdown;
}

export interface SolveTriangular {
  readonly batch: MatrixBatch;
  readonly columns: number;
  readonly upper: boolean;
  readonly unit: boolean;
  readonly a: View;
  readonly b: View;
  readonly x: View;
}

export interface Lu {
  readonly batch: MatrixBatch;
  readonly a: View;
  readonly lu: View;
  readonly p: View;
  readonly pivots: View;
  readonly breakdown: Breakdown;
}

export interface Cholesky {
  readonly batch: MatrixBatch;
  readonly a: View;
  readonly l: View;
  readonly breakdown: Breakdown;
}

export interface ProductSizes {
  readonly batch: readonly number[];
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

export interface MatrixLayout {
  readonly batchStrides: readonly number[];
  readonly rowStride: number;
  readonly columnStride: number;
}

export interface MatrixProduct {
  readonly sizes: ProductSizes;
  readonly a: View;
  readonly aLayout: MatrixLayout;
  readonly b: View;
  readonly bLayout: MatrixLayout;
  readonly c: View;
  readonly cLayout: MatrixLayout;
  readonly alpha: number | bigint;
  readonly beta: number | bigint;
  readonly bias: View | undefined;
}

const kProductSizes = { batch: "list", m: "int64", n: "int64", k: "int64" } as const;

const kMatrixLayout = { batchStrides: "list", rowStride: "int64", columnStride: "int64" } as const;

export interface RowNorm {
  readonly rows: number;
  readonly width: number;
  readonly eps: number;
  readonly x: View;
  readonly weight: View | undefined;
  readonly bias: View | undefined;
  readonly y: View;
  readonly mean: View | undefined;
  readonly rstd: View;
}

export interface RowNormBackwardInput {
  readonly rows: number;
  readonly width: number;
  readonly x: View;
  readonly weight: View | undefined;
  readonly mean: View | undefined;
  readonly rstd: View;
  readonly gradY: View;
  readonly gradX: View;
}

export interface RowNormBackwardParameters {
  readonly rows: number;
  readonly width: number;
  readonly x: View;
  readonly mean: View | undefined;
  readonly rstd: View;
  readonly gradY: View;
  readonly gradWeight: View | undefined;
  readonly gradBias: View | undefined;
}

export interface SgdOptions {
  readonly lr: number;
  readonly momentum: number;
  readonly dampening: number;
  readonly weightDecay: number;
  readonly nesterov: boolean;
  readonly maximize: boolean;
  readonly first: boolean;
}

export interface SgdStep {
  readonly options: SgdOptions;
  readonly count: number;
  readonly param: View;
  readonly grad: View;
  readonly momentumBuffer: View | undefined;
}

const kSgdOptions = { lr: "double", momentum: "double", dampening: "double", weightDecay: "double", nesterov: "bool", maximize: "bool", first: "bool" } as const;

export interface AdamOptions {
  readonly step: number;
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  readonly decoupled: boolean;
  readonly maximize: boolean;
}

export interface AdamStep {
  readonly options: AdamOptions;
  readonly count: number;
  readonly param: View;
  readonly grad: View;
  readonly expAvg: View;
  readonly expAvgSq: View;
  readonly maxExpAvgSq: View | undefined;
}

const kAdamOptions = { step: "double", lr: "double", beta1: "double", beta2: "double", eps: "double", weightDecay: "double", decoupled: "bool", maximize: "bool" } as const;

export interface RmspropOptions {
  readonly lr: number;
  readonly alpha: number;
  readonly eps: number;
  readonly weightDecay: number;
  readonly momentum: number;
  readonly maximize: boolean;
}

export interface RmspropStep {
  readonly options: RmspropOptions;
  readonly count: number;
  readonly param: View;
  readonly grad: View;
  readonly squareAvg: View;
  readonly momentumBuffer: View | undefined;
  readonly gradAvg: View | undefined;
}

const kRmspropOptions = { lr: "double", alpha: "double", eps: "double", weightDecay: "double", momentum: "double", maximize: "bool" } as const;

export interface AdagradOptions {
  readonly lr: number;
  readonly eps: number;
  readonly weightDecay: number;
  readonly maximize: boolean;
}

export interface AdagradStep {
  readonly options: AdagradOptions;
  readonly count: number;
  readonly param: View;
  readonly grad: View;
  readonly sum: View;
}

const kAdagradOptions = { lr: "double", eps: "double", weightDecay: "double", maximize: "bool" } as const;

export interface OrderRows {
  readonly rows: Rows;
  readonly descending: boolean;
  readonly first: number;
  readonly count: number;
  readonly x: View;
  readonly indices: View;
}

export interface ModeRows {
  readonly rows: Rows;
  readonly x: View;
  readonly indices: View;
}

export interface SearchSorted {
  readonly sequences: number;
  readonly size: number;
  readonly count: number;
  readonly right: boolean;
  readonly sequence: View;
  readonly values: View;
  readonly positions: View;
}

export interface RunningExtreme {
  readonly largest: boolean;
  readonly rows: Rows;
  readonly x: View;
  readonly indices: View;
}

export interface PoolAxis {
  readonly in: number;
  readonly out: number;
  readonly kernel: number;
  readonly stride: number;
  readonly padding: number;
  readonly dilation: number;
  readonly isAdaptive: boolean;
}

export interface PoolPlanes {
  readonly planes: number;
  readonly rows: PoolAxis;
  readonly columns: PoolAxis;
}

export interface MaxPool {
  readonly pool: PoolPlanes;
  readonly x: View;
  readonly y: View;
  readonly indices: View;
}

const kPoolAxis = { in: "int64", out: "int64", kernel: "int64", stride: "int64", padding: "int64", dilation: "int64", isAdaptive: "bool" } as const;

const kPoolPlanes = { planes: "int64", rows: kPoolAxis, columns: kPoolAxis } as const;

export interface MaxPoolBackward {
  readonly pool: PoolPlanes;
  readonly gradY: View;
  readonly indices: View;
  readonly gradX: View;
}

export interface MaxPoolPick {
  readonly pool: PoolPlanes;
  readonly x: View;
  readonly indices: View;
  readonly y: View;
}

export interface PoolDivisor {
  readonly countIncludePad: boolean;
  readonly divisorOverride: number;
}

export interface AvgPool {
  readonly pool: PoolPlanes;
  readonly divisor: PoolDivisor;
  readonly x: View;
  readonly y: View;
}

const kPoolDivisor = { countIncludePad: "bool", divisorOverride: "double" } as const;

export interface AvgPoolBackward {
  readonly pool: PoolPlanes;
  readonly divisor: PoolDivisor;
  readonly gradY: View;
  readonly gradX: View;
}

export interface CodeLayout {
  readonly rows: number;
  readonly columns: number;
  readonly bits: number;
  readonly group: number;
}

export interface Quantize {
  readonly layout: CodeLayout;
  readonly x: View;
  readonly codes: View;
  readonly scales: View;
}

const kCodeLayout = { rows: "int64", columns: "int64", bits: "int64", group: "int64" } as const;

export interface QuantizedProduct {
  readonly count: number;
  readonly layout: CodeLayout;
  readonly turned: boolean;
  readonly x: View;
  readonly codes: View;
  readonly scales: View | undefined;
  readonly bias: View | undefined;
  readonly y: View;
}

export enum RandomKind {
  Uniform = 0,
  Normal = 1,
  Integer = 2,
  Bernoulli = 3,
  Exponential = 4,
  Geometric = 5,
  Cauchy = 6,
  LogNormal = 7,
}

export interface PhiloxPosition {
  readonly keyLow: number;
  readonly keyHigh: number;
  readonly group: number;
}

export interface DrawRandom {
  readonly kind: RandomKind;
  readonly count: number;
  readonly position: PhiloxPosition;
  readonly a: number;
  readonly b: number;
  readonly y: View;
}

const kPhiloxPosition = { keyLow: "int64", keyHigh: "int64", group: "int64" } as const;

export interface DrawDropout {
  readonly count: number;
  readonly keep: number;
  readonly position: PhiloxPosition;
  readonly x: View;
  readonly mask: View;
  readonly y: View;
}

export interface DrawPoisson {
  readonly op: string;
  readonly count: number;
  readonly position: PhiloxPosition;
  readonly rates: View;
  readonly y: View;
}

export interface WeightRows {
  readonly rows: number;
  readonly size: number;
  readonly weights: View;
  readonly least: View;
  readonly most: View;
}

export interface DrawRaces {
  readonly op: string;
  readonly from: WeightRows;
  readonly position: PhiloxPosition;
  readonly quotients: View;
}

const kWeightRows = { rows: "int64", size: "int64", weights: "memory", least: "memory", most: "memory" } as const;

export interface DrawPositions {
  readonly op: string;
  readonly from: WeightRows;
  readonly count: number;
  readonly position: PhiloxPosition;
  readonly sums: View;
  readonly positions: View;
}

export enum RecurrentCell {
  Lstm = 0,
  Gru = 1,
  Tanh = 2,
  Relu = 3,
}

export interface RecurrentSizes {
  readonly cell: RecurrentCell;
  readonly rows: number;
  readonly width: number;
}

export interface RecurrentStep {
  readonly sizes: RecurrentSizes;
  readonly inputGates: View;
  readonly hidden: View;
  readonly weight: View;
  readonly bias: View | undefined;
  readonly state: View | undefined;
  readonly kept: View | undefined;
  readonly nextState: View | undefined;
  readonly nextHidden: View;
}

const kRecurrentSizes = { cell: "byte", rows: "int64", width: "int64" } as const;

export interface RecurrentStepBackward {
  readonly sizes: RecurrentSizes;
  readonly weight: View;
  readonly kept: View | undefined;
  readonly state: View;
  readonly nextState: View;
  readonly gradOutput: View | undefined;
  readonly gradHidden: View | undefined;
  readonly nextGradGates: View | undefined;
  readonly gradState: View | undefined;
  readonly gradGates: View;
  readonly gradInputGates: View | undefined;
}

export enum Fold {
  Sum = 0,
  Prod = 1,
  Max = 2,
  Min = 3,
  CountNonzero = 4,
  SumAbs = 5,
  SumSquares = 6,
  SumCenteredSquares = 7,
  SumExp = 8,
  MaxAbs = 9,
  MinAbs = 10,
}

export interface Reduction {
  readonly fold: Fold;
  readonly compute: ComputedDType;
  readonly divisor: number;
  readonly root: boolean;
}

export interface Reduce {
  readonly reduction: Reduction;
  readonly shape: readonly number[];
  readonly dims: readonly number[];
  readonly x: View;
  readonly xStrides: readonly number[];
  readonly shifts: View | undefined;
  readonly y: View;
}

const kReduction = { fold: "byte", compute: "dtype", divisor: "double", root: "bool" } as const;

export interface ArgReduce {
  readonly largest: boolean;
  readonly shape: readonly number[];
  readonly dim: number;
  readonly x: View;
  readonly xStrides: readonly number[];
  readonly values: View;
  readonly indices: View;
}

export enum ScanKind {
  Sum = 0,
  Prod = 1,
  LogSumExp = 2,
}

export interface Scan {
  readonly kind: ScanKind;
  readonly rows: Rows;
  readonly x: View;
  readonly y: View;
}

export interface Recurrence {
  readonly rows: Rows;
  readonly x: View;
  readonly factor: View;
  readonly y: View;
}

export enum SoftmaxKind {
  Plain = 0,
  Log = 1,
}

export interface Softmax {
  readonly kind: SoftmaxKind;
  readonly rows: Rows;
  readonly x: View;
  readonly y: View;
}

export interface SoftmaxBackward {
  readonly kind: SoftmaxKind;
  readonly rows: Rows;
  readonly gradY: View;
  readonly y: View;
  readonly gradX: View;
}

export interface CsrPattern {
  readonly rows: number;
  readonly columns: number;
  readonly rowStarts: View;
  readonly columnIndices: View;
}

export interface CsrProduct {
  readonly pattern: CsrPattern;
  readonly transposed: boolean;
  readonly width: number;
  readonly values: View;
  readonly dense: View;
  readonly product: View;
}

const kCsrPattern = { rows: "int64", columns: "int64", rowStarts: "memory", columnIndices: "memory" } as const;

export interface SampledProduct {
  readonly pattern: CsrPattern;
  readonly width: number;
  readonly left: View;
  readonly right: View;
  readonly samples: View;
}

export interface SparseProductCounts {
  readonly left: CsrPattern;
  readonly right: CsrPattern;
  readonly counts: View;
}

export interface SparseProduct {
  readonly left: CsrPattern;
  readonly right: CsrPattern;
  readonly leftValues: View;
  readonly rightValues: View;
  readonly rowStarts: View;
  readonly columnIndices: View;
  readonly values: View;
}

export interface SparseProductGradients {
  readonly left: CsrPattern;
  readonly right: CsrPattern;
  readonly product: CsrPattern;
  readonly leftValues: View;
  readonly rightValues: View;
  readonly grad: View;
  readonly leftGrad: View | undefined;
  readonly rightGrad: View | undefined;
}

export interface SparseSolve {
  readonly pattern: CsrPattern;
  readonly adjoint: boolean;
  readonly width: number;
  readonly values: View;
  readonly right: View;
  readonly solution: View;
  readonly isSingular: View;
}

/** The structs of commands. */
export interface Commands {
  readonly Allocate: Allocate;
  readonly Free: Free;
  readonly Use: Use;
  readonly Write: Write;
  readonly Read: Read;
  readonly Kernel: Kernel;
  readonly Name: Name;
  readonly Stamp: Stamp;
  readonly Stamps: Stamps;
  readonly BeginRecording: BeginRecording;
  readonly EndRecording: EndRecording;
  readonly Play: Play;
  readonly Forget: Forget;
  readonly Idle: Idle;
}

/** The commands of a stream: a command's number is its position, counted from 1. */
export const kCommandFields = {
  Allocate: { block: "word", bytes: "word" },
  Free: { block: "word" },
  Use: { block: "word", bytes: "word" },
  Write: { block: "word", offset: "word", bytes: "bytes" },
  Read: { block: "word", offset: "word", count: "word", address: "int64", ticket: "word" },
  Kernel: { kernel: "word", op: "word" },
  Name: { number: "word", text: "text" },
  Stamp: { slot: "word" },
  Stamps: { block: "word", count: "word" },
  BeginRecording: { recording: "word" },
  EndRecording: {},
  Play: { recording: "word" },
  Forget: { recording: "word" },
  Idle: { block: "word" },
} as const;

/** The structs of kernels by the kernels' names. */
export interface Kernels {
  readonly attend: Attend;
  readonly attend_backward: AttendBackward;
  readonly channel_norm: ChannelNorm;
  readonly channel_norm_backward: ChannelNormBackward;
  readonly find_bad_target: FindBadTarget;
  readonly mean_loss: MeanLoss;
  readonly nll_losses: NllLosses;
  readonly target_distribution: TargetDistribution;
  readonly cross_entropy: CrossEntropy;
  readonly cross_entropy_backward: CrossEntropyBackward;
  readonly convolve: Convolve;
  readonly convolve_backward_input: ConvolveBackwardInput;
  readonly convolve_backward_weight: ConvolveBackwardWeight;
  readonly copy: Copy;
  readonly fill: Fill;
  readonly ramp: Ramp;
  readonly qr: Qr;
  readonly svd: Svd;
  readonly eigh: Eigh;
  readonly eig: Eig;
  readonly balance: Balance;
  readonly distances: Distances;
  readonly distances_backward: DistancesBackward;
  readonly find_distinct: FindDistinct;
  readonly dropout: Dropout;
  readonly elementwise: Elementwise;
  readonly fft: Fft;
  readonly real_fft: RealFft;
  readonly inverse_real_fft: InverseRealFft;
  readonly find_out_of_range: FindOutOfRange;
  readonly take_rows: TakeRows;
  readonly put_rows: PutRows;
  readonly add_rows: AddRows;
  readonly take_elements: TakeElements;
  readonly put_elements: PutElements;
  readonly add_elements: AddElements;
  readonly multiply_elements: MultiplyElements;
  readonly extreme_elements: ExtremeElements;
  readonly count_true: CountTrue;
  readonly find_true: FindTrue;
  readonly clear_triangle: ClearTriangle;
  readonly determinants: Determinants;
  readonly solve: Solve;
  readonly solve_triangular: SolveTriangular;
  readonly lu: Lu;
  readonly cholesky: Cholesky;
  readonly matrix_product: MatrixProduct;
  readonly row_norm: RowNorm;
  readonly row_norm_backward_input: RowNormBackwardInput;
  readonly row_norm_backward_parameters: RowNormBackwardParameters;
  readonly sgd_step: SgdStep;
  readonly adam_step: AdamStep;
  readonly rmsprop_step: RmspropStep;
  readonly adagrad_step: AdagradStep;
  readonly order_rows: OrderRows;
  readonly mode_rows: ModeRows;
  readonly search_sorted: SearchSorted;
  readonly running_extreme: RunningExtreme;
  readonly max_pool: MaxPool;
  readonly max_pool_backward: MaxPoolBackward;
  readonly max_pool_pick: MaxPoolPick;
  readonly avg_pool: AvgPool;
  readonly avg_pool_backward: AvgPoolBackward;
  readonly quantize: Quantize;
  readonly quantized_product: QuantizedProduct;
  readonly draw_random: DrawRandom;
  readonly draw_dropout: DrawDropout;
  readonly draw_poisson: DrawPoisson;
  readonly draw_races: DrawRaces;
  readonly draw_positions: DrawPositions;
  readonly recurrent_step: RecurrentStep;
  readonly recurrent_step_backward: RecurrentStepBackward;
  readonly reduce: Reduce;
  readonly arg_reduce: ArgReduce;
  readonly scan: Scan;
  readonly recurrence: Recurrence;
  readonly softmax: Softmax;
  readonly softmax_backward: SoftmaxBackward;
  readonly csr_product: CsrProduct;
  readonly sampled_product: SampledProduct;
  readonly sparse_product_counts: SparseProductCounts;
  readonly sparse_product: SparseProduct;
  readonly sparse_product_gradients: SparseProductGradients;
  readonly sparse_solve: SparseSolve;
}

/** What follows a Kernel command in the stream, by the kernel's name. */
export const kKernelFields = {
  attend: { attention: kAttention, y: "result", yStrides: "list", logSums: "result" },
  attend_backward: { attention: kAttention, gradY: kHeadMatrices, logSums: "memory", gradQuery: "optional result", gradKey: "optional result", gradValue: "optional result" },
  channel_norm: { outer: "int64", channels: "int64", inner: "int64", eps: "double", x: "memory", weight: "optional memory", bias: "optional memory", y: "result", mean: "result", variance: "optional result", rstd: "result", running: kRunningChannels },
  channel_norm_backward: { outer: "int64", channels: "int64", inner: "int64", x: "memory", weight: "optional memory", mean: "memory", rstd: "memory", gradY: "memory", gradX: "optional result", gradWeight: "optional result", gradBias: "optional result" },
  find_bad_target: { op: "name", targets: kClassTargets, checked: "optional result" },
  mean_loss: { targets: kClassTargets, losses: "memory", mean: "result", totalWeight: "result" },
  nll_losses: { targets: kClassTargets, logProbabilities: "memory", losses: "result" },
  target_distribution: { targets: kClassTargets, distribution: "result" },
  cross_entropy: { targets: kClassTargets, scores: "memory", losses: "result", largest: "result", logSum: "result" },
  cross_entropy_backward: { targets: kClassTargets, scores: "memory", largest: "memory", logSum: "memory", grad: "memory", gradStep: "int64", totalWeight: "optional memory", gradScores: "result" },
  convolve: { conv: kConvolution, x: "memory", weight: "memory", bias: "optional memory", y: "result" },
  convolve_backward_input: { conv: kConvolution, gradY: "memory", weight: "memory", bias: "optional memory", gradX: "result" },
  convolve_backward_weight: { conv: kConvolution, gradY: "memory", x: "memory", gradWeight: "result" },
  copy: { shape: "list", to: "result", toStrides: "list", from: "memory", fromStrides: "list" },
  fill: { count: "int64", value: "scalar", y: "result" },
  ramp: { count: "int64", first: "double", step: "double", y: "result" },
  qr: { batch: kMatrixBatch, qColumns: "int64", a: "memory", q: "optional result", r: "result" },
  svd: { batch: kMatrixBatch, full: "bool", a: "memory", u: "optional result", s: "result", vh: "optional result", breakdown: kBreakdown },
  eigh: { batch: kMatrixBatch, upper: "bool", a: "memory", l: "result", v: "optional result", breakdown: kBreakdown },
  eig: { batch: kMatrixBatch, a: "memory", l: "result", v: "optional result", breakdown: kBreakdown },
  balance: { batch: kMatrixBatch, most: "int64", a: "memory", ratios: "result" },
  distances: { p: "double", batch: "int64", rows: "int64", columns: "int64", width: "int64", x1: "memory", x2: "memory", distances: "result" },
  distances_backward: { p: "double", batch: "int64", rows: "int64", columns: "int64", width: "int64", rowStep: "int64", columnStep: "int64", x1: "memory", x2: "memory", distances: "memory", grad: "memory", gradX1: "result" },
  find_distinct: { consecutive: "bool", size: "int64", x: "memory", firsts: "result", counts: "result", inverse: "optional result", number: "result" },
  dropout: { count: "int64", keep: "double", x: "memory", mask: "memory", y: "result" },
  elementwise: { formula: "formula", compute: "dtype", result: "dtype", shape: "list", operands: "operands" },
  fft: { rows: kRows, inverse: "bool", scale: "double", x: "result" },
  real_fft: { rows: kRows, scale: "double", x: "memory", y: "result" },
  inverse_real_fft: { rows: kRows, scale: "double", x: "memory", y: "result" },
  find_out_of_range: { op: "name", count: "int64", dim: "int64", size: "int64", index: "memory", position: "optional result", bad: "optional result", checked: "optional result" },
  take_rows: { selection: kIndexedRows, indexed: "memory", packed: "result" },
  put_rows: { selection: kIndexedRows, packed: "memory", indexed: "result" },
  add_rows: { selection: kIndexedRows, packed: "memory", indexed: "result", skip: "int64" },
  take_elements: { selection: kIndexedElements, indexed: "memory", packed: "result" },
  put_elements: { selection: kIndexedElements, packed: "memory", indexed: "result" },
  add_elements: { selection: kIndexedElements, packed: "memory", indexed: "result" },
  multiply_elements: { selection: kIndexedElements, packed: "memory", indexed: "result" },
  extreme_elements: { largest: "bool", selection: kIndexedElements, packed: "memory", indexed: "result" },
  count_true: { count: "int64", mask: "memory", trueCount: "result" },
  find_true: { count: "int64", mask: "memory", positions: "result" },
  clear_triangle: { count: "int64", rows: "int64", columns: "int64", diagonal: "int64", lower: "bool", matrices: "result" },
  determinants: { batch: kMatrixBatch, a: "memory", det: "result", sign: "result", logAbs: "result", breakdown: kBreakdown },
  solve: { batch: kMatrixBatch, columns: "int64", a: "memory", b: "optional memory", x: "result", breakdown: kBreakdown },
  solve_triangular: { batch: kMatrixBatch, columns: "int64", upper: "bool", unit: "bool", a: "memory", b: "memory", x: "result" },
  lu: { batch: kMatrixBatch, a: "memory", lu: "result", p: "result", pivots: "result", breakdown: kBreakdown },
  cholesky: { batch: kMatrixBatch, a: "memory", l: "result", breakdown: kBreakdown },
  matrix_product: { sizes: kProductSizes, a: "memory", aLayout: kMatrixLayout, b: "memory", bLayout: kMatrixLayout, c: "result", cLayout: kMatrixLayout, alpha: "scalar", beta: "scalar", bias: "optional memory" },
  row_norm: { rows: "int64", width: "int64", eps: "double", x: "memory", weight: "optional memory", bias: "optional memory", y: "result", mean: "optional result", rstd: "result" },
  row_norm_backward_input: { rows: "int64", width: "int64", x: "memory", weight: "optional memory", mean: "optional memory", rstd: "memory", gradY: "memory", gradX: "result" },
  row_norm_backward_parameters: { rows: "int64", width: "int64", x: "memory", mean: "optional memory", rstd: "memory", gradY: "memory", gradWeight: "optional result", gradBias: "optional result" },
  sgd_step: { options: kSgdOptions, count: "int64", param: "result", grad: "memory", momentumBuffer: "optional result" },
  adam_step: { options: kAdamOptions, count: "int64", param: "result", grad: "memory", expAvg: "result", expAvgSq: "result", maxExpAvgSq: "optional result" },
  rmsprop_step: { options: kRmspropOptions, count: "int64", param: "result", grad: "memory", squareAvg: "result", momentumBuffer: "optional result", gradAvg: "optional result" },
  adagrad_step: { options: kAdagradOptions, count: "int64", param: "result", grad: "memory", sum: "result" },
  order_rows: { rows: kRows, descending: "bool", first: "int64", count: "int64", x: "memory", indices: "result" },
  mode_rows: { rows: kRows, x: "memory", indices: "result" },
  search_sorted: { sequences: "int64", size: "int64", count: "int64", right: "bool", sequence: "memory", values: "memory", positions: "result" },
  running_extreme: { largest: "bool", rows: kRows, x: "memory", indices: "result" },
  max_pool: { pool: kPoolPlanes, x: "memory", y: "result", indices: "result" },
  max_pool_backward: { pool: kPoolPlanes, gradY: "memory", indices: "memory", gradX: "result" },
  max_pool_pick: { pool: kPoolPlanes, x: "memory", indices: "memory", y: "result" },
  avg_pool: { pool: kPoolPlanes, divisor: kPoolDivisor, x: "memory", y: "result" },
  avg_pool_backward: { pool: kPoolPlanes, divisor: kPoolDivisor, gradY: "memory", gradX: "result" },
  quantize: { layout: kCodeLayout, x: "memory", codes: "result", scales: "result" },
  quantized_product: { count: "int64", layout: kCodeLayout, turned: "bool", x: "memory", codes: "memory", scales: "optional memory", bias: "optional memory", y: "result" },
  draw_random: { kind: "byte", count: "int64", position: kPhiloxPosition, a: "double", b: "double", y: "result" },
  draw_dropout: { count: "int64", keep: "double", position: kPhiloxPosition, x: "memory", mask: "result", y: "result" },
  draw_poisson: { op: "name", count: "int64", position: kPhiloxPosition, rates: "memory", y: "result" },
  draw_races: { op: "name", from: kWeightRows, position: kPhiloxPosition, quotients: "result" },
  draw_positions: { op: "name", from: kWeightRows, count: "int64", position: kPhiloxPosition, sums: "memory", positions: "result" },
  recurrent_step: { sizes: kRecurrentSizes, inputGates: "memory", hidden: "memory", weight: "memory", bias: "optional memory", state: "optional memory", kept: "optional result", nextState: "optional result", nextHidden: "result" },
  recurrent_step_backward: { sizes: kRecurrentSizes, weight: "memory", kept: "optional memory", state: "memory", nextState: "memory", gradOutput: "optional memory", gradHidden: "optional memory", nextGradGates: "optional memory", gradState: "optional result", gradGates: "result", gradInputGates: "optional result" },
  reduce: { reduction: kReduction, shape: "list", dims: "list", x: "memory", xStrides: "list", shifts: "optional memory", y: "result" },
  arg_reduce: { largest: "bool", shape: "list", dim: "int64", x: "memory", xStrides: "list", values: "result", indices: "result" },
  scan: { kind: "byte", rows: kRows, x: "memory", y: "result" },
  recurrence: { rows: kRows, x: "memory", factor: "memory", y: "result" },
  softmax: { kind: "byte", rows: kRows, x: "memory", y: "result" },
  softmax_backward: { kind: "byte", rows: kRows, gradY: "memory", y: "memory", gradX: "result" },
  csr_product: { pattern: kCsrPattern, transposed: "bool", width: "int64", values: "memory", dense: "memory", product: "result" },
  sampled_product: { pattern: kCsrPattern, width: "int64", left: "memory", right: "memory", samples: "result" },
  sparse_product_counts: { left: kCsrPattern, right: kCsrPattern, counts: "result" },
  sparse_product: { left: kCsrPattern, right: kCsrPattern, leftValues: "memory", rightValues: "memory", rowStarts: "memory", columnIndices: "result", values: "result" },
  sparse_product_gradients: { left: kCsrPattern, right: kCsrPattern, product: kCsrPattern, leftValues: "memory", rightValues: "memory", grad: "memory", leftGrad: "optional result", rightGrad: "optional result" },
  sparse_solve: { pattern: kCsrPattern, adjoint: "bool", width: "int64", values: "memory", right: "memory", solution: "result", isSingular: "result" },
} as const;
