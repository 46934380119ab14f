import { ratioGrade, roundsRatio, verdictOf } from '@core/compare'
import { measuredOf } from '@core/compare/measured'
import { ratioOf, sideOf, type RatioEstimate } from '@core/compare/ratio/ratio'
import { paramText, type BenchmarkCase } from '@core/case'
import { presetSettings } from '@core/measure/settings'
import { roundPasses } from '@core/measure/result/rounds'
import type { Result } from '@core/result'
import { blockOf, rowAt } from '@core/session/rows'
import { planSweep } from '@core/sweep/plan'
import type { SweepSpec } from '@core/session/sweep-spec'
import { Outlook } from '../../main/runner/sources/pace'
import { grouped, Rounds } from '../../main/runner/sources/rounds'
import { loadFigure, type Bench } from './bench'
import { openBed, type Bed } from './proof/bed'

/** A quick sweep such as the SIMD suite makes: streams, arithmetic, reductions, rows and products, within the caches and beyond. */
const spec = (impls: readonly string[], vector = '1000, 10000, 100000, 1000000'): SweepSpec => ({
  ops: ['add', 'mul', 'exp', 'gelu', 'relu', 'sum', 'argmax', 'softmax', 'layer_norm', 'matmul'].map((op) => ({ op })),
  sizes: { vector, matrix: '32x256, 128x1024, 1024x1024', tokens: '32x256, 128x1024, 1024x1024', gemm: '32x32x32, 128x128x128, 256x256x256' },
  dtypes: ['f32'], modes: ['hot'], preset: 'quick',
  targets: [{ backend: 'cpu', device: 'cpu', impls: [...impls], threads: [1] }],
})

/** Sizes of cases and themselves: short calls, in which small effects show. */
const SHORT_CALLS = '200, 1000, 1500, 3000, 10000, 100000'

interface Row {
  [key: string]: string | number | undefined
  case: string
  impl: string
  ratio: number
  low?: number | undefined
  high?: number | undefined
  grade: string
  alone: number
  aloneLow?: number | undefined
  aloneHigh?: number | undefined
  aloneGrade: string
  rounds: number
  seconds: number
  aloneSeconds: number
}

/**
 * Speedups on this machine as it is: every case in interleaved rounds and, right after, by itself as before; and the last implementation
 * twice in the same rounds, a case and itself. `seconds=600` ends it sooner; what was measured is judged. `pairs=120`: before that, so many
 * seconds of cases and themselves alone, of every level and size.
 */
const bench: Bench = async ({ args, say }) => {
  const bed = await openBed(args)
  const seconds = Number(args['seconds'] ?? 600)
  const impls = bed.devices[0]!.impls.filter(({ id, available }) => available.ok && ['scalar', 'sse2', 'avx2', 'avx512'].includes(id)).map(({ id }) => id)
  const settings = presetSettings('quick', {}, { rounds: true })
  const { cases } = planSweep(spec(impls), bed.devices)
  const wall = { rounds: 0, alone: 0 }
  const rows: Row[] = []
  const own: Row[] = []
  const times: Result[] = []
  const before: Result[] = []
  const groups = grouped(cases.map((c) => ({ case: c, seconds: 1 })), settings).flatMap((step) => ('cases' in step ? [step.cases] : []))
  const pairs: Row[] = []
  const until = performance.now() + Number(args['pairs'] ?? 0) * 1000
  const alike = inParts(planSweep(spec(impls, SHORT_CALLS), bed.devices).cases.map((c) => [{ case: c, seconds: 1 }]))
  for (let i = 0; performance.now() < until; i++) {
    const some = alike[i % alike.length]!
    for (const [one, twin] of await inRounds(bed, some, settings)) pairs.push(rowOf(twin!, one!, one!, one!))
    say(`${pairs.length} pairs of a case with itself alone, ${falseOf(pairs).length} false verdicts`)
  }
  const begun = performance.now()
  for (const some of inParts(groups)) {
    if (performance.now() - begun > seconds * 1000) break
    const joined = await inRounds(bed, some, settings)
    for (const [i, group] of some.entries()) {
      const results = joined[i]!
      const [base] = results as [Result]
      const twin = results.at(-1)!
      for (const result of results.slice(0, -1)) wall.rounds += result.wallMs
      times.push(...results.slice(0, -1))
      const alone: Result[] = []
      for (const { case: c } of group) alone.push(await bed.measure(c, settings))
      for (const result of alone) wall.alone += result.wallMs
      before.push(...alone)
      for (const [k, result] of results.slice(1, -1).entries()) rows.push(rowOf(result, base, alone[k + 1]!, alone[0]!))
      own.push(rowOf(twin, results.at(-2)!, alone.at(-1)!, alone.at(-1)!))
    }
    say(`${rows.length} speedups, ${share(rows, narrow).toFixed(0)} % within ±2 % and graded A or B (by itself ${share(rows, aloneNarrow).toFixed(0)} %), ${own.length} pairs of a case with itself, ${(wall.rounds / wall.alone).toFixed(2)}x the time`)
  }
  bed.close()
  const graded = (all: readonly Result[], grades: string) => (all.filter(({ grade }) => grade !== undefined && grades.includes(grade)).length / all.length) * 100
  const twins = [...pairs, ...own]
  return {
    devices: bed.devices,
    figures: [
      { name: `speedups in interleaved rounds whose 95 % CI is within ±2 % and that are graded A or B, of ${rows.length}`, value: share(rows, narrow), unit: '%', aim: 80, better: 'more' },
      { name: 'the same of speedups from times measured one by one', value: share(rows, aloneNarrow), unit: '%', published: true },
      { name: `false verdicts in ${twins.length} pairs of a case with itself in the same rounds, threshold 1 %`, value: (falseOf(twins).length / twins.length) * 100, unit: '%', aim: 1, better: 'less' },
      { name: 'wall time in rounds over one by one', value: wall.rounds / wall.alone, unit: 'x', aim: 1.5, better: 'less' },
      { name: `times graded A or B, in rounds (of ${times.length})`, value: graded(times, 'AB'), unit: '%', published: true },
      { name: 'times graded A or B, one by one', value: graded(before, 'AB'), unit: '%', published: true },
      loadFigure(),
    ],
    rows: [...rows, ...twins.map((row) => ({ ...row, impl: `${row.impl} twice` }))],
  }
}
export default bench

