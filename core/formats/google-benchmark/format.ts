import type { Result } from '../../result'
import type { SessionFile } from '../../session/types'
import type { FileFormat } from '../types'
import { caseName, OUR_EXECUTABLE } from './name'
import { importGoogleBenchmark } from './read'

const CACHE_TYPES: Record<string, string> = { d: 'Data', i: 'Instruction' }

function cacheOf({ name, bytes, instances }: { name: string; bytes: number; instances: number }, logicalCpus: number) {
  const [, level, kind] = /^L(\d)([di]?)$/.exec(name) ?? []
  return level === undefined ? [] : [{ type: CACHE_TYPES[kind!] ?? 'Unified', level: Number(level), size: bytes, num_sharing: Math.max(1, Math.floor(logicalCpus / instances)) }]
}

/** A row for each sample, as if it were a repetition, and the aggregates over them; a result that is not ok says why instead. */
function rowsOf(result: Result): object[] {
  const { samplesNs, summary } = result
  const name = caseName(result.case)
  const common = { run_name: name, repetitions: Math.max(1, samplesNs.length || (summary?.count ?? 1)), threads: result.case.threads ?? 1 }
  const timed = (ns: number) => ({ real_time: ns, cpu_time: ns, time_unit: 'ns', ...(result.bytes > 0 && ns > 0 ? { bytes_per_second: (result.bytes / ns) * 1e9 } : {}) })
  if (result.status !== 'ok' || !summary) {
    return [{ name, ...common, run_type: 'iteration', repetition_index: 0, iterations: 0, error_occurred: true, error_message: `${result.status}: ${result.message ?? ''}`, real_time: 0, cpu_time: 0, time_unit: 'ns' }]
  }
  const samples = samplesNs.map((ns, i) => ({ name, ...common, run_type: 'iteration', repetition_index: i, iterations: result.inner ?? 1, ...timed(ns) }))
  const aggregates = ([['mean', summary.meanNs], ['median', summary.medianNs], ['stddev', summary.stddevNs]] as const).flatMap(([kind, ns]) =>
    ns === undefined ? [] : [{ name: `${name}_${kind}`, ...common, run_type: 'aggregate', aggregate_name: kind, aggregate_unit: 'time', iterations: common.repetitions, real_time: ns, cpu_time: ns, time_unit: 'ns' }],
  )
  return [...samples, ...aggregates]
}

/** One line per row, like the native files, so that files can be compared line by line. */
function exportGoogleBenchmark({ session, environment, results }: SessionFile): string {
  const context = {
    date: session.createdAt, host_name: environment.host, executable: OUR_EXECUTABLE, num_cpus: environment.logicalCpus, cpu_scaling_enabled: false,
    caches: (environment.caches ?? []).flatMap((cache) => cacheOf(cache, environment.logicalCpus)), load_avg: [], library_build_type: 'release',
  }
  const rows = results.flatMap(rowsOf).map((row) => JSON.stringify(row))
  return `{\n"context": ${JSON.stringify(context)},\n"benchmarks": [\n${rows.join(',\n')}\n]\n}\n`
}

/** Read by Google Benchmark's own tools (tools/compare.py) and by services that track benchmarks. */
const format: FileFormat = {
  id: 'google-benchmark', title: 'Google Benchmark', description: 'JSON of Google Benchmark: every sample as a repetition, for its tools and services that track benchmarks', extension: 'json',
  exportSession: exportGoogleBenchmark, importSession: importGoogleBenchmark,
}
export default format
