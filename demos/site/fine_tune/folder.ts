// The folder of model files that a visitor has chosen.

/** The files of a model by name. */
export interface ModelFolder {
  readonly name: string;
  readonly files: Readonly<Record<string, File>>;
  readonly bytes: number;
}

const kNeeded = ["config.json", "tokenizer.json"];
const kAdvice = "Choose the folder of a model in Hugging Face's layout, or one with a GGUF file.";

/** Returns the model of a folder, without what lies in folders below it. Throws an Error that says what is missing. */
export function modelFolderOf(chosen: readonly File[]): ModelFolder {
  const top = chosen.filter(({ webkitRelativePath: path }) => path.split("/").length <= 2);
  const all = Object.fromEntries(top.map((file) => [file.name, file]));
  const hasWeights =
    Object.hasOwn(all, "model.safetensors") || Object.hasOwn(all, "model.safetensors.index.json");
  const gguf = hasWeights ? null : ggufIn(top);
  const files = gguf === null ? all : { [gguf.name]: gguf };
  if (gguf === null) checkFiles(top, hasWeights);
  const name = chosen[0]?.webkitRelativePath.split("/")[0] ?? "";
  const bytes = Object.values(files).reduce((sum, { size }) => sum + size, 0);
  return { name, files, bytes };
}

// The one file that has a whole model, or null.
function ggufIn(files: readonly File[]): File | null {
  const found = files.filter(({ name }) => /\.gguf$/i.test(name));
  if (found.length > 1) {
    const names = found.map(({ name }) => name).sort();
    throw new Error(
      `The folder has several GGUF files: ${names.join(", ")}. Choose a folder with one.`,
    );
  }
  return found[0] ?? null;
}

function checkFiles(files: readonly File[], hasWeights: boolean): void {
  const missing = kNeeded.filter((needed) => !files.some(({ name }) => name === needed));
  if (missing.length > 0) {
    throw new Error(`The folder has no ${missing.join(" and no ")}. ${kAdvice}`);
  }
  if (hasWeights) return;
  const other = files.find(({ name }) => /\.(bin|pt|pth|onnx)$/.test(name));
  const advice =
    other === undefined
      ? kAdvice
      : `Weights as in ${other.name} have to be saved as safetensors first.`;
  throw new Error(`The folder has no model.safetensors. ${advice}`);
}
