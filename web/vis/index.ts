// edgegrad/vis: logs and charts of training, for TensorBoard, pages and terminals.

export { defineElements } from "./define_elements.js";
export type {
  LineChartElement,
  LogElement,
  PanelComponents,
  PanelElement,
  PanelElements,
  PanelName,
  PanelProps,
  PanelTags,
  ProfileData,
  ProfileElement,
  SeriesElement,
  SummaryData,
  SummaryTableElement,
  TapeGraphElement,
} from "./elements/page_elements.js";
export type { Histogram } from "./log/histogram.js";
export {
  confusionMatrix,
  type Matrix,
  type MatrixLabels,
  type MatrixValues,
} from "./log/matrix.js";
export type { Picture, PictureLayout, PicturesLayout } from "./log/picture.js";
export type { LogRecord, RecordKind, RecordValues } from "./log/record.js";
export { Recorder } from "./log/recorder.js";
export {
  createLog,
  type ListenerHandle,
  type LogListener,
  type LogOptions,
  Run,
  RunLog,
} from "./log/run_log.js";
export type { Values } from "./log/values.js";
export { type MemoryByKind, memoryByKind, recordMemory } from "./model/memory.js";
export { pca, type UmapClass, type UmapOptions, umap } from "./model/projection.js";
export {
  type InputSize,
  ModuleSummary,
  type SummaryOptions,
  summary,
} from "./model/summary.js";
export type { SummaryRow } from "./model/summary_row.js";
export { type TapeEdge, type TapeGraph, type TapeNode, tapeGraph } from "./model/tape_graph.js";
export { Watcher, type WatchOptions, watch } from "./model/watch.js";
export { profileStep, type StepEvent, StepProfile } from "./profile/step_profile.js";
export type { TimeRow } from "./profile/time_row.js";
export { type TerminalChartOptions, terminalChart } from "./terminal_chart.js";
export { CsvWriter } from "./writers/csv_writer.js";
export { FileWriter } from "./writers/file_writer.js";
export { JsonlWriter } from "./writers/jsonl_writer.js";
export type { ByteStream } from "./writers/sink.js";
export { SummaryWriter } from "./writers/summary_writer.js";
