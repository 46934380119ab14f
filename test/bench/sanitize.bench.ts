import { existsSync, readFileSync } from 'node:fs'
import { problemOf, type Backend, type Device, type Impl } from '@core/backend'
import { paramText, type Dtype, type Params } from '@core/case'
import { tensorsOf } from '@core/ops/define'
import { ALL_OPS, getOp } from '@core/ops/registry'
import { makeCase, SEED } from '../conformance/faults'
import { conformanceParams } from '../conformance/sizes'
import type { Bench, Outcome } from './bench'
import { inShare, readCases } from './fuzz/list'
import { beginMark, endMark, readLog } from './sanitizer/log'
import { implOf, sidesOf } from './sides'

/**
 * Runs every kernel once on small tensors, for compute-sanitizer (scripts/gpu/kernels.sh sanitize starts it):
 *   devices=cuda:0     whose kernels
 *   log=FILE           where the output of the tool goes; cases that ended there in an earlier run are left out
 *   seconds=N          begins no case after so long
 *   ops=add,sum        only these
 *   cases=FILE         the cases of a list (test/bench/fuzz) instead of the sizes of the conformance tests
 *   share=K/N          only every N-th operation and dtype from number K: one of N processes
 *   part=read          judges the log instead, or several (log=FILE,FILE), without a device
 * One process for many cases: the tool takes a minute to load the kernels. Of each operation and dtype the smallest case of every set of
 * kernels runs, unverified: kernels.bench.ts verifies. The marks of sanitizer/log.ts say which case a report belongs to.
 */
const sanitize: Bench = async ({ args, say }) => {
  const log = args['log']
  if (log === undefined) throw new Error('sanitize: name the log of the tool with log=FILE')
  if (args['part'] === 'read') return judged(log.split(',').map((file) => readFileSync(file, 'utf8')).join('\n'), say)
  const done = new Set(existsSync(log) ? readLog(readFileSync(log, 'utf8')).cases.filter((one) => one.done).map(({ name }) => name) : [])
  const [side] = await sidesOf(args, { devices: 'cuda:0' })
  const { backend, device } = side!
  const impl = implOf(side!)
  const until = performance.now() + Number(args['seconds'] ?? Infinity) * 1000
  let [ran, left] = [0, 0]
  for (const { op, dtype, sizes } of groups(args, impl).filter(inShare(args['share']))) {
    const seen = new Set<string>()
    for (const params of sizes) {
      const name = `${op} ${dtype} ${paramText(params)}`
      if (performance.now() > until) left++
      else if (!done.has(name) && (await once(backend, device, impl, { op, dtype, params, name, seen }))) ran++
    }
  }
  return { figures: [{ name: 'cases run', value: ran, unit: '' }, { name: 'sizes not reached in time', value: left, unit: '', aim: 0, better: 'less' }], devices: [device] }
}
export default sanitize

/** One operation in one dtype, with its sizes, the smallest first. */
interface Group {
  op: string
  dtype: Dtype
  sizes: Params[]
}

/** What there is to run: the sizes of the conformance tests, or those of a list. */
function groups(args: Readonly<Record<string, string>>, impl: Impl): Group[] {
  const only = args['ops']?.split(',')
  const listed = args['cases'] === undefined ? undefined : readCases(args['cases'])
  return ALL_OPS.filter((op) => (only?.includes(op.id) ?? true) && op.family !== 'probe').flatMap((op) =>
    (impl.kernels[op.id] ?? []).map((dtype) => {
      const elements = (params: Params) => tensorsOf(op, params, dtype).reduce((sum, tensor) => sum + tensor.elements, 0)
      const sizes = listed?.filter((one) => one.op === op.id && one.dtype === dtype).map(({ params }) => params) ?? conformanceParams(op, 'few')
      return { op: op.id, dtype, sizes: sizes.toSorted((a, b) => elements(a) - elements(b)) }
    }),
  )
}

/** Runs one case between its marks; not where its kernels have run on a smaller one. Whether it ran. */
async function once(backend: Backend, device: Device, impl: Impl, { op, dtype, params, name, seen }: { op: string; dtype: Dtype; params: Params; name: string; seen: Set<string> }): Promise<boolean> {
  console.log(beginMark(name))
  const from = performance.now()
  let failure: string | undefined
  try {
    const prepared = await backend.open(problemOf(getOp(op), makeCase(device, impl, getOp(op), params, dtype, device.threads.at(-1)), SEED))
    try {
      const kernels = (prepared.launches?.() ?? []).map(({ kernel }) => kernel).join(' ')
      if (seen.has(kernels)) {
        console.log(endMark(Math.round(performance.now() - from)))
        return false
      }
      seen.add(kernels)
      await prepared.poison()
      await prepared.run()
      await prepared.scan()
    } finally {
      await prepared.dispose()
    }
  } catch (thrown) {
    failure = thrown instanceof Error ? thrown.message : String(thrown)
  }
  console.log(endMark(Math.round(performance.now() - from), failure))
  return true
}

function judged(text: string, say: (text: string) => void): Outcome {
  const { cases, outside } = readLog(text)
  const reported = cases.filter(({ errors }) => errors > 0)
  const failed = cases.filter(({ failure }) => failure !== undefined)
  const open = cases.filter(({ done }) => !done)
  for (const { name, errors, first } of reported) say(`${name}: ${errors} reports, first: ${first ?? ''}`)
  for (const { name, failure } of failed) say(`${name}: ${failure ?? ''}`)
  for (const { name } of open) say(`${name}: not finished`)
  for (const report of new Set(outside)) say(`outside of cases: ${report}`)
  return {
    figures: [
      { name: 'cases finished', value: cases.length - open.length, unit: '', published: true },
      { name: 'cases with reports of the tool', value: reported.length, unit: '', aim: 0, better: 'less' },
      { name: 'cases that could not run', value: failed.length, unit: '', aim: 0, better: 'less' },
      { name: 'cases not finished', value: open.length, unit: '' },
      { name: 'reports outside of cases', value: outside.length, unit: '', aim: 0, better: 'less' },
    ],
    rows: cases.map((one) => ({ ...one })),
  }
}
