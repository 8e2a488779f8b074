import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';

export interface Kept<T> {
  readonly signal: Signal<T>;
  map<U>(f: (v: T) => U): ReadonlySignal<U>;
  set(v: T): void;
}

// kept is a choice that the browser keeps; a browser that keeps nothing has the default.
export function kept<T extends string>(name: string, otherwise: T, all: readonly T[]): Kept<T> {
  let first = otherwise;
  try {
    first = all.find((v) => v === localStorage.getItem(name)) ?? otherwise;
  } catch {
    // storage is denied: the choice lasts as long as the page
  }
  const value = signal<T>(first);
  return {
    signal: value,
    map: (f) => computed(() => f(value.value)),
    set(v) {
      value.value = v;
      try {
        localStorage.setItem(name, v);
      } catch {
        // as above
      }
    },
  };
}
