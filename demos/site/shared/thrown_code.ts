// Comlink hands an error over with its name, message and stack; the engine's have a code as well, which pages show.

import { transferHandlers } from "comlink";

interface Thrown {
  readonly value: unknown;
}

interface Serialized {
  readonly isError: boolean;
  readonly value: unknown;
}

/** Has errors that leave this worker keep their code. */
export function keepCodesOfErrors(): void {
  const handler = transferHandlers.get("throw");
  if (handler === undefined) throw new Error("this comlink hands errors over in another way");
  transferHandlers.set("throw", {
    ...handler,
    serialize: (thrown) => {
      const [serialized, transferred] = handler.serialize(thrown) as [Serialized, Transferable[]];
      const { value } = thrown as Thrown;
      const code = value instanceof Error && "code" in value ? { code: value.code } : {};
      if (serialized.isError) Object.assign(serialized.value as object, code);
      return [serialized, transferred];
    },
  });
}
