import { createRequire } from 'node:module'
import type { Mode } from '@core/case'

/** How one input is filled: the addon's form of core/random.ts FillSpec with the keys of a seed. */
export interface NativeFill {
  positive: boolean
  factor: number
  key0: number
  key1: number
}

/** One case to open, as native/addon/convert.h reads it. */
export interface NativeSpec {
  backend: 'cpu' | 'cuda'
  op: string
  impl: string
  /** Index of the device within its backend. */
  device: number
  dtype: string
  threads?: number
  dims: readonly number[]
  /** Whether the case will be sampled in mode rotated, which takes many sets of buffers. */
  rotated: boolean
  inputs: readonly (NativeFill & { elements: number })[]
  outputElements: number
}

/** An open case of the addon. Methods block, and throw errors with `code` and `detail` (see core/backend.ts CaseError). */
export interface NativeCase {
  /** Fills the inputs anew, one entry each. */
  refill(inputs: readonly NativeFill[]): void
  poison(): void
  run(): void
  countUnwritten(): number
  /** Raw elements, as many bytes each as the dtype has. */
  read(start: number, count: number): ArrayBuffer
  sample(mode: Mode, count: number, inner: number): { samplesNs: Float64Array; clockMhz?: Float64Array; probeNs?: Float64Array; hostCallNs?: number; state: object }
  caseBytes(): number
  deviceDeltaBytes(): number | undefined
  tickNs(): number
  timer(): string
  notes(): string[]
  dispose(): void
}

/** Looks at a GPU on which another process computes, as native/addon/gpu_watch.h says. Methods block for as long as the driver takes. */
export interface NativeGpuWatch {
  begin(countEnergy: boolean): void
  read(): void
  /** Unchecked; see core/backend.ts DeviceState. */
  end(): unknown
}

/** A part of the addon, whether it can be used here, and why not. */
export interface NativePart {
  id: string
  title: string
  available: boolean
  reason?: string
}

/** What native/addon/addon.cc exports. */
export interface NativeAddon {
  info(): NativePart[]
  /** Unchecked; see core/backend.ts Device. */
  devices(backend: 'cpu' | 'cuda'): unknown
  Case: new (spec: NativeSpec) => NativeCase
  /** Throws where there is not exactly one GPU of this name that can be watched. */
  GpuWatch: new (name: string, worker: number) => NativeGpuWatch
}

const isAddon = (value: unknown): value is NativeAddon =>
  typeof value === 'object' && value !== null && ['info', 'devices', 'Case', 'GpuWatch'].every((name) => typeof Reflect.get(value, name) === 'function')

/** Loads the addon at `path`. Throws with the loader's own words when it cannot be loaded or is another module. */
export function loadAddon(path: string): NativeAddon {
  const loaded: unknown = createRequire(import.meta.url)(path)
  if (!isAddon(loaded)) throw new Error(`${path} is not the Opscope addon: expected it to export info, devices, Case and GpuWatch`)
  return loaded
}
