import { hitRatio, largestLaunch } from '../../backend'
import { speedupOf, type Timing } from '../../analysis/timing'
import { roundPasses } from '../../measure/result/rounds'
import type { Params } from '../../case'
import { csvText, type Cell } from '../../csv'
import { perJoule } from '../../measure/energy/windows'
import { roofline, roofsOf } from '../../roofline/roofline'
import type { Result } from '../../result'
import type { SessionStream } from '../../session/types'
import type { ExportContext, FileFormat } from '../file-format'
import { AFTER_PARAMS, PARAM_PREFIX, importCsv } from './read'

/** Same work of the same repeat of the sweep, wherever it was computed: op, parameters, dtype and mode. */
const workOf = ({ case: c, run }: Result) => [run ?? '', c.op, ...Object.keys(c.params).sort().map((key) => `${key}=${String(c.params[key])}`), c.dtype, c.mode].join('|')

/**
 * One row per result. Times in ns per call, gbps = 1e9 bytes/s, gflops = 1e9 FLOP/s from the op's cost model, efficiency as a
 * share of the binding measured ceiling (empty where the device has none), energy_j the energy of a call with its 95 % CI,
 * energy_delay_js its energy-delay product in joule seconds, energy_windows to energy_source how it was measured, ceiling_gbps and ceiling_gflops the measured
 * ceilings of its device for such traffic and dtype, speedup against the first right result of
 * the same op, parameters, dtype and mode in the session, and where the sweep was repeated in the same repeat (1 for that one). Efficiency and speedup are given for right results only.
 * Where both were measured in the same interleaved rounds, the speedup is that of the rounds. instructions to llc_hit_ratio are
 * hardware counters of one call. registers to waves are of the kernel that starts most threads, where the result has its launches (core/backend.ts KernelLaunch).
 */
function* exportCsv({ results }: SessionStream, { ceilings }: ExportContext): Generator<string, void> {
  /** Names of parameters in the order they first occur, and the first right time of each work. */
  const params = new Set<string>()
  const baseline = new Map<string, Timing>()
  for (const result of results) {
    for (const name of Object.keys(result.case.params)) params.add(name)
    if (result.status !== 'ok' || !result.summary) continue
    const work = workOf(result)
    if (!baseline.has(work)) baseline.set(work, timingOf(result, result.summary.medianNs))
  }
  const names = [...params]
  const taken = new Set<string>(['op', ...AFTER_PARAMS])
  const header = ['op', ...names.map((name) => (taken.has(name) || name.startsWith(PARAM_PREFIX) || name === '' ? PARAM_PREFIX + name : name)), ...AFTER_PARAMS]
  yield csvText([header])
  for (const result of results) {
    const { case: c, summary: s, energy, counters } = result
    const worth = energy && perJoule({ energy, flops: result.flops, bytes: result.bytes })
    const medianNs = s && s.medianNs > 0 ? s.medianNs : undefined
    const right = result.status === 'ok' && medianNs !== undefined
    const roofs = roofsOf(ceilings, c)
    const point = right ? roofline({ bytes: result.bytes, flops: result.flops, medianNs }, roofs) : undefined
    const launch = largestLaunch(result.launches)
    const first = baseline.get(workOf(result))
    const values: Record<(typeof AFTER_PARAMS)[number], Cell> = {
      dtype: c.dtype, backend: c.backend, impl: c.impl, device: c.device, mode: c.mode, threads: c.threads, status: result.status, samples: s?.count,
      median_ns: s?.medianNs, ci_low_ns: s?.ciLowNs, ci_high_ns: s?.ciHighNs, mad_ns: s?.madNs, p05_ns: s?.p05Ns, p95_ns: s?.p95Ns, min_ns: s?.minNs, max_ns: s?.maxNs, mean_ns: s?.meanNs,
      stddev_ns: s?.stddevNs, bytes: result.bytes, flops: result.flops, gbps: medianNs && result.bytes / medianNs, gflops: medianNs && result.flops / medianNs,
      efficiency: point?.efficiency, ceiling_gbps: roofs.bytesPerSecond && roofs.bytesPerSecond / 1e9, ceiling_gflops: roofs.flopsPerSecond && roofs.flopsPerSecond / 1e9, speedup: right && first ? speedupOf(timingOf(result, medianNs), first)?.ratio : undefined, peak_memory_bytes: result.caseBytes, library_peak_bytes: result.libraryPeakBytes, launch_overhead_ns: result.hostCallNs, registers: launch?.registers, shared_memory_bytes: launch?.sharedBytes, occupancy: launch?.occupancy, waves: launch?.waves,
      energy_j: energy?.joulesPerCall, energy_low_j: energy?.lowJ, energy_high_j: energy?.highJ, power_w: energy?.watts, idle_power_w: energy?.idleWatts, flops_per_joule: worth?.flopsPerJoule, bytes_per_joule: worth?.bytesPerJoule, energy_delay_js: worth?.energyDelay,
      energy_windows: energy?.windows, energy_seconds: energy?.seconds, energy_calls: energy?.calls, energy_sampled_j: energy?.sampledJoulesPerCall, energy_source: energy?.source,
      instructions: counters?.instructions, cycles: counters?.cycles, l1_hit_ratio: hitRatio(counters?.l1Reads, counters?.l1Misses), llc_hit_ratio: hitRatio(counters?.llcReads, counters?.llcMisses),
      max_rel_error: result.verification?.relL2,
      converged: result.converged, grade: result.grade, message: result.message, started_at: result.startedAt, result_id: result.id,
    }
    yield csvText([[c.op, ...names.map((name) => ownParam(c.params, name)), ...AFTER_PARAMS.map((name) => values[name])]])
  }
}

function timingOf(result: Result, medianNs: number): Timing {
  const rounds = roundPasses(result)
  return { medianNs, ...(rounds ? { rounds: [rounds] } : {}) }
}

const ownParam = (params: Params, name: string): Cell => (Object.hasOwn(params, name) ? params[name] : undefined)

/** A table for spreadsheets and scripts. */
const format: FileFormat = { id: 'csv', title: 'CSV', description: 'Table for spreadsheets and scripts: one line per result', extension: 'csv', exportSession: exportCsv, exportStream: { readings: 2, parts: exportCsv }, importSession: importCsv }
export default format
