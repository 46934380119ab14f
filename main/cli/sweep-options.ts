import type { Device } from '@core/backend'
import { DTYPES, MODES, type Mode } from '@core/case'
import { PRESET_IDS, type PresetId } from '@core/measure/settings'
import { OPS, getOp } from '@core/ops/registry'
import type { Op, SizeKind } from '@core/ops/types'
import { readMeasureOptions, type MeasureOptions } from '@core/sweep/measure-options'
import { findSizePreset, SIZE_PRESETS } from '@core/sweep/presets'
import { parseSizes } from '@core/sweep/sizes'
import type { SizeTexts, SweepSpec, Target } from '@core/sweep/types'
import { pickList, pickOne, refuse, words } from './choices'
import { UsageError } from './usage-error'

/** The options of `run`, as typed. */
export interface SweepOptions extends MeasureOptions {
  ops?: string
  sizes?: string
  dtypes?: string
  backends?: string
  devices?: string
  impls?: string
  threads?: string
  modes?: string
  preset?: string
}

/** What can be checked before any host is started. */
export interface Picks {
  ops: SweepSpec['ops']
  sizes: SizeTexts
  dtypes: SweepSpec['dtypes']
  modes: readonly Mode[] | undefined
  preset: PresetId
  /** Overrides of the preset, and repeats. */
  how: Pick<SweepSpec, 'measure' | 'repeats'>
  backends: readonly string[]
  /** True where the user named them, so that a missing one is worth a failure. */
  backendsNamed: boolean
}

const KINDS = ['vector', 'matrix', 'gemm'] as const satisfies readonly SizeKind[]

/** Checks all that needs no device. `known` are the backends there are. */
export function readPicks(options: SweepOptions, known: readonly string[]): Picks {
  const ops = readOps(options.ops)
  return {
    ops,
    sizes: readSizes(options.sizes, new Set(ops.map((pick) => getOp(pick.op).sizeKind))),
    dtypes: options.dtypes === undefined ? ['f32'] : pickList('dtype', options.dtypes, DTYPES),
    modes: options.modes === undefined ? undefined : pickList('mode', options.modes, MODES),
    preset: pickOne('preset', options.preset ?? 'standard', PRESET_IDS),
    how: readHow(options),
    backends: readBackends(options, known),
    backendsNamed: options.backends !== undefined || options.devices !== undefined,
  }
}

