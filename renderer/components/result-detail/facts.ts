import type { Run } from '@core/analysis/case-runs'
import { hitRatio, type Device, type DeviceState, type KernelLaunch } from '@core/backend'
import { findBackend, isLibrary } from '@core/backends'
import { caseId, type BenchmarkCase } from '@core/case'
import { chooseSamples, LABEL_TITLES, labelledMask } from '@core/measure/result/labels'
import type { Result, Verification } from '@core/result'
import { roofline, roofsOf } from '@core/roofline/roofline'
import type { Ceiling } from '@core/session/types'
import { formatBandwidth, formatBytes, formatCount, formatFlops, formatInteger, formatInterval, formatPercent, formatSize, formatTime, formatWaves, localNumber, type Unit } from '@core/units'
import { numberText } from '../../lib/column-format'
import { fullDate } from '../../lib/session-words'
import type { RowSource } from '../../stores/rows/result-rows'
import { PACKAGE_TITLES } from '../python/interpreters'
import { exactShape } from '../results-table/columns/column'

/** A line of the details: a name, a value with its unit, and whether it is trouble. */
export interface Fact {
  name: string
  value: string
  trouble?: boolean
}

/** Errors span many magnitudes: `2.57e-7`, and `0` for none. */
const error = (value: number | undefined) => (value === 0 ? '0' : value?.toExponential(2))

const fact = (name: string, value: string | undefined, trouble = false): Fact[] => (value === undefined ? [] : [{ name, value, ...(trouble ? { trouble } : {}) }])
const time = (name: string, ns: number | undefined) => fact(name, ns === undefined ? undefined : formatTime(ns))

/** Units of the rates in the table beside the details; absent: each rate has its own. */
export interface RateUnits {
  bandwidth?: Unit
  flops?: Unit
}

const rateText = (value: number, quantity: 'bandwidth' | 'flop-rate', unit: Unit | undefined) => (unit ? `${numberText(value, quantity, unit)} ${unit.name}` : quantity === 'bandwidth' ? formatBandwidth(value) : formatFlops(value))

/** The figures of a result before all others: `23.7 µs`, and `±13.5 % · 22.1 GB/s`. Undefined where it was not timed. */
export function headlineOf(result: Pick<Result, 'summary' | 'status' | 'bytes' | 'flops'>, units: RateUnits = {}): { median: string; about: string } | undefined {
  const { summary: s, status, bytes, flops } = result
  if (!s) return undefined
  const seconds = s.medianNs / 1e9
  const rates = status === 'ok' && seconds > 0 ? [...(bytes > 0 ? [rateText(bytes / seconds, 'bandwidth', units.bandwidth)] : []), ...(flops > 0 ? [rateText(flops / seconds, 'flop-rate', units.flops)] : [])] : []
  return { median: formatTime(s.medianNs), about: [formatInterval(s.medianNs, s.ciLowNs, s.ciHighNs), ...rates].join(' · ') }
}

/** All statistics of the samples. */
export function statistics(result: Result, units: RateUnits = {}): Fact[] {
  const s = result.summary
  if (!s) return []
  const seconds = s.medianNs / 1e9
  return [
    ...time('Median', s.medianNs),
    ...fact('95 % CI', s.ciLowNs === undefined || s.ciHighNs === undefined ? undefined : `${formatTime(s.ciLowNs)} to ${formatTime(s.ciHighNs)} (${formatInterval(s.medianNs, s.ciLowNs, s.ciHighNs)})`),
    ...fact('CI widened', s.ciWidened === undefined ? undefined : `${localNumber(s.ciWidened.toPrecision(2))}x (autocorrelated samples)`),
    ...fact('Bandwidth', result.status === 'ok' && seconds > 0 ? rateText(result.bytes / seconds, 'bandwidth', units.bandwidth) : undefined),
    ...fact('Compute', result.status === 'ok' && seconds > 0 && result.flops > 0 ? rateText(result.flops / seconds, 'flop-rate', units.flops) : undefined),
    ...time('Fastest', s.minNs), ...time('5th percentile', s.p05Ns), ...time('25th percentile', s.p25Ns),
    ...time('75th percentile', s.p75Ns), ...time('95th percentile', s.p95Ns), ...time('Slowest', s.maxNs),
    ...time('Mean', s.meanNs), ...time('Standard deviation', s.stddevNs), ...time('MAD', s.madNs),
    ...fact('Samples', s.count === undefined ? undefined : `${s.count === result.samplesNs.length || result.samplesNs.length === 0 ? s.count : `${s.count} of ${result.samplesNs.length}`}${result.inner === undefined || result.inner === 1 ? '' : `, ${result.inner} calls each`}`),
    ...fact('Outliers', s.severeOutliers === undefined ? undefined : `${s.mildOutliers ?? 0} mild, ${s.severeOutliers} severe`, (s.severeOutliers ?? 0) > 0),
  ]
}

