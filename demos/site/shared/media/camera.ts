// The visitor's camera.

import { openStream } from "./media_stream.js";

const kWishes = {
  video: { facingMode: { ideal: "environment" }, width: { ideal: 640 } },
  audio: false,
};

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
    this.#stream = await openStream("camera", kWishes, this.#otherwise);
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
