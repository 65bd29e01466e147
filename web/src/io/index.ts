// eg.io: reading and writing files.

export { type FileKind, fileKind } from "./file_kinds.js";
export { type LoadOptions, load } from "./load.js";
export {
  type LoadSafetensorsOptions,
  loadSafetensors,
  readSafetensorsMetadata,
} from "./load_safetensors.js";
export { type ByteReader, type OpenFileOptions, openFile } from "./open_file.js";
export {
  type FilesByName,
  type Folder,
  type FolderSource,
  type OpenFolderOptions,
  openFolder,
} from "./open_folder.js";
export {
  type OpenSafetensorsOptions,
  openSafetensors,
  type ReadProgress,
  type ReadTensorOptions,
  type SafetensorsReader,
  type StoredTensorInfo,
} from "./open_safetensors.js";
export type {
  BlobLike,
  BodyLike,
  BodyPiece,
  BodyReaderLike,
  DirectoryEntryLike,
  DirectoryLike,
  FetchLike,
  HeadersLike,
  RequestOptions,
  ResponseLike,
  StreamLike,
  StreamWriterLike,
  UrlLike,
} from "./platform_types.js";
export { type SaveOptions, save } from "./save.js";
export { type SaveSafetensorsOptions, saveSafetensors } from "./save_safetensors.js";
export type { SliceRange } from "./selection.js";
export type { FileData, FileSource } from "./sources/place.js";
export { type LoadTorchOptions, loadTorch } from "./torch/load_torch.js";
export { saveTorch } from "./torch/save_torch.js";
