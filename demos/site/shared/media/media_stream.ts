// The visitor's camera or microphone.

/** Opens a camera or a microphone. Throws an Error that says why there is none; `otherwise` says what a visitor without it can do. */
export async function openStream(
  name: "camera" | "microphone",
  wishes: MediaStreamConstraints,
  otherwise: string,
): Promise<MediaStream> {
  // Missing on pages that were not loaded by https.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (devices?.getUserMedia === undefined) {
    throw new Error(`This browser gives this page no ${name} (it needs https). ${otherwise}`);
  }
  try {
    return await devices.getUserMedia(wishes);
  } catch (error) {
    throw new Error(`${reasonOf(name, error as DOMException)} ${otherwise}`);
  }
}

function reasonOf(device: string, { name, message }: DOMException): string {
  if (name === "NotAllowedError") {
    return `The ${device} is not allowed: allow it beside the page's address, and try again.`;
  }
  if (name === "NotFoundError" || name === "OverconstrainedError") return `There is no ${device}.`;
  if (name === "NotReadableError") return `The ${device} is used by another program.`;
  return `The ${device} could not be started (${message}).`;
}
