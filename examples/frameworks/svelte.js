// Mounts the component of Trainer.svelte.

import { mount as mountComponent, unmount } from "svelte";
import Trainer from "./Trainer.svelte";

export function mount(target) {
  const component = mountComponent(Trainer, { target });
  return () => unmount(component);
}
