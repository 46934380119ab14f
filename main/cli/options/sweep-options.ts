import type { Device } from '@core/backend'
import { findBackend } from '@core/backends'
import { DTYPES, MODES, type Mode } from '@core/case'
import { placeOf } from '@core/fleet/place'
import { PRESET_IDS, type PresetId } from '@core/measure/settings'
import { OPS, getOp, REPRESENTATIVES } from '@core/ops/registry'
import { expectedOf, readAttribute, type AttributeValue } from '@core/ops/attributes'
import { SIZE_FORMS, type SizeForm } from '@core/ops/forms'
import type { Op } from '@core/ops/types'
import { representativeOps, findSizePreset, SIZE_PRESETS } from '@core/sweep/defaults'
import { readMeasureOptions, type MeasureOptions } from '@core/sweep/measure-options'
import { parseSizes } from '@core/sweep/sizes'
import type { SizeTexts, SweepSpec, Target } from '@core/session/sweep-spec'
import { GPU_ORDERS, type GpuOrder } from '@core/settings'
import { pickList, pickOne, refuse, words, UsageError } from './choices'

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
  parts?: string
}

/** The machines of the devices that are named; undefined is this one. */
export const readMachines = ({ devices }: Pick<SweepOptions, 'devices'>): Set<string | undefined> => new Set(devices === undefined ? [undefined] : words('device', devices).map((id) => placeOf(id).host))

/** What can be checked before any host is started. */
export interface Picks {
  ops: SweepSpec['ops']
  /** True where the user named them; else they are what the picked implementations have kernels for of one op a family. */
  opsNamed: boolean
  sizes: SizeTexts
  dtypes: SweepSpec['dtypes']
  modes: readonly Mode[] | undefined
  preset: PresetId
  /** Overrides of the preset, and repeats. */
  how: Pick<SweepSpec, 'measure' | 'repeats' | 'parts'>
  backends: readonly string[]
  /** True where the user named them, so that a missing one is worth a failure. */
  backendsNamed: boolean
}

/** Checks all that needs no device. `known` are the backends there are. */
export function readPicks(options: SweepOptions, known: readonly string[]): Picks {
  const ops = readOps(options.ops)
  return {
    ops,
    opsNamed: options.ops !== undefined,
    sizes: readSizes(options.sizes, new Set(ops.map((pick) => getOp(pick.op).size.id))),
    dtypes: options.dtypes === undefined ? ['f32'] : pickList('dtype', options.dtypes, DTYPES),
    modes: options.modes === undefined ? undefined : pickList('mode', options.modes, MODES),
    preset: pickOne('preset', options.preset ?? 'standard', PRESET_IDS),
    how: { ...readHow(options), ...readParts(options) },
    backends: readBackends(options, known),
    backendsNamed: options.backends !== undefined || options.devices !== undefined,
  }
}

/** `--gpus side-by-side|in-turn`. */
export const readGpus = ({ gpus }: { gpus?: string }): GpuOrder | undefined => (gpus === undefined ? undefined : pickOne('order of GPUs', gpus, GPU_ORDERS))

/** `--parts forward|both`. */
function readParts({ parts }: SweepOptions): Pick<SweepSpec, 'parts'> {
  return parts === undefined ? {} : { parts: pickOne('pass', parts, ['forward', 'both'] as const) }
}