/** Samples taken under bad conditions, by kind, and what became of them; empty where all are clean. */
export function labelFacts({ labels, samplesNs, rounds }: Pick<Result, 'labels' | 'samplesNs' | 'rounds'>): Fact[] {
  if (!labels?.length) return []
  const taken = samplesNs.length
  const { clean, setAside } = chooseSamples(labels, taken, rounds)
  const kinds = [...new Set(labels.map((label) => label.kind))].map((kind): Fact => {
    const reasons = [...new Set(labels.filter((label) => label.kind === kind).map((label) => label.reason))]
    const shown = reasons.slice(0, 3).join('; ')
    const many = labelledMask(labels, taken, kind).reduce((sum, one) => sum + one, 0)
    return { name: capital(LABEL_TITLES[kind]), value: `${many} of ${taken}: ${shown}${reasons.length > 3 ? ' and others' : ''}`, trouble: !setAside }
  })
  return [...kinds, { name: 'Unlabelled', value: `${clean} of ${taken}` }, { name: 'Used', value: setAside ? 'unlabelled samples' : 'all samples: too few are unlabelled' }]
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const BOUND_WORDS = { memory: 'memory bandwidth', compute: 'arithmetic', latency: 'launch overhead' } as const

/** Where the result stands under the measured ceilings of its device; empty where none apply. */
export function rooflineFacts(result: Result, ceilings: readonly Ceiling[]): Fact[] {
  if (result.status !== 'ok' || !result.summary) return []
  const roofs = roofsOf(ceilings, result.case)
  const point = roofline({ bytes: result.bytes, flops: result.flops, medianNs: result.summary.medianNs }, roofs)
  return [
    ...fact('Efficiency', point?.efficiency === undefined ? undefined : formatPercent(point.efficiency)),
    ...fact('Bound by', point?.bound === 'memory' && roofs.cache !== undefined ? `${roofs.cache} bandwidth` : point?.bound && BOUND_WORDS[point.bound]),
    ...fact('Intensity', point?.intensity === undefined ? undefined : `${formatCount(point.intensity)} FLOP/B`),
    ...fact('Attainable', point?.attainableFlops === undefined ? undefined : formatFlops(point.attainableFlops)),
    ...fact('Note', point?.flag),
  ]
}

const methodText = ({ method, blockElements, coverage }: Verification): string | undefined => {
  if (method === 'all') return 'every element'
  if (method === 'projection') return `random projections of every block of ${blockElements ?? 0} elements, and a sample`
  return method === 'sample' ? `a sample; finds ${formatPercent(coverage ?? 0)} of faults of one tile` : undefined
}

/** What comparing with the reference found. */
export function verificationFacts(v: Verification): Fact[] {
  return [
    { name: 'Outcome', value: v.ok ? 'passed' : v.inaccurate ? 'inaccurate' : 'failed', ...(v.ok ? {} : { trouble: true }) },
    ...fact('Reason', v.message, true),
    ...fact('Relative error', v.relL2 === undefined ? undefined : `${error(v.relL2)} of ${v.tolerance.toExponential(1)} allowed`, !v.ok),
    ...fact('Largest error', error(v.maxAbs)),
    ...fact('Largest error, ulp', v.maxUlp === undefined ? undefined : formatCount(v.maxUlp)),
    ...fact('Largest error, bounds', v.worstElement === undefined ? undefined : `${formatCount(v.worstElement)} of an element's bound`, (v.worstElement ?? 0) > 1),
    ...fact('Elements compared', `${formatSize(v.checkedElements)} of ${formatSize(v.totalElements)}`),
    ...fact('Method', methodText(v)),
    ...fact('Sample seed', v.sampleSeed === undefined ? undefined : String(v.sampleSeed)),
    ...fact('Call', v.fresh ? 'a further call on fresh inputs, because timed calls change their inputs' : undefined),
    ...(v.outputs ?? []).flatMap((output) => fact(`Output ${output.name}`, `${output.ok ? 'passed' : output.inaccurate ? 'inaccurate' : 'failed'}, relative error ${output.relL2 === undefined ? 'unknown' : error(output.relL2)}`, !output.ok)),
    ...fact('Unwritten elements', v.unwritten ? formatCount(v.unwritten) : undefined, true),
    ...fact('NaN or infinite elements', v.nonFinite ? formatCount(v.nonFinite) : undefined, true),
  ]
}

/** Smallest and largest, without spreading a long array into a call. */
function extent(values: readonly number[]): number[] {
  let low = Infinity
  let high = -Infinity
  for (const value of values) {
    if (value < low) low = value
    if (value > high) high = value
  }
  return values.length ? [low, high] : []
}

const range = (values: readonly (number | undefined)[], unit: string, digits = 0) => {
  const known = values.filter((value): value is number => value !== undefined)
  if (!known.length) return undefined
  const [low, high] = [Math.min(...known), Math.max(...known)].map((value) => localNumber(value.toFixed(digits)))
  return low === high ? `${low} ${unit}` : `${low} to ${high} ${unit}`
}

/** The device's condition over all batches, and of the readings beside each sample, as ranges. */
export function deviceFacts({ deviceStates: states = [], clocksMhz = [], probesNs = [] }: Pick<Result, 'deviceStates' | 'clocksMhz' | 'probesNs'>): Fact[] {
  const of = (pick: (state: DeviceState) => number | undefined) => states.map(({ state }) => pick(state))
  const throttle = [...new Set(states.flatMap(({ state }) => state.throttle ?? []))]
  const total = (pick: (state: DeviceState) => number | undefined) => of(pick).reduce<number>((sum, value) => sum + (value ?? 0), 0)
  const switches = total((s) => s.involuntarySwitches)
  const stolenMs = total((s) => s.stealMs)
  const known = (readings: readonly number[]) => extent(readings.filter((value) => value > 0))
  const foreign = Math.max(0, ...of((s) => s.foreignProcesses).filter((n): n is number => n !== undefined))
  return [
    ...fact('Clock', range(of((s) => s.smClockMhz), 'MHz')),
    ...fact('Clock of samples', range(known(clocksMhz), 'MHz')),
    ...fact('CPU speed probe', range(known(probesNs), 'ns')),
    ...fact('Memory clock', range(of((s) => s.memClockMhz), 'MHz')),
    ...fact('Temperature', range(of((s) => s.temperatureC), '°C')),
    ...fact('Power', range(of((s) => s.powerW), 'W')),
    ...fact('Throttled by', throttle.length ? throttle.join(', ') : undefined, true),
    ...fact('Involuntary context switches', switches ? formatCount(switches) : undefined),
    ...fact('Hypervisor steal time', stolenMs ? `${localNumber(stolenMs.toFixed(stolenMs < 10 ? 1 : 0))} ms` : undefined),
    ...fact('Other processes', foreign ? String(foreign) : undefined, true),
  ]
}

/** What the processor counted of a call; which counters are absent and why; empty where nothing was asked of it. */
export function counterFacts({ counters }: Pick<Result, 'counters'>): Fact[] {
  if (!counters) return []
  const { instructions, cycles, l1Reads, l1Misses, llcReads, llcMisses } = counters
  const ratio = (name: string, reads: number | undefined, misses: number | undefined) => {
    const hits = hitRatio(reads, misses)
    return fact(name, hits === undefined ? undefined : `${formatPercent(hits)} of ${formatCount(reads!)} reads`)
  }
  return [
    ...fact(Object.keys(counters).length > 1 ? 'Incomplete' : 'Unavailable', counters.reason),
    ...fact('Instructions', instructions === undefined ? undefined : `${formatCount(instructions)} per call`),
    ...fact('Cycles', cycles === undefined ? undefined : `${formatCount(cycles)} per call`),
    ...fact('Instructions per cycle', instructions === undefined || !cycles ? undefined : localNumber((instructions / cycles).toFixed(2))),
    ...ratio('L1 data cache hits', l1Reads, l1Misses), ...ratio('Last-level cache hits', llcReads, llcMisses),
  ]
}

/** How the measurement went. */
export function measurementFacts(result: Result): Fact[] {
  return [
    ...fact('Stopped because', result.stopReason),
    ...fact('Converged', result.converged === undefined ? undefined : result.converged ? 'yes' : 'no', result.converged === false),
    ...fact('Timer', result.timer === undefined ? undefined : `${result.timer}${result.tickNs === undefined ? '' : `, tick ${formatTime(result.tickNs)}`}`),
    ...fact('Started', fullDate(result.startedAt)),
    ...fact('Took', result.wallMs > 0 ? `${formatTime(result.wallMs * 1e6)}, ${formatTime(result.measuredMs * 1e6)} of it measured` : undefined),
    ...fact('Memory of the case', result.caseBytes === undefined ? undefined : formatBytes(result.caseBytes)),
    ...fact('Launch overhead', result.hostCallNs === undefined ? undefined : `${isLibrary(result.case.backend) ? findBackend(result.case.backend)?.title : 'The host'} took ${formatTime(result.hostCallNs)} to issue a call; not in the time`),
    ...fact('Library peak', result.libraryPeakBytes === undefined ? undefined : `${formatBytes(result.libraryPeakBytes)} beyond the case, by the library's own counter`),
    ...fact('Memory taken', result.deviceDeltaBytes === undefined ? undefined : formatBytes(result.deviceDeltaBytes)),
    ...Object.entries(result.stated ?? {}).map(([name, value]): Fact => ({ name: `${name}, as stated`, value: String(Number(value.toPrecision(6))) })),
  ]
}

const blocksText = ([x, y, z]: KernelLaunch['grid']): string => (z > 1 ? [x, y, z] : y > 1 ? [x, y] : [x]).map((blocks) => formatInteger(blocks)).join(' × ')

/** Each kernel of one call, as the driver states it; empty where none are known. */
export function launchFacts({ launches = [] }: Pick<Result, 'launches'>): Fact[][] {
  return launches.map((launch) => [
    { name: 'Name', value: launch.kernel },
    ...fact('Part', launch.part),
    { name: 'Grid', value: `${blocksText(launch.grid)} blocks of ${launch.threads} threads${launch.cluster === undefined ? '' : `, clusters of ${launch.cluster}`}` },
    ...fact('Registers', launch.registers === undefined ? undefined : `${launch.registers} per thread`),
    ...fact('Shared memory', launch.sharedBytes === undefined ? undefined : `${formatBytes(launch.sharedBytes)} per block`),
    ...fact('Local memory', launch.localBytes ? `${formatBytes(launch.localBytes)} per thread` : undefined),
    ...fact('Occupancy', launch.occupancy === undefined ? undefined : `${formatPercent(launch.occupancy)}, ${launch.blocksPerSm ?? 0} ${launch.blocksPerSm === 1 ? 'block' : 'blocks'} per SM (theoretical)`),
    ...fact('Waves', launch.waves === undefined ? undefined : formatWaves(launch.waves)),
  ])
}

/** The Python that computed a case, of the devices its session kept; empty for other backends. */
export function interpreterFacts({ device: id, backend }: Pick<BenchmarkCase, 'device' | 'backend'>, devices: readonly Device[]): Fact[] {
  const interpreter = devices.find((device) => device.backend === backend && device.id === id)?.interpreter
  if (!interpreter) return []
  return [
    ...fact('Python', interpreter.version),
    ...interpreter.packages.flatMap(({ name, version, detail }) => fact(PACKAGE_TITLES[name] ?? name, version && (detail ? `${version} (${detail})` : version))),
    ...fact('Found in', interpreter.source),
  ]
}

/** Where the threads of a case on a processor ran, as the device of its session says; empty where it does not. */
export const placementFacts = ({ device: id, backend, threads }: Pick<BenchmarkCase, 'device' | 'backend' | 'threads'>, devices: readonly Device[]): Fact[] =>
  threads === undefined ? [] : fact('Thread placement', devices.find((device) => device.backend === backend && device.id === id)?.facts.find(({ name }) => name === 'Threads')?.value)

/** The full identity of the case; the device by its name too, where the session knows it. */
export function identityFacts(result: Result, devices: readonly Device[] = []): Fact[] {
  const c = result.case
  const name = devices.find((device) => device.backend === c.backend && device.id === c.device)?.name
  return [
    { name: 'Operation', value: c.op }, { name: 'Parameters', value: exactShape(c) }, { name: 'Dtype', value: c.dtype },
    { name: 'Backend', value: `${c.backend}, ${c.impl}` }, { name: 'Device', value: name === undefined || name === c.device ? c.device : `${c.device}, ${name}` }, { name: 'Mode', value: c.mode },
    ...fact('Threads', c.threads === undefined ? undefined : String(c.threads)),
    { name: 'Minimum memory traffic', value: formatBytes(result.bytes) },
    { name: 'Operations', value: formatCount(result.flops) },
    { name: 'Seed', value: String(result.seed) },
    { name: 'Identity', value: caseId(c) },
  ]
}

/** The right runs of this case among these rows, in the order taken. */
export function runsAmong(rows: RowSource, measured: BenchmarkCase): Run[] {
  const wanted = caseId(measured)
  const known = new Map<BenchmarkCase, boolean>()
  const isSame = (one: BenchmarkCase) => {
    let same = known.get(one)
    if (same === undefined) known.set(one, (same = one.op === measured.op && one.impl === measured.impl && caseId(one) === wanted))
    return same
  }
  const runs: Run[] = []
  for (let i = 0; i < rows.length; i++) {
    const medianNs = rows.number(i, 'medianNs')
    if (rows.status(i) !== 'ok' || !(medianNs > 0) || !isSame(rows.case(i))) continue
    const [ciLowNs, ciHighNs] = [rows.number(i, 'ciLowNs'), rows.number(i, 'ciHighNs')]
    runs.push({ id: rows.id(i), medianNs, ...(Number.isNaN(ciLowNs) || Number.isNaN(ciHighNs) ? {} : { ciLowNs, ciHighNs }) })
  }
  return runs
}