/** Eight at a time, from all over the sweep, so that one that is cut off is a sample of it. */
function inParts<T>(all: readonly T[]): T[][] {
  const spread = all.map((one, i) => ({ one, at: (i * 0.618) % 1 })).sort((a, b) => a.at - b.at).map(({ one }) => one)
  return Array.from({ length: Math.ceil(spread.length / 8) }, (_, i) => spread.slice(8 * i, 8 * i + 8))
}

const falseOf = (twins: readonly Row[]) => twins.filter(({ low, high }) => low !== undefined && high !== undefined && ['faster', 'slower'].includes(verdictOf({ low, high }, 0.01)))

const within = (ratio: number, low: number | undefined, high: number | undefined) => low !== undefined && high !== undefined && Math.max(high / ratio, ratio / low) <= 1.02
const narrow = ({ ratio, low, high, grade }: Row) => grade !== 'C' && within(ratio, low, high)
const aloneNarrow = ({ alone, aloneLow, aloneHigh, aloneGrade }: Row) => aloneGrade !== 'C' && within(alone, aloneLow, aloneHigh)
const share = (rows: readonly Row[], is: (row: Row) => boolean) => (rows.length === 0 ? 0 : (rows.filter(is).length / rows.length) * 100)

/** The groups in rounds as a sweep measures them, the last case of each twice. Results by group, in the order of its cases. */
async function inRounds(bed: Bed, groups: readonly (readonly { case: BenchmarkCase; seconds: number }[])[], settings: ReturnType<typeof presetSettings>): Promise<Result[][]> {
  const rounds = new Rounds(settings, new Outlook(), {})
  const steps = (function* () {
    for (const group of groups) yield* rounds.add({ cases: [...group, group.at(-1)!] })
    yield* rounds.finish()
  })()
  const found = new Map<string, Result[]>()
  let step = steps.next()
  while (!step.done) {
    const turn = step.value
    if ('result' in turn) {
      const key = keyOf(turn.result.case)
      found.set(key, [...(found.get(key) ?? []), turn.result])
      step = steps.next([turn.result])
    } else step = steps.next(turn.rounds ? await bed.pass(turn.case, turn.settings, turn.rounds) : [await bed.measure(turn.case, turn.settings)])
  }
  return groups.map((group) => found.get(keyOf(group[0]!.case)) ?? [])
}

const keyOf = (c: BenchmarkCase) => `${c.op} ${paramText(c.params)}`

function rowOf(side: Result, base: Result, alone: Result, aloneBase: Result): Row {
  const paired: RatioEstimate = roundsRatio(roundPasses(side), roundPasses(base)) ?? { ratio: NaN }
  const one: RatioEstimate = alone === aloneBase ? { ratio: 1 } : ratioOf(sideFrom(alone, 1), sideFrom(aloneBase, 2))
  return {
    case: keyOf(side.case), impl: side.case.impl, seconds: side.wallMs / 1000, aloneSeconds: alone.wallMs / 1000, rounds: side.rounds?.numbers.length ?? 0,
    ratio: paired.ratio, low: paired.interval?.low, high: paired.interval?.high, grade: ratioGrade(paired).grade,
    alone: one.ratio, aloneLow: one.interval?.low, aloneHigh: one.interval?.high, aloneGrade: ratioGrade(one, [alone.grade, aloneBase.grade]).grade,
  }
}

function sideFrom(result: Result, seed: number) {
  const row = rowAt(blockOf([result], 0), 0)
  return sideOf(measuredOf({ case: result.case, rows: [row] }, () => result)!.runs.map(({ ns }) => ns), seed)!
}
