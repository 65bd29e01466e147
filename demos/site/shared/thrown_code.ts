// Comlink transfers the name, message and stack of an error; errors of the engine also have a code, which pages show.

import { transferHandlers } from "comlink";

interface Thrown {
  readonly value: unknown;
}

interface Serialized {
  readonly isError: boolean;
  readonly value: unknown;
}

/** Makes errors that leave this worker keep their code. */
export function keepCodesOfErrors(): void {
  const handler = transferHandlers.get("throw");
  if (handler === undefined)
    throw new Error("this version of comlink transfers errors in another way");
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
