// The visitor's microphone.

import { openStream } from "../shared/media/media_stream.js";
import { resampled, type Samples } from "./sound.js";

// The most that browsers keep of a signal.
const kKept = 32_768;
// What phones do to calls would change sounds.
const kWishes = {
  audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
};

export class Microphone {
  readonly #otherwise: string;
  #stream: MediaStream | null = null;
  #context: AudioContext | null = null;
  #recent: AnalyserNode | null = null;
  readonly #signal = new Float32Array(kKept);

  /** `otherwise` says what a visitor without a microphone can do. */
  constructor(otherwise: string) {
    this.#otherwise = otherwise;
  }

  get isOn(): boolean {
    return this.#stream !== null;
  }

  /** Throws an Error that says why there is no microphone and what to do; `ended` is called if it goes away. */
  async start(ended: () => void): Promise<void> {
    const stream = await openStream("microphone", kWishes, this.#otherwise);
    for (const track of stream.getTracks()) {
      track.addEventListener("ended", () => {
        this.stop();
        ended();
      });
    }
    const context = new AudioContext();
    await context.resume();
    const recent = new AnalyserNode(context, { fftSize: kKept });
    context.createMediaStreamSource(stream).connect(recent);
    [this.#stream, this.#context, this.#recent] = [stream, context, recent];
  }

  /** What was heard last. */
  latest(): Samples {
    if (this.#recent === null || this.#context === null) throw new Error("call start() first");
    this.#recent.getFloatTimeDomainData(this.#signal);
    return resampled(this.#signal, this.#context.sampleRate);
  }

  /** Whether the microphone delivers sound. */
  setEnabled(isEnabled: boolean): void {
    for (const track of this.#stream?.getTracks() ?? []) track.enabled = isEnabled;
  }

  stop(): void {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    void this.#context?.close();
    [this.#stream, this.#context, this.#recent] = [null, null, null];
  }
}
