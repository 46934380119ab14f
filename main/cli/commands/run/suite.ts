import { join, resolve } from 'node:path'
import type { Device } from '@core/backend'
import { PRESET_IDS } from '@core/measure/settings'
import type { SweepSpec } from '@core/session/sweep-spec'
import { findSuite, SUITE_BACKENDS, suitePlan, SUITES, type Suite, type SuiteExtent, type SuiteSelection } from '@core/suites'
import { readFacets, type FacetFilter } from '@core/suites/facets'
import { BaselineStore } from '../../../baselines/baselines'
import { baselineFor, previousOfSuite } from '../../../baselines/check-steps'
import { suiteFiles } from '../../../files/suite-files'
import { makeFolder } from '../../../paths'
import type { Context } from '../../context'
import { pickList, pickOne, UsageError } from '../../options/choices'
import { readHow, type SweepOptions } from '../../options/sweep-options'
import { tellPinned } from './baseline'
import { compare } from '../compare'
import { exportSession } from '../files'

/** Options of `run --suite`. */
export interface SuiteOptions {
  suite?: string
  quick?: boolean
  /** `batch=16,dimension=512` */
  where?: string
  /** `cpu` or `gpu` of a suite of both. */
  processor?: string
  /** Folder for the reports. */
  out?: string
  /** A session, a file, `pinned`, or `previous`. */
  baseline?: string
  failOn?: string
  threshold?: string
}

const PREVIOUS = 'previous'
const PINNED = 'pinned'

/** What a suite comes to here. */
export interface ChosenSuite {
  suite: Suite
  spec: SweepSpec
  missing: string[]
}

/** Options that say what to measure, which a saved sweep says itself. */
const PICKS = ['ops', 'sizes', 'dtypes', 'backends', 'devices', 'impls', 'threads', 'modes', 'parts'] as const

/** Those of them that a suite says itself; of the others it takes a part. */
const FIXED = ['impls', 'threads', 'modes', 'parts'] as const

/** Options that belong to a suite. */
const SUITE_ONLY = { quick: '--quick belongs to --suite; use --preset quick', where: '--where belongs to --suite; use --sizes', processor: '--processor belongs to --suite; use --devices', out: '--out belongs to --suite; use opscope export' } as const
const BASELINE_ONLY = { failOn: '--fail-on belongs to --baseline', threshold: '--threshold belongs to --baseline' } as const

/** Refuses picks beside what says them itself. Throws a UsageError. */
export function refusePicks(options: SweepOptions, by: string, picks: readonly (typeof PICKS)[number][] = PICKS): void {
  const also = picks.filter((name) => options[name] !== undefined)
  if (also.length > 0) throw new UsageError(`${by} defines what is measured; remove ${also.map((name) => `--${name}`).join(', ')}`)
}

/** Refuses options that mean nothing without a suite or a baseline. Throws a UsageError. */
export function checkSuiteOptions(options: SuiteOptions & SweepOptions & { json?: boolean; dryRun?: boolean }): void {
  if (options.suite === undefined) for (const [name, message] of Object.entries(SUITE_ONLY)) if (options[name as keyof typeof SUITE_ONLY] !== undefined) throw new UsageError(message)
  if (options.baseline === undefined) for (const [name, message] of Object.entries(BASELINE_ONLY)) if (options[name as keyof typeof BASELINE_ONLY] !== undefined) throw new UsageError(message)
  if (options.suite === undefined && options.baseline === PREVIOUS) throw new UsageError(`--baseline ${PREVIOUS} belongs to --suite; name a session, or pin one and use --baseline ${PINNED}`)
  if (options.suite !== undefined) refusePicks(options, '--suite', FIXED)
  if (options.baseline !== undefined && options.json) throw new UsageError('--baseline prints its comparison; use --out for files instead of --json')
}

/** The suite that the options name. Throws a UsageError with the choices. */
export const suiteOf = ({ suite }: SuiteOptions): Suite => findSuite(pickOne('suite', suite!, SUITES.map(({ id }) => id)))!

/** The sweep of the suite on these devices. */
export function chooseSuite(options: SuiteOptions & SweepOptions, devices: readonly Device[]): ChosenSuite {
  const suite = suiteOf(options)
  const { selection, sizes } = selectionOf(suite, options)
  const { spec: planned, missing } = suitePlan(suite, devicesOf(options, devices), options.quick, selection)
  const spec = sizes === undefined ? planned : { ...planned, ops: planned.ops.map((pick) => ({ ...pick, sizes })) }
  const preset = options.preset === undefined ? spec.preset : pickOne('preset', options.preset, PRESET_IDS)
  return { suite, spec: { ...spec, preset, ...readHow(options) }, missing }
}

