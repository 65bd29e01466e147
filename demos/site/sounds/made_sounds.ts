// Sounds that the page makes, for visitors without a microphone.

import { kLength, kRate, type Samples } from "./sound.js";

/** The sounds by name. */
export const kSounds = {
  clap: makeClap,
  whistle: makeWhistle,
  silence: () => new Float32Array(kLength),
} as const;

const kNames = Object.keys(kSounds);

const between = (low: number, high: number) => low + (high - low) * Math.random();

// What a quiet room sounds like.
const kRoom = 0.002;

/** Makes a sound: each time at another moment, of another pitch and strength. */
export function makeSound(name: string): Samples {
  const samples = kSounds[name as keyof typeof kSounds]();
  return samples.map((sample) => sample + between(-kRoom, kRoom));
}

/** The name of any of the sounds. */
export function anySound(): string {
  return kNames[Math.floor(Math.random() * kNames.length)] as string;
}

// Noise that begins at once and fades away.
function makeClap(): Samples {
  const [start, strength, fading] = [between(0.1, 0.35), between(0.3, 0.9), between(25, 60)];
  let last = 0;
  return filled((time) => {
    if (time < start) return 0;
    const noise = between(-1, 1);
    const sound = noise - 0.5 * last;
    last = noise;
    return strength * sound * Math.exp(-fading * (time - start));
  });
}

// A tone that glides, swells and fades.
function makeWhistle(): Samples {
  const [pitch, glide, strength] = [between(900, 2000), between(-600, 900), between(0.1, 0.5)];
  let phase = 0;
  return filled((time) => {
    phase += (2 * Math.PI * (pitch + glide * time)) / kRate;
    return strength * Math.sin(phase) * Math.sin((Math.PI * time * kRate) / kLength) ** 0.5;
  });
}

function filled(at: (time: number) => number): Samples {
  return Float32Array.from({ length: kLength }, (_, i) => at(i / kRate));
}
