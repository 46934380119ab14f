import { join } from 'node:path'
import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { isLibrary } from '@core/backends'
import { placeOf } from '@core/fleet/place'
import { inShard, readShard, type Shard } from '@core/fleet/shard'
import { usualRedactions } from '@core/formats/redact'
import { exportSession, exportFormat, prepareExport } from '@core/formats/registry'
import { PRESET_IDS, presetSettings } from '@core/measure/settings'
import { choiceTitle, unmeasuredChoices } from '@core/roofline/ceilings'
import type { Suite } from '@core/suites'
import { defaultSweep as defaultSpec } from '@core/sweep/defaults'
import { estimateSeconds } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'
import type { SweepFile } from '@core/sweep/capture'
import { presentSweep } from '@core/sweep/present'
import { summarizeSweep } from '@core/sweep/summary'
import { withRounds } from '@core/session/noisy-host'
import type { SweepSpec } from '@core/session/sweep-spec'
import { aboutDuration } from '@core/units'
import { readEnvironment } from '../../../environment'
import { thisUser, makeFolder } from '../../../paths'
import { readPlan, shardSession } from '../../../slurm/plan'
import { writeFileAtomic } from '../../../write-file'
import type { Runner } from '../../../runner/types'
import type { Context } from '../../context'
import { endStatus, follow } from '../../follow'
import { pickOne, readName, UsageError } from '../../options/choices'
import { readGpus, readHow, readMachines, readPicks, specOf, type SweepOptions } from '../../options/sweep-options'
import { readSweepFile } from '../capture'
import { reportRun } from '../sessions'
import { afterRun, checkSuiteOptions, chooseSuite, refusePicks, suiteBackends, suiteOf, type SuiteOptions } from './suite'

export interface RunOptions extends SweepOptions, SuiteOptions {
  /** Name of a saved sweep (core/session/saved/sweeps). */
  sweep?: string
  name?: string
  json?: boolean
  dryRun?: boolean
  /** Seconds after which the run is stopped, as text. */
  stopAfter?: string
  /** Options of a plan (main/slurm), and the part of it to measure. */
  plan?: string
  shard?: string
  gpus?: string
  ceilings?: boolean
}

/**
 * `opscope run --plan`: a shard of a plan; one that was begun before goes on where it stopped. What another computer began is measured
 * again: results of one session come from one computer.
 */
async function runShard(context: Context, { plan: path, shard: text = '1/1', name, json, dryRun, ...others }: RunOptions): Promise<number> {
  const extra = Object.keys(others)[0]
  if (extra !== undefined || name !== undefined) throw new UsageError(`--plan defines the sweep; --${extra ?? 'name'} cannot be given beside it`)
  const plan = readPlan(path!)
  const shard = shardOf(text)
  const session = shardSession(plan, shard)
  const options = { ...plan.options, name: session, ...(json ? { json } : {}), ...(dryRun ? { dryRun } : {}) }
  const begun = dryRun ? [] : context.sessions().filter((one) => one.name === session)
  const complete = begun.find(({ id }) => context.history.remaining(id).length === 0)
  if (complete) {
    context.remark(`opscope: shard ${text} is complete (session ${complete.id})`)
    return 0
  }
  const { host } = readEnvironment([])
  const own = begun.find(({ id }) => context.history.getSession(id).environment.host === host)
  return own ? resume(context, own.id, options) : measure(context, options, shard)
}

/** `opscope run --plan` of a captured sweep: the options say where and how its cases are measured. */
function runCaptured(context: Context, { name, picks }: SweepFile, { plan: path, ...options }: RunOptions): Promise<number> {
  const also = (['ops', 'sizes', 'dtypes', 'suite', 'sweep', 'shard', 'parts'] as const).find((one) => options[one] !== undefined)
  if (also !== undefined) throw new UsageError(`${path!} defines the sweep; remove --${also}`)
  return measure(context, { name, ...options }, undefined, picks)
}

