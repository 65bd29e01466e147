// The folder of model files that a visitor has chosen.

/** The files of a model by name. */
export interface ModelFolder {
  readonly name: string;
  readonly files: Readonly<Record<string, File>>;
  readonly bytes: number;
}

const kNeeded = ["config.json", "tokenizer.json"];
const kAdvice = "Choose the folder of a model in Hugging Face's layout.";

/** Returns the model of a folder, without what lies in folders below it. Throws an Error that says what is missing. */
export function modelFolderOf(chosen: readonly File[]): ModelFolder {
  const top = chosen.filter(({ webkitRelativePath: path }) => path.split("/").length <= 2);
  const files = Object.fromEntries(top.map((file) => [file.name, file]));
  const missing = kNeeded.filter((name) => !Object.hasOwn(files, name));
  if (missing.length > 0) {
    throw new Error(`The folder has no ${missing.join(" and no ")}. ${kAdvice}`);
  }
  const hasWeights =
    Object.hasOwn(files, "model.safetensors") ||
    Object.hasOwn(files, "model.safetensors.index.json");
  if (!hasWeights) {
    const other = top.find(({ name }) => /\.(bin|pt|pth|gguf|onnx)$/.test(name));
    const found =
      other === undefined
        ? ""
        : ` Weights as in ${other.name} have to be saved as safetensors first.`;
    throw new Error(`The folder has no model.safetensors.${found || ` ${kAdvice}`}`);
  }
  const name = chosen[0]?.webkitRelativePath.split("/")[0] ?? "";
  return { name, files, bytes: top.reduce((sum, { size }) => sum + size, 0) };
}
