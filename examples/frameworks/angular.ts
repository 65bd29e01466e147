// Angular: a signal holds what is drawn. With zone.js or without, a training goes on outside of change detection.

import "zone.js";
import "@angular/compiler";
import type { OnDestroy } from "@angular/core";
import { Component, provideZoneChangeDetection, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { startTraining } from "./training.js";

@Component({
  selector: "app-trainer",
  template: `<main>
    <button [disabled]="!isReady()" (click)="train()">Train</button>
    <output>{{ loss()?.toFixed(4) }}</output>
  </main>`,
})
class Trainer implements OnDestroy {
  readonly loss = signal<number | null>(null);
  readonly isReady = signal(false);
  private readonly leaving = new AbortController();
  private readonly started = startTraining();

  constructor() {
    this.started.then(() => this.isReady.set(true));
  }

  async train(): Promise<void> {
    const { signal } = this.leaving;
    const onLoss = (loss: number) => this.loss.set(loss);
    await (await this.started).run({ signal, onLoss });
  }

  ngOnDestroy(): void {
    this.leaving.abort();
    this.started.then((one) => one.dispose());
  }
}

export function mount(target: Element): () => void {
  target.append(document.createElement("app-trainer"));
  const started = bootstrapApplication(Trainer, { providers: [provideZoneChangeDetection()] });
  return () => void started.then((app) => app.destroy());
}
