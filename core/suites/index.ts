import type { Device, Impl } from '../backend'
import { isLibrary } from '../backends'
import { processorOf } from '../session/environment'
import { findOp } from '../ops/registry'
import type { Session } from '../session/types'
import type { SuiteGrid, SweepSpec, Target } from '../session/sweep-spec'
import { narrowedGrid, type FacetFilter } from './facets'
import type { Suite, SuiteExtent } from './types'

const modules = import.meta.glob<{ default: Suite }>('./data/*.ts', { eager: true })

/** Every suite under core/suites/data, by title. */
export const SUITES: readonly Suite[] = Object.values(modules)
  .map((module) => module.default)
  .sort((a, b) => a.title.localeCompare(b.title, 'en'))

/** The suite with this id, or undefined. */
export const findSuite = (id: string): Suite | undefined => SUITES.find((suite) => suite.id === id)

/** The suite that a session is of; one that measured a composite operation by parts has the report of the block. */
export const suiteOfSession = ({ spec }: Pick<Session, 'spec'>): Suite | undefined => findSuite(spec?.suite ?? (spec?.parts ? 'transformer-block' : ''))

/** What a suite comes to on these devices: the sweep, and what of it is missing here with the reason. */
export interface SuitePlan {
  spec: SweepSpec
  missing: string[]
}

/** What is measured of a suite where it is not all: operations, classes of sizes, dtypes, values of its grid, one of its processors. */
export interface SuiteSelection {
  ops?: readonly string[]
  classes?: readonly string[]
  dtypes?: SweepSpec['dtypes']
  facets?: FacetFilter
  processor?: 'cpu' | 'gpu'
}

/** The extent of a suite with only what is selected. */
function selected(extent: SuiteExtent, { ops, classes, dtypes, facets = {} }: SuiteSelection): SuiteExtent {
  const grid = extent.grid && narrowedGrid(extent.grid, facets)
  const whole = classes ? classes.flatMap((name) => extent.classes?.[name] ?? []) : grid && extent.opsOf ? extent.opsOf(grid) : extent.ops
  return { ...extent, ...(grid ? { grid } : {}), ops: whole.filter(({ op }) => !ops || ops.includes(op)), dtypes: extent.dtypes.filter((dtype) => !dtypes || dtypes.includes(dtype)) }
}

/** The sweep of a suite on the devices at hand. Operations that no picked implementation has are named in `missing`. */
export function suitePlan(suite: Suite, devices: readonly Device[], quick = false, only: SuiteSelection = {}): SuitePlan {
  const extent = selected(quick ? suite.quick : suite.full, only)
  const picked = devicesFor(suite, devices, only.processor)
  const targets = picked.flatMap((device) => targetOn(suite, device))
  const impls = picked.flatMap((device) => (targets.some((target) => target.device === device.id) ? device.impls : []))
  const offered = new Set(picked.flatMap((device) => device.modes))
  // What is measured by its parts needs no kernel of its own.
  const has = (op: string) => (extent.parts && findOp(op)?.parts) || impls.some((impl) => impl.available.ok && impl.kernels[op])
  const known = extent.ops.filter(({ op }) => findOp(op))
  const absent = [...new Set(known.filter(({ op }) => targets.length > 0 && !has(op)).map(({ op }) => op))]
  const missing = [
    ...devices.filter((device) => wanted(suite, device) && (!only.processor || processorOf(device.id) === only.processor) && !device.available.ok && !spare(device, picked)).map((device) => `${device.name}: ${device.available.ok ? '' : device.available.reason}`),
    ...picked.flatMap((device) => device.impls.flatMap((impl) => (chosen(suite, device, impl) && !impl.available.ok ? [`${impl.title} on ${device.name}: ${impl.available.reason}`] : []))),
    ...(picked.some((device) => isLibrary(device.backend)) ? [] : [`${suite.against}: no Python with it is available, so there are no speedups over it`]),
    ...(absent.length > 0 ? [`not implemented here: ${absent.join(', ')}`] : []),
  ]
  const modes = extent.modes.filter((mode) => offered.has(mode))
  return { spec: { ops: known.filter(({ op }) => targets.length === 0 || has(op)), sizes: {}, dtypes: [...extent.dtypes], targets, modes, preset: extent.preset, ...(extent.parts ? { parts: extent.parts } : {}), suite: suite.id, ...(extent.grid ? { grid: gridSpec(extent.grid) } : {}) }, missing }
}

const gridSpec = ({ batch, sequence, dimension }: SuiteGrid) => ({ batch: [...batch], sequence: [...sequence], dimension: [...dimension] })

/** Of several Pythons only some are meant to be measured with. */
const spare = (device: Device, picked: readonly Device[]): boolean => device.interpreter !== undefined && picked.some(({ backend }) => backend === device.backend)

const processors = (suite: Suite, gpu: boolean): readonly ('cpu' | 'gpu')[] => (suite.processors === 'both' ? ['cpu', 'gpu'] : suite.processors === 'cpu' || !gpu ? ['cpu'] : ['gpu'])

/** The backends that suites compare. */
export const SUITE_BACKENDS: readonly string[] = ['cpu', 'cuda', 'python']

/** Whether the suite is about this device at all. */
const wanted = (suite: Suite, device: Device): boolean => SUITE_BACKENDS.includes(device.backend) && (suite.processors !== 'cpu' || processorOf(device.id) === 'cpu')

/** The devices that the suite measures: hardware and the libraries on it; GPUs beside a CPU where the suite wants the GPU first. */
function devicesFor(suite: Suite, devices: readonly Device[], processor?: 'cpu' | 'gpu'): Device[] {
  const usable = devices.filter((device) => wanted(suite, device) && device.available.ok && !device.software)
  const kinds = processor ? [processor] : processors(suite, usable.some((device) => processorOf(device.id) === 'gpu' && !isLibrary(device.backend)))
  return usable.filter((device) => kinds.includes(processorOf(device.id)))
}

/** The implementations that the suite compares: of Python those that it names, else every one or the preferred ones. */
const chosen = (suite: Suite, device: Device, impl: Impl): boolean => (isLibrary(device.backend) ? suite.libraries.includes(impl.id) : suite.impls === 'all' || impl.preferred)

function targetOn(suite: Suite, device: Device): Target[] {
  const impls = device.impls.filter((impl) => impl.available.ok && chosen(suite, device, impl)).map(({ id }) => id)
  if (impls.length === 0) return []
  const threads = device.threads.length === 0 ? undefined : suite.threads === 'one' ? [device.threads[0]!] : device.threads.slice(-1)
  return [{ backend: device.backend, device: device.id, impls, ...(threads ? { threads } : {}) }]
}

export type { Suite, SuiteExtent } from './types'