/** The part of a suite that --ops, --sizes, --dtypes, --where and --processor leave; `sizes`: in place of those of a suite of one operation. */
function selectionOf(suite: Suite, { ops, sizes, dtypes, quick, where, processor }: SuiteOptions & SweepOptions): { selection: SuiteSelection; sizes?: string } {
  const extent = quick ? suite.quick : suite.full
  const selection: SuiteSelection = {
    ...(ops === undefined ? {} : { ops: pickList('operation of this suite', ops, [...new Set(extent.ops.map(({ op }) => op))]) }),
    ...(dtypes === undefined ? {} : { dtypes: pickList('dtype of this suite', dtypes, extent.dtypes) }),
    ...(where === undefined ? {} : { facets: filterOf(extent, where) }),
    ...(processor === undefined ? {} : { processor: processorOf(suite, processor) }),
  }
  if (sizes === undefined) return { selection }
  if (extent.classes) return { selection: { ...selection, classes: pickList('class of sizes', sizes, Object.keys(extent.classes)) } }
  if (extent.ops.length === 1) return { selection, sizes }
  throw new UsageError(`${suite.title} defines its own sizes; remove --sizes${extent.grid ? ', or use --where' : ''}`)
}

/** The backends that a suite may measure with: those that are named, else all that any suite compares. */
export const suiteBackends = (known: readonly string[], { backends }: SweepOptions): string[] => (backends === undefined ? known.filter((id) => SUITE_BACKENDS.includes(id)) : pickList('backend', backends, SUITE_BACKENDS))

/** The devices that --devices and --backends leave. */
function devicesOf({ devices: ids, backends }: SweepOptions, devices: readonly Device[]): readonly Device[] {
  const named = ids === undefined ? undefined : pickList('device', ids, devices.map(({ id }) => id))
  const of = backends === undefined ? undefined : pickList('backend', backends, SUITE_BACKENDS)
  return devices.filter(({ id, backend }) => (!named || named.includes(id)) && (!of || of.includes(backend)))
}

function filterOf(extent: SuiteExtent, where: string): FacetFilter {
  try {
    return readFacets(where, extent)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(`--where: ${error.message}`) : error
  }
}

function processorOf({ title, processors }: Suite, asked: string): 'cpu' | 'gpu' {
  if (processors !== 'both') throw new UsageError(`--processor: ${title} measures ${processors === 'cpu' ? 'the CPU' : 'the GPU, or the CPU where there is none'}; use --devices`)
  return pickOne('processor', asked, ['cpu', 'gpu'])
}

/** The session that the run is compared with; undefined, told, where there is none. */
function baselineOf(context: Context, suite: Suite | undefined, sessionId: string, wanted: string): string | undefined {
  if (wanted === PINNED) {
    const pin = baselineFor(context.history, new BaselineStore(context.paths.baselines).read().pins, sessionId)
    if (!pin) context.remark('opscope: no pinned baseline has a case of this session on the same hardware; opscope baseline pin SESSION pins one')
    return pin?.sessionId
  }
  if (wanted !== PREVIOUS || !suite) return wanted
  const previous = previousOfSuite(context.history, sessionId)
  if (previous === undefined) context.remark(`opscope: there is no earlier complete session of ${suite.title} with a case of this one on the same hardware; this one is the baseline of the next`)
  return previous
}

/**
 * What follows a run: the reports of a suite into the folder, and the comparison with the baseline. Without --baseline a pinned one is
 * compared with in one line. Returns the exit status: 3 where the comparison shows what --fail-on names.
 */
export async function afterRun(context: Context, suite: Suite | undefined, sessionId: string, options: SuiteOptions): Promise<number> {
  if (suite && options.out !== undefined) await writeReports(context, suite, sessionId, options.out)
  if (options.baseline === undefined) {
    tellPinned(context, sessionId)
    return 0
  }
  const baseline = baselineOf(context, suite, sessionId, options.baseline)
  if (baseline === undefined) return 0
  return compare(context, [baseline, sessionId], { failOn: options.failOn ?? 'slower,wrong', ...(options.threshold === undefined ? {} : { threshold: options.threshold }) })
}

/** The files of a suite's run, in the folder. */
async function writeReports(context: Context, suite: Suite, sessionId: string, folder: string): Promise<void> {
  makeFolder(resolve(folder))
  for (const { format, name } of suiteFiles(suite)) await exportSession(context, sessionId, { format, out: join(folder, name) })
}
