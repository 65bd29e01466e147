// The visitor's camera.

/** Shows the camera in a video element. */
export class Camera {
  readonly #video: HTMLVideoElement;
  readonly #otherwise: string;
  #stream: MediaStream | null = null;

  /** `otherwise` says what a visitor without a camera can do. */
  constructor(video: HTMLVideoElement, otherwise: string) {
    this.#video = video;
    this.#otherwise = otherwise;
  }

  get isOn(): boolean {
    return this.#stream !== null;
  }

  /** Resolves when there are pictures. Throws an Error that says why there is no camera and what to do; `ended` is called if it goes away. */
  async start(ended: () => void): Promise<void> {
    this.#stream = await openStream(this.#otherwise);
    for (const track of this.#stream.getTracks()) {
      track.addEventListener("ended", () => {
        this.stop();
        ended();
      });
    }
    this.#video.srcObject = this.#stream;
    this.#video.hidden = false;
    await this.#video.play();
  }

  /** Whether the camera delivers pictures. */
  setEnabled(isEnabled: boolean): void {
    for (const track of this.#stream?.getTracks() ?? []) track.enabled = isEnabled;
  }

  stop(): void {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#stream = null;
    this.#video.srcObject = null;
    this.#video.hidden = true;
  }
}

async function openStream(otherwise: string): Promise<MediaStream> {
  // Missing on pages that were not loaded by https.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (devices?.getUserMedia === undefined) {
    throw new Error(`This browser gives this page no camera (it needs https). ${otherwise}`);
  }
  try {
    const video = { facingMode: { ideal: "environment" }, width: { ideal: 640 } };
    return await devices.getUserMedia({ video, audio: false });
  } catch (error) {
    throw new Error(`${reasonOf(error as DOMException)} ${otherwise}`);
  }
}

function reasonOf({ name, message }: DOMException): string {
  if (name === "NotAllowedError") {
    return "The camera is not allowed: allow it beside the page's address, and try again.";
  }
  if (name === "NotFoundError" || name === "OverconstrainedError") return "There is no camera.";
  if (name === "NotReadableError") return "The camera is used by another program.";
  return `The camera could not be started (${message}).`;
}