function readHow(options: SweepOptions): Picks['how'] {
  try {
    return readMeasureOptions(options)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

function readBackends({ backends, devices }: SweepOptions, known: readonly string[]): string[] {
  if (backends !== undefined) return pickList('backend', backends, known)
  // A device is named after its backend: `cpu`, `cuda:0`.
  if (devices !== undefined) return words('device', devices).map((id) => pickOne('backend', id.split(':')[0]!, known))
  return known.filter((id) => id === 'cpu' || id === 'cuda')
}

/** `softmax,sum:axis=last+first`, families, or `all`. */
function readOps(text: string | undefined): SweepSpec['ops'] {
  if (text === undefined || text.trim() === 'all') return OPS.map((op) => ({ op: op.id }))
  const families = [...new Set(OPS.map((op) => op.family))]
  return words('operation', text).flatMap((word) => {
    const [id = '', ...variants] = word.split(':')
    const op = OPS.find((candidate) => candidate.id === id)
    if (op) return [variants.length === 0 ? { op: id } : { op: id, variants: readVariants(op, variants) }]
    const family = families.find((name) => name === id)
    if (family && variants.length === 0) return OPS.filter((candidate) => candidate.family === family).map((candidate) => ({ op: candidate.id }))
    return refuse('operation', id, OPS.map((candidate) => candidate.id))
  })
}

function readVariants(op: Op, texts: readonly string[]): Record<string, string[]> {
  const known = op.variants ?? {}
  return Object.fromEntries(
    texts.map((text) => {
      const [name = '', value = ''] = text.split('=')
      if (Object.keys(known).length === 0) throw new UsageError(`${op.id} has no variants, so ":${text}" means nothing`)
      const choices = known[pickOne(`variant of ${op.id}`, name, Object.keys(known))]!
      return [name, pickList(`${name} of ${op.id}`, value.replaceAll('+', ','), choices)]
    }),
  )
}

/** A preset's name, `vector=1Ki..1Mi x4;matrix=1024x1024`, or one text for every kind the operations need. */
function readSizes(text: string | undefined, needed: ReadonlySet<SizeKind>): SizeTexts {
  const usual = findSizePreset('tour')!.sizes
  if (text === undefined) return usual
  const preset = findSizePreset(text.trim())
  if (preset) return preset.sizes
  const sizes = { ...usual }
  if (text.includes('=')) {
    for (const part of text.split(';').filter((piece) => piece.trim() !== '')) {
      const [kind = '', value = ''] = part.split('=')
      sizes[pickOne('kind of size', kind.trim(), KINDS)] = value.trim()
    }
  } else {
    for (const kind of needed) sizes[kind] = text
  }
  for (const kind of KINDS) checkSizes(kind, sizes[kind])
  return sizes
}

function checkSizes(kind: SizeKind, text: string): void {
  const read = parseSizes(kind, text)
  if (read.ok) return
  const marks = `${' '.repeat(read.position)}${'^'.repeat(Math.max(1, read.length))}`
  throw new UsageError(`${kind} sizes ${read.message}\n  ${text}\n  ${marks}\nPresets: ${SIZE_PRESETS.map((preset) => preset.id).join(', ')}.`)
}

/** The spec of these picks on these devices, and the reasons for named backends that cannot be had. */
export function specOf(picks: Picks, options: SweepOptions, devices: readonly Device[]): { spec: SweepSpec; missing: string[] } {
  const wanted = devices.filter((device) => picks.backends.includes(device.backend))
  const ids = options.devices === undefined ? undefined : new Set(pickList('device', options.devices, wanted.map((device) => device.id)))
  const picked = wanted.filter((device) => !ids || ids.has(device.id))
  const usable = picked.filter((device) => device.available.ok)
  const impls = options.impls === undefined ? undefined : new Set(pickList('implementation', options.impls, [...new Set(usable.flatMap((device) => device.impls.map((impl) => impl.id)))]))
  const targets = usable.flatMap((device) => targetOf(device, options, impls))
  const offered = new Set(usable.flatMap((device) => device.modes))
  const { ops, sizes, dtypes, preset, how } = picks
  const modes = picks.modes ?? (['cold', 'hot'] as const).filter((mode) => offered.has(mode))
  // Of several Pythons only some are meant to be measured with, unless the others are named.
  const spare = ({ backend, interpreter }: Device) => !ids && interpreter !== undefined && usable.some((device) => device.backend === backend)
  const missing = picked.flatMap((device) => (device.available.ok || spare(device) ? [] : [`${device.backend}: ${device.available.reason}`]))
  return { spec: { ops, sizes, dtypes, targets, modes: [...modes], preset, ...how }, missing }
}

/** With `all`, an implementation this machine lacks is left out; one that was named is not, so that its absence is told. */
function targetOf(device: Device, options: SweepOptions, wanted: ReadonlySet<string> | undefined): Target[] {
  const ready = device.impls.filter((impl) => impl.available.ok)
  const preferred = ready.filter((impl) => impl.preferred)
  const named = device.impls.filter((impl) => wanted?.has(impl.id) && (impl.available.ok || options.impls !== 'all'))
  const impls = wanted ? named : preferred.length > 0 ? preferred : ready.slice(0, 1)
  if (impls.length === 0) return []
  const target: Target = { backend: device.backend, device: device.id, impls: impls.map((impl) => impl.id) }
  if (device.threads.length > 0) target.threads = readThreads(options.threads, device)
  return [target]
}

function readThreads(text: string | undefined, device: Device): number[] {
  const most = device.threads.at(-1)!
  if (text === undefined) return [most]
  const choices = [...device.threads.map(String), 'max']
  return [...new Set(pickList('thread count', text, choices).map((word) => (word === 'max' ? most : Number(word))))]
}
