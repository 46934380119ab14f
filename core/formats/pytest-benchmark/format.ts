import type { SessionFile } from '../../session/types'
import { caseName } from '../shared/per-case'
import { writeJson } from '../shared/write-json'
import type { FileFormat } from '../types'
import { importBenchmarks } from './read'
import { pytestStats } from './stats'

/** Version of the tool whose files these are laid out like. */
const LAYOUT = '3.2.2'

/**
 * One benchmark per right result that has samples: a group per operation, names that tell cases apart, the samples that
 * count as `data`, and in extra_info the case in full. `pytest-benchmark compare` reads it.
 */
function exportBenchmarks({ session, environment, results }: SessionFile): string {
  const lines = results.flatMap((result) => {
    const stats = result.status === 'ok' ? pytestStats(result) : undefined
    if (!stats) return []
    const { case: c, run } = result
    const name = run === undefined ? caseName(c) : `${caseName(c)}/run=${run}`
    return writeJson({ group: c.op, name, fullname: `opscope::${name}`, params: c.params, param: null, extra_info: { opscope: { case: c } }, options: { disable_gc: false, timer: result.timer ?? 'unknown', warmup: true }, stats })
  })
  const cpu = { brand: environment.cpu, brand_raw: environment.cpu, count: environment.logicalCpus }
  const machine = { node: environment.host, processor: '', machine: '', python_version: '', python_implementation: '', system: environment.os, release: environment.kernel, cpu }
  const commit = { id: 'unversioned', time: null, author_time: null, dirty: false, project: 'opscope', branch: '(unknown)' }
  return `{\n"machine_info":${writeJson(machine)},\n"commit_info":${writeJson(commit)},\n"benchmarks":[${lines.length ? `\n${lines.join(',\n')}\n` : ''}],\n"datetime":${JSON.stringify(session.createdAt)},\n"version":"${LAYOUT}"\n}\n`
}

/**
 * Files of --benchmark-json, --benchmark-save and --benchmark-autosave. Times are seconds per call. With `data` the
 * statistics are made from the samples as for any session; without, they are those stated, whose quartiles are the
 * tool's own (medians of the halves). Parameters of a test are parameters of the case; one named dtype is its dtype.
 */
const format: FileFormat = {
  id: 'pytest-benchmark', title: 'pytest-benchmark', extension: 'json',
  description: 'JSON of the pytest plugin: right results with their samples, for pytest-benchmark compare',
  exportSession: exportBenchmarks, importSession: importBenchmarks,
}
export default format
