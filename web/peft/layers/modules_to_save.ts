// Modules that are fully trained together with an adapter.

import * as eg from "edgegrad";
import { partOf } from "./adapter_layer.js";

type Callable = eg.nn.Module & { forward(...inputs: unknown[]): unknown };

/** A module and one copy of it per adapter; calls go to the copy of the active adapter. */
export class ModulesToSave extends eg.nn.Module {
  original_module: Callable;
  modules_to_save = new eg.nn.ModuleDict<Callable>();
  /** The active adapters. */
  active: readonly string[] = [];
  /** Whether calls go to the original. */
  isDisabled = false;

  constructor(original: eg.nn.Module) {
    super();
    this.original_module = original as Callable;
  }

  /** Adds a copy of the original for an adapter. */
  add(name: string): void {
    this.modules_to_save.set(name, this.original_module.clone());
  }

  /** The module to call. */
  get chosen(): Callable {
    const name = this.isDisabled
      ? undefined
      : this.active.find((name) => this.modules_to_save.has(name));
    return name === undefined ? this.original_module : partOf(this.modules_to_save, name);
  }

  override forward(...inputs: unknown[]): unknown {
    return this.chosen.call(...inputs);
  }
}
