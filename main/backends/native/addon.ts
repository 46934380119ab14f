import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import type { Mode, StorageType } from '@core/case'
import type { FillWords } from '@core/values/random'

interface NativeTensor {
  name: string
  elements: number
  storage: StorageType
  role: 'in' | 'out' | 'inout'
}

/** One op of a composite case. Each of its tensors is in a buffer: a tensor of the case by its place, or behind them scratch memory. */
interface NativePartOfCase {
  name: string
  op: string
  dims: readonly number[]
  scalars: readonly number[]
  tensors: readonly (NativeTensor & { buffer: number })[]
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
  scalars: readonly number[]
  /** Those that a call reads have a fill. */
  tensors: readonly (NativeTensor & { fill?: FillWords })[]
  /** Of a composite op: what runs, in order, and the bytes of each scratch buffer. */
  parts?: readonly NativePartOfCase[]
  scratchBytes?: readonly number[]
}

/** An open case of the addon. Methods block, and throw errors with `code` and `detail` (see core/backend.ts CaseError). */
export interface NativeCase {
  /** Fills the tensors that have a fill anew, one entry each. */
  refill(fills: readonly FillWords[]): void
  poison(): void
  run(): void
  /** One entry per output. */
  scan(): { unwritten: number; nonFinite?: number }[]
  /** Raw elements, as many bytes each as the output's storage type has. */
  read(output: number, start: number, count: number): ArrayBuffer
  sample(mode: Mode, count: number, inner: number): { samplesNs: Float64Array; inner: number; clockMhz?: Float64Array; probeNs?: Float64Array; hostCallNs?: number; state: object }
  caseBytes(): number
  deviceDeltaBytes(): number | undefined
  tickNs(): number
  /** 0 where the clock does not depend on the instructions; absent in earlier builds. */
  clockSettlesSeconds?(): number
  timer(): string
  notes(): string[]
  /** The kernels of one call, unchecked; see core/backend.ts KernelLaunch. */
  launches(): unknown
  /** What the processor counts of one call, from so many calls, unchecked; see core/backend.ts CallCounters. Undefined where the backend has none; absent in earlier builds. */
  counters?(mode: Mode, calls: number): unknown
  dispose(): void
}

/** Looks at a GPU on which another process computes, as native/addon/gpu_watch.h says. Methods block for as long as the driver takes. */
export interface NativeGpuWatch {
  begin(countEnergy: boolean): void
  read(): void
  /** Unchecked; see core/backend.ts DeviceState. */
  end(): unknown
}

/** Whose counter of energy is read: that of a CUDA device by its number, of the one GPU of a name, or of the processors. */
export type EnergySource = { cuda: number } | { gpu: string } | { cpu: true }

/** Reads a counter from the moment it is made. */
export interface NativeEnergyRecorder {
  /** Unchecked; see core/backend.ts EnergyTrace. */
  stop(): unknown
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
  /** Where NVIDIA's libraries are looked for beside the loader's own places; before the first call of `devices('cuda')`. Absent in older builds. */
  setLibraryFolders?(folders: readonly string[]): void
  /** Whether cases of one thread that are opened while none is open compute on the quietest processor of a virtual machine, else on the first. */
  setQuietest?(asked: boolean): void
  /** `beside`: a case of the same tensors, whose memory this one uses too. */
  Case: new (spec: NativeSpec, beside?: NativeCase) => NativeCase
  /** Throws where there is not exactly one GPU of this name that can be watched. */
  GpuWatch: new (name: string, worker: number) => NativeGpuWatch
  /** Throws where there is no counter that can be read. Absent in older builds. */
  EnergyRecorder?: new (source: EnergySource) => NativeEnergyRecorder
}

const isAddon = (value: unknown): value is NativeAddon =>
  typeof value === 'object' && value !== null && ['info', 'devices', 'Case', 'GpuWatch'].every((name) => typeof Reflect.get(value, name) === 'function')

/** Loads the addon at `path`. Throws with the loader's own words when it cannot be loaded or is another module. */
export function loadAddon(path: string): NativeAddon {
  const loaded: unknown = createRequire(import.meta.url)(path)
  if (!isAddon(loaded)) throw new Error(`${path} is not the Opscope addon: expected it to export info, devices, Case and GpuWatch`)
  return loaded
}

const RELATIVE = join('native', 'build', 'opscope.node')

/**
 * Where the addon lies: OPSCOPE_ADDON when set, else native/build/opscope.node in the nearest folder above `from` (a
 * checkout, or a packaged app, where files that must be real stand in app.asar.unpacked). Undefined when there is none.
 */
export function locateAddon(from: string, env: NodeJS.ProcessEnv = process.env, exists: (path: string) => boolean = existsSync): string | undefined {
  if (env.OPSCOPE_ADDON) return resolve(env.OPSCOPE_ADDON)
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder.replace(/\.asar(?=$|[\\/])/, '.asar.unpacked'), RELATIVE)
    if (exists(candidate)) return candidate
    if (dirname(folder) === folder) return undefined
  }
}