/** Overrides of the preset, and repeats. Throws a UsageError where one is not valid. */
export function readHow(options: SweepOptions): Omit<Picks['how'], 'parts'> {
  try {
    return readMeasureOptions(options)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

function readBackends({ backends, devices }: SweepOptions, known: readonly string[]): string[] {
  if (backends !== undefined) return pickList('backend', backends, known)
  // A device is named after its backend: `cpu`, `cuda:0`, `gpubox/cuda:0`.
  if (devices !== undefined) return words('device', devices).map((id) => pickOne('backend', placeOf(id).device.split(':')[0]!, known))
  return known.filter((id) => findBackend(id)?.byDefault)
}

/** `softmax,sum:axis=last+first`, families, or `all`; one of each family where nothing is written. */
function readOps(text: string | undefined): SweepSpec['ops'] {
  if (text === undefined) return REPRESENTATIVES.map((op) => ({ op: op.id }))
  if (text.trim() === 'all') return OPS.map((op) => ({ op: op.id }))
  const families = [...new Set(OPS.map((op) => op.family))]
  return words('operation', text).flatMap((word) => {
    const [id = '', ...attributes] = word.split(':')
    const op = OPS.find((candidate) => candidate.id === id)
    if (op) return [attributes.length === 0 ? { op: id } : { op: id, attributes: readAttributes(op, attributes) }]
    const family = families.find((name) => name === id)
    if (family && attributes.length === 0) return OPS.filter((candidate) => candidate.family === family).map((candidate) => ({ op: candidate.id }))
    return refuse('operation', id, OPS.map((candidate) => candidate.id))
  })
}

/** `axis=last+first`, `eps=1e-3`, `causal=true+false`: the values of each attribute. */
function readAttributes(op: Op, texts: readonly string[]): Record<string, AttributeValue[]> {
  const names = Object.keys(op.attributes)
  return Object.fromEntries(
    texts.map((text) => {
      const [name = '', value = ''] = text.split('=')
      if (names.length === 0) throw new UsageError(`${op.id} has no attributes, so ":${text}" means nothing`)
      const spec = op.attributes[pickOne(`attribute of ${op.id}`, name, names)]!
      if (value === '') throw new UsageError(`${name} of ${op.id}: expected ${expectedOf(spec)}, received nothing`)
      if (spec.kind === 'choice') return [name, pickList(`${name} of ${op.id}`, value.replaceAll('+', ','), spec.words)]
      try {
        // A plus may also be the sign of an exponent (1e+3).
        return [name, value.split(/(?<!\de)\+/i).map((one) => readAttribute(`${name} of ${op.id}`, spec, one))]
      } catch (error) {
        throw error instanceof RangeError ? new UsageError(error.message) : error
      }
    }),
  )
}

/** A preset's name, `vector: 1Ki..1Mi x4; matrix: 1024x1024` (or with =), or one text for every form the operations need. */
function readSizes(text: string | undefined, needed: ReadonlySet<string>): SizeTexts {
  const usual = findSizePreset('tour')!.sizes
  if (text === undefined) return usual
  const preset = findSizePreset(text.trim())
  if (preset) return preset.sizes
  const sizes: Record<string, string> = { ...usual }
  const ids = SIZE_FORMS.map(({ id }) => id)
  const parts = text.split(';').filter((piece) => piece.trim() !== '')
  // A part that begins with a word and a colon, or several parts, name forms; extents by name stand alone.
  const named = parts.map((part) => /^\s*([a-z]\w*)\s*(:|=)\s*(.*)$/is.exec(part))
  const extents = new Set(SIZE_FORMS.filter(({ id }) => needed.has(id)).flatMap((form) => [...Object.keys(form.short), ...form.extents.map(({ name }) => name)]))
  if (named.some((match) => match && (match[2] === ':' || ids.includes(match[1]!) || !extents.has(match[1]!)))) {
    for (const [i, match] of named.entries()) sizes[pickOne('size form', match?.[1] ?? parts[i]!.trim(), ids)] = match?.[3]?.trim() ?? ''
  } else {
    for (const form of needed) sizes[form] = text
  }
  for (const form of SIZE_FORMS) if (needed.has(form.id) || sizes[form.id] !== usual[form.id]) checkSizes(form, sizes[form.id]!)
  return sizes
}

function checkSizes(form: SizeForm, text: string): void {
  const read = parseSizes(form, text)
  if (read.ok) return
  const marks = `${' '.repeat(read.position)}${'^'.repeat(Math.max(1, read.length))}`
  throw new UsageError(`${form.id} sizes ${read.message}\n  ${text}\n  ${marks}\nPresets: ${SIZE_PRESETS.map((preset) => preset.id).join(', ')}.`)
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
  const { sizes, dtypes, preset, how } = picks
  const used = targets.flatMap(({ backend, device, impls: ids }) => usable.find((one) => one.backend === backend && one.id === device)!.impls.filter(({ id }) => ids.includes(id)))
  const ops = picks.opsNamed ? picks.ops : representativeOps(used).map(({ id }) => ({ op: id }))
  const modes = picks.modes ?? (['cold', 'hot'] as const).filter((mode) => offered.has(mode))
  // Of several Pythons only some are meant to be measured with, unless the others are named.
  const spare = ({ backend, interpreter }: Device) => !ids && interpreter !== undefined && usable.some((device) => device.backend === backend)
  const missing = picked.flatMap((device) => (device.available.ok || spare(device) ? [] : [`${device.host ?? device.backend}: ${device.available.reason}`]))
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
