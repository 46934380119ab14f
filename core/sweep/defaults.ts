import type { Device, Impl } from '../backend'
import type { Dtype, Mode } from '../case'
import { PRESETS, type PresetId } from '../measure/settings'
import type { AttributeValue } from '../ops/attributes'
import { SIZE_FORMS } from '../ops/forms'
import { REPRESENTATIVES } from '../ops/registry'
import type { Op } from '../ops/types'
import { ceilingCases, ceilingSettings } from '../roofline/ceilings'
import type { Ceiling } from '../session/types'
import { estimateSeconds } from './estimate'
import { planSweep } from './plan'
import type { PickedOp, SizeTexts, SweepSpec, Target } from '../session/sweep-spec'

/** A named choice of sizes for every form. */
export interface SizePreset {
  id: string
  title: string
  /** One line for the menu. */
  summary: string
  sizes: SizeTexts
}

/**
 * The sizes of the benchmark suites users come from; the texts stand with each form (core/ops/forms). The SIMD suite counts
 * in thousands (1K = 1000), the classes small to xlarge in powers of two.
 */
const TITLES: readonly Omit<SizePreset, 'sizes'>[] = [
  { id: 'tour', title: 'Quick tour', summary: 'One size that fits the caches and one that does not' },
  { id: 'simd', title: 'SIMD suite', summary: '100 to 1M elements, where overhead and caches show' },
  { id: 'small', title: 'Small', summary: '64Ki to 256Ki elements, matrices of 256 to 1024' },
  { id: 'medium', title: 'Medium', summary: '4Mi elements, matrices of 2048' },
  { id: 'large', title: 'Large', summary: '16Mi elements, matrices of 4096' },
  { id: 'xlarge', title: 'Extra large', summary: '64Mi elements, matrices of 8192' },
  { id: 'classes', title: 'Small to extra large', summary: 'Every size class in one sweep' },
  { id: 'scaling', title: 'Scaling', summary: 'Every power of two, for curves over size' },
  { id: 'batched', title: 'Batched sequences', summary: 'Batch 16 to 128 by sequence 256 to 2048 as rows, dimension 64 to 1024' },
  { id: 'model', title: 'Model layers', summary: 'Shapes of transformer layers and of ResNet-50' },
]

export const SIZE_PRESETS: readonly SizePreset[] = TITLES.map((preset) => ({ ...preset, sizes: Object.fromEntries(SIZE_FORMS.map((form) => [form.id, form.presets[preset.id] ?? form.presets['tour'] ?? form.example])) }))

/** The preset with this id, or undefined. */
export const findSizePreset = (id: string): SizePreset | undefined => SIZE_PRESETS.find((preset) => preset.id === id)

/**
 * Each usable device of this machine with its preferred implementations and all its threads; emulated devices stand in only where there is
 * nothing else. Other libraries on hardware that is there already are the user's to pick.
 */
export function defaultTargets(devices: readonly Device[]): Target[] {
  const usable = devices.filter((device) => device.available.ok && device.host === undefined && !device.sameHardwareAs && device.impls.some((impl) => impl.available.ok))
  const hardware = usable.filter((device) => !device.software || usable.every((other) => other.software))
  return hardware.map((device) => {
    const impls = device.impls.filter((impl) => impl.available.ok)
    const preferred = impls.filter((impl) => impl.preferred)
    const target: Target = { backend: device.backend, device: device.id, impls: (preferred.length ? preferred : impls.slice(-1)).map((impl) => impl.id) }
    if (device.threads.length > 0) target.threads = device.threads.slice(-1)
    return target
  })
}

interface Extent {
  sizes: SizeTexts
  modes: readonly Mode[]
  dtypes: readonly Dtype[]
  /** Every word of every choice that must be made (axis), or the first alone. */
  allChoices: boolean
}