function shardOf(text: string): Shard {
  try {
    return readShard(text)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

/** `opscope run`: plans the picked sweep, measures it and prints the results. */
export function run(context: Context, options: RunOptions): Promise<number> {
  const captured = options.plan === undefined ? undefined : readSweepFile(options.plan)
  if (captured) return runCaptured(context, captured, options)
  if (options.plan !== undefined) return runShard(context, options)
  if (options.shard !== undefined) throw new UsageError('--shard belongs to --plan')
  return measure(context, options)
}

/** `--ceilings`: measures those of the processor that these cases are held against and that are not known. The exit status. */
async function measureMissing(context: Context, runner: Runner, devices: readonly Device[], cases: readonly BenchmarkCase[], json: boolean): Promise<number> {
  for (const device of devices) {
    const choices = unmeasuredChoices(device, cases, context.history.ceilings())
    if (choices.length === 0) continue
    context.remark(`opscope: first the ceilings of ${device.name}: ${choices.map(choiceTitle).join('; ')}`)
    const followed = await follow(context, runner, () => runner.measureCeilings([device.id], { choices, only: true }), json)
    const status = endStatus(followed.end)
    if (status !== 0) return status
  }
  return 0
}

/** Measures what these options pick, of it only the shard where there is one. */
async function measure(context: Context, options: RunOptions, shard?: Shard, picks?: SweepFile['picks']): Promise<number> {
  const name = readName(options.name ?? options.sweep)
  const stopAfter = readStopAfter(options.stopAfter)
  context.gpus = readGpus(options)
  checkSuiteOptions(options)
  const { runner, devices, spec: chosen, missing, named, suite } = await chosenSweep(context, options)
  const spec = picks ? { ...chosen, ...picks } : chosen
  if (spec.targets.length === 0) {
    context.remark(`opscope: nothing can be measured: ${missing.join('; ') || 'no picked device has the picked implementations'}`)
    return 1
  }
  if (named || spec.suite || options.sweep !== undefined) for (const reason of missing) context.remark(`opscope: left out: ${reason}`)

  const whole = planSweep(spec, devices)
  const only = shard && inShard(spec, shard)
  const plan = only ? { ...whole, cases: whole.cases.filter(only) } : whole
  // With nothing left, the refusal of the run says why.
  if (plan.cases.length > 0 || options.dryRun) for (const { reason, count, example } of plan.skipped) context.remark(`opscope: left out: ${reason} (${count === 1 ? example : `${count} cases, such as ${example}`})`)
  if (plan.problems.length > 0) throw new UsageError(plan.problems.join('; '))
  const { repeats = 1 } = spec
  const { settings, noise } = withRounds(presetSettings(spec.preset, context.settings.presets, spec.measure), plan.cases, devices, context.history.noiseFloors())
  const seconds = repeats * estimateSeconds(plan.cases, settings, context.history.ceilings(), devices)
  const { text } = summarizeSweep(spec, plan, seconds, noise)
  if (options.dryRun) {
    if (options.json) context.printJson({ cases: plan.cases, repeats, skipped: plan.skipped, seconds })
    else context.print(text)
    return 0
  }
  if (shard && plan.cases.length === 0) {
    context.remark(`opscope: shard ${shard.index}/${shard.count} has no case on this machine`)
    return 0
  }
  if (plan.cases.length > 0) context.remark(`opscope: ${text}`)

  if (options.ceilings) {
    const status = await measureMissing(context, runner, devices, plan.cases, options.json === true)
    if (status !== 0) return status
  }
  const followed = await follow(context, runner, () => runner.start(spec, name, only), options.json === true, 'each', stopAfter)
  const status = reportRun(context, followed, options.json === true)
  if ((spec.suite || spec.parts) && options.json !== true) context.print(exportSession('suite', context.history.exportSession(followed.sessionId), { ceilings: context.history.ceilings() }))
  if (status !== 130) {
    const after = await afterRun(context, suite, followed.sessionId, options)
    if (after !== 0 || suite) return after === 0 ? status : after
  }
  return status === 0 && named && missing.length > 0 ? 1 : status
}

/** `--stop-after 120`, in seconds. */
function readStopAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (!(seconds > 0) || seconds > 1e6) throw new UsageError(`--stop-after: expected seconds above 0, received "${text}"`)
  return seconds
}

/** What is to be measured. `named`: the user named the backends, so that a missing one is worth a failure. */
interface Chosen {
  runner: ReturnType<Context['runner']>
  devices: Device[]
  spec: SweepSpec
  missing: string[]
  named: boolean
  suite?: Suite
}

async function suiteSweep(context: Context, options: RunOptions): Promise<Chosen> {
  suiteOf(options)
  const runner = context.runner(suiteBackends(context.backends(), options), readMachines(options))
  const devices = await runner.devices(false)
  return { runner, devices, ...chooseSuite(options, devices), named: false }
}

async function pickedSweep(context: Context, options: RunOptions): Promise<Chosen> {
  const picks = readPicks(options, context.backends())
  const runner = context.runner(picks.backends, readMachines(options))
  const devices = await runner.devices(false)
  return { runner, devices, ...specOf(picks, options, devices), named: picks.backendsNamed }
}

/** The sweep that the options name: a suite, a saved sweep, or picks. */
function chosenSweep(context: Context, options: RunOptions): Promise<Chosen> {
  if (options.suite !== undefined && options.sweep !== undefined) throw new UsageError('--suite and --sweep exclude each other; remove one of them')
  if (options.suite !== undefined) return suiteSweep(context, options)
  return options.sweep !== undefined ? savedSweep(context, options) : pickedSweep(context, options)
}

/** Picks that were saved under a name, without what this machine lacks. */
async function savedSweep(context: Context, options: RunOptions): Promise<Chosen> {
  refusePicks(options, '--sweep')
  const saved = context.settings.savedSweeps ?? []
  if (saved.length === 0) throw new UsageError('there is no saved sweep; save one in the Run view of the app')
  const name = pickOne('saved sweep', options.sweep!.trim(), saved.map((one) => one.name))
  const { spec } = saved.find((one) => one.name === name)!
  const runner = context.runner([...new Set(spec.targets.map(({ backend }) => backend))], new Set(spec.targets.map(({ device }) => placeOf(device).host)))
  const devices = await runner.devices(false)
  const here = presentSweep(spec, devices)
  const preset = options.preset === undefined ? spec.preset : pickOne('preset', options.preset, PRESET_IDS)
  return { runner, devices, spec: { ...here.spec, preset, ...readHow(options) }, missing: here.missing, named: false }
}

/** `opscope resume`: measures what a stopped or interrupted session has left. */
export async function resume(context: Context, sessionId: string, options: { json?: boolean }): Promise<number> {
  const left = context.history.remaining(sessionId)
  const runner = context.runner([...new Set(left.map((c) => c.backend))], new Set(left.map((c) => placeOf(c.device).host)))
  return reportRun(context, await follow(context, runner, () => runner.resumeSession(sessionId), options.json === true), options.json === true)
}

/** `opscope default-sweep`: what `npm start` does without a display. One op of each family on every device, and a report of it. */
export async function defaultSweep(context: Context, options: { json?: boolean }): Promise<number> {
  // Pythons are the user's to pick, and looking for them takes seconds.
  const runner = context.runner(context.backends().filter((id) => !isLibrary(id)))
  const devices = await runner.devices(false)
  for (const device of devices) if (!device.available.ok) context.remark(`opscope: left out: ${device.backend}: ${device.available.reason}`)
  const spec = defaultSpec(devices)
  const { cases } = planSweep(spec, devices)
  if (cases.length === 0) {
    context.remark('opscope: nothing can be measured here; the lines above say what is missing')
    return 1
  }
  context.remark(`opscope: one operation of each family at one size: ${cases.length} cases, ${aboutDuration(estimateSeconds(cases, presetSettings(spec.preset, context.settings.presets), context.history.ceilings(), devices))}`)
  const followed = await follow(context, runner, () => runner.start(spec), options.json === true)
  const status = reportRun(context, followed, options.json === true)

  if (followed.end.problem !== undefined) return status

  const report = join(context.paths.reports, `${followed.sessionId}.html`)
  makeFolder(context.paths.reports)
  await prepareExport('html')
  writeFileAtomic(report, [exportSession('html', context.history.exportSession(followed.sessionId), { ceilings: context.history.ceilings(), leaveOut: usualRedactions(exportFormat('html')), hints: thisUser() })])
  context.remark(`Session ${followed.sessionId} is in the history in ${context.paths.folder}`)
  context.remark(`Report: ${report}`)
  return status
}
