// The play button and the slider, which select the displayed moment of the recording.

import type { Timeline } from "./timeline.js";

// The time to play a whole recording, in milliseconds, whatever its real duration.
const kPlayMs = 7000;
const kSteps = 1000;

export interface PlayerElements {
  readonly play: HTMLButtonElement;
  readonly slider: HTMLInputElement;
  readonly pace: HTMLSelectElement;
  readonly clock: HTMLElement;
}

export class Player {
  readonly #elements: PlayerElements;
  readonly #show: (time: number) => void;
  #timeline: Timeline | null = null;
  #playing = false;
  #last = 0;
  // From 0 to 1, according to the selected pace.
  #position = 0;
  #time = 0;

  constructor(elements: PlayerElements, show: (time: number) => void) {
    this.#elements = elements;
    this.#show = show;
    const { play, slider, pace } = elements;
    slider.max = String(kSteps);
    play.addEventListener("click", () => (this.#playing ? this.pause() : this.play()));
    slider.addEventListener("input", () => {
      this.pause();
      this.#move(Number(slider.value) / kSteps);
    });
    slider.addEventListener("keydown", (event) => this.#step(event));
    pace.addEventListener("change", () => this.#move(this.#position));
  }

  /** Loads a new recording and moves to its end, where all nodes have run. */
  load(timeline: Timeline): void {
    this.pause();
    this.#timeline = timeline;
    this.#move(1);
  }

  play(): void {
    if (this.#timeline === null) return;
    if (this.#position >= 1) this.#move(0);
    this.#playing = true;
    this.#elements.play.textContent = "Pause";
    this.#last = performance.now();
    requestAnimationFrame(() => this.#frame());
  }

  pause(): void {
    this.#playing = false;
    this.#elements.play.textContent = "Play";
  }

  #frame(): void {
    if (!this.#playing) return;
    const now = performance.now();
    this.#move(Math.min(1, this.#position + (now - this.#last) / kPlayMs));
    this.#last = now;
    if (this.#position >= 1) this.pause();
    else requestAnimationFrame(() => this.#frame());
  }

  #move(position: number, exactTime: number | null = null): void {
    const timeline = this.#timeline;
    if (timeline === null) return;
    const time = exactTime ?? this.#timeAt(timeline, position);
    this.#position = position;
    this.#time = time;
    const { slider, clock } = this.#elements;
    slider.value = String(Math.round(position * kSteps));
    const text = `${(time * 1000).toFixed(0)} of ${(timeline.end * 1000).toFixed(0)} µs`;
    clock.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    this.#show(time);
  }

  // Arrow keys move from event to event.
  #step(event: KeyboardEvent): void {
    const timeline = this.#timeline;
    const direction = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (timeline === null || direction === undefined) return;
    event.preventDefault();
    this.pause();
    const { moments } = timeline;
    const next =
      direction > 0
        ? moments.find((moment) => moment > this.#time)
        : moments.findLast((moment) => moment < this.#time);
    // Passes the exact time: some moments are closer together than positions can represent.
    if (next !== undefined) this.#move(this.#positionOf(timeline, next), next);
  }

  get #isEven(): boolean {
    return this.#elements.pace.value === "even";
  }

  // At even pace, the time between two events is always the same.
  #timeAt({ moments, end }: Timeline, position: number): number {
    if (!this.#isEven) return position * end;
    const at = position * (moments.length - 1);
    const before = moments[Math.floor(at)] ?? end;
    const after = moments[Math.ceil(at)] ?? end;
    return before + (after - before) * (at % 1);
  }

  #positionOf({ moments, end }: Timeline, time: number): number {
    return this.#isEven ? moments.indexOf(time) / (moments.length - 1) : time / end;
  }
}