function specOf(devices: readonly Device[], preset: PresetId, extent: Extent): SweepSpec {
  const targets = defaultTargets(devices)
  const impls = devices.flatMap((device) => targets.flatMap((t) => (t.backend === device.backend && t.device === device.id ? device.impls.filter(({ id }) => t.impls.includes(id)) : [])))
  const offered = new Set(devices.flatMap((device) => (targets.some((t) => t.backend === device.backend && t.device === device.id) ? device.modes : [])))
  const ops = representativeOps(impls).map((op) => (extent.allChoices ? everyChoice(op) : { op: op.id }))
  return { ops, sizes: extent.sizes, dtypes: [...extent.dtypes], targets, modes: extent.modes.filter((mode) => offered.has(mode)), preset }
}

/** The ops that stand for their families, as far as these implementations have kernels. While none has been found nothing is left out: the picks follow the devices as these come. */
export const representativeOps = (impls: readonly Impl[]): Op[] => REPRESENTATIVES.filter(({ id }) => impls.length === 0 || impls.some(({ kernels }) => kernels[id]))

/** An op with every word of the choices that have no default. */
export function everyChoice(op: Op): PickedOp {
  const choices = Object.entries(op.attributes).flatMap(([name, spec]) => (spec.kind === 'choice' && spec.default === undefined ? [[name, [...spec.words] as AttributeValue[]] as const] : []))
  return choices.length > 0 ? { op: op.id, attributes: Object.fromEntries(choices) } : { op: op.id }
}

const tourSizes = findSizePreset('tour')!.sizes
const shortSizes: SizeTexts = { ...SIZE_PRESETS.find(({ id }) => id === 'simd')!.sizes, vector: '1Mi', matrix: '1024', gemm: '256' }

/**
 * What a start without a display runs: the ops that stand for each family, where these devices have kernels, at one size on each device, in f32, preset quick.
 * Under 10 s on two cores.
 */
export const defaultSweep = (devices: readonly Device[]): SweepSpec => specOf(devices, 'quick', { sizes: shortSizes, modes: ['hot'], dtypes: ['f32'], allChoices: false })

/** From rich to poor; the tour takes the first that fits its time. */
const TOURS: readonly Extent[] = [
  { sizes: { ...tourSizes, vector: '64Ki, 1Mi, 16Mi', matrix: '256, 1024, 4096', gemm: '128, 512, 2048' }, modes: ['cold', 'hot'], dtypes: ['f32', 'bf16'], allChoices: true },
  { sizes: tourSizes, modes: ['cold', 'hot'], dtypes: ['f32', 'f16'], allChoices: true },
  { sizes: tourSizes, modes: ['hot'], dtypes: ['f32', 'f16'], allChoices: true },
  { sizes: tourSizes, modes: ['hot'], dtypes: ['f32'], allChoices: true },
  { sizes: tourSizes, modes: ['hot'], dtypes: ['f32'], allChoices: false },
]

/** The most the tour of a first start is planned to take, in seconds: two minutes with some room. */
export const TOUR_SECONDS = 105

/** Both steps of the first start on these devices: cases and expected seconds, of the ceilings and of the tour after them. */
export function tourSteps(devices: readonly Device[], ceilings: readonly Ceiling[] = []): Record<'ceilings' | 'tour', { cases: number; seconds: number }> {
  const targets = defaultTargets(devices)
  const own = devices.filter((device) => targets.some((target) => target.backend === device.backend && target.device === device.id)).map((device) => ({ device, cases: ceilingCases(device) }))
  const tour = planSweep(tourSweep(devices), devices).cases
  return {
    ceilings: { cases: own.reduce((sum, { cases }) => sum + cases.length, 0), seconds: own.reduce((sum, { device, cases }) => sum + estimateSeconds(cases, ceilingSettings(PRESETS.standard, device), ceilings, devices), 0) },
    tour: { cases: tour.length, seconds: estimateSeconds(tour, PRESETS.quick, ceilings, devices) },
  }
}

/** The two-minute tour: as many sizes, dtypes and modes over each family as these devices get through in the time. */
export function tourSweep(devices: readonly Device[]): SweepSpec {
  for (const extent of TOURS) {
    const spec = specOf(devices, 'quick', extent)
    if (estimateSeconds(planSweep(spec, devices).cases, PRESETS.quick, [], devices) <= TOUR_SECONDS) return spec
  }
  return defaultSweep(devices)
}
