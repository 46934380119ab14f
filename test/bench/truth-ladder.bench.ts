import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import type { Device } from '@core/backend'
import type { Mode } from '@core/case'
import { median } from '@core/stats/quantile'
import { loadFigure, type Bench, type Figure, type Outcome } from './bench'
import { caseOn, openBed, type Bed } from './proof/bed'
import { robustLine } from './proof/regression'

/** 2 us to 10 ms in equal steps of the logarithm. */
const RUNGS = 12
const LENGTHS_NS = Array.from({ length: RUNGS }, (_, i) => 2000 * 5000 ** (i / (RUNGS - 1)))
/** An error up to the larger of these is none: half a percent, 0.1 us. */
const ALLOWED = { share: 0.005, ns: 100 }
const TWIN_FROM_NS = 50_000
/** Length and number of the calls that tell the rate of a spin: longer where a call costs more to start and to wait for, on a CPU short enough that most pass between two ticks of the system. */
const LONG: Readonly<Record<string, { ns: number; calls: number }>> = { cpu: { ns: 1e6, calls: 101 }, cuda: { ns: 5e7, calls: 5 }, webgpu: { ns: 1e7, calls: 5 } }
/** Calls of each length, at least, where they are longer than that. */
const LEAST_CALLS = 5
const longOf = (device: Device) => LONG[device.backend]!

const settingsOf = (args: Readonly<Record<string, string>>): MeasureSettings => ({ ...PRESETS.standard, relativeCi: 0.002, minSeconds: Number(args['seconds'] ?? 0.1), maxSeconds: 3 })

/** Rotating buffers changes nothing about a kernel that reads eight numbers. */
const modesOf = (device: Device) => device.modes.filter((mode) => mode !== 'rotated')

interface Rung {
  expectedNs: number
  medianNs: number
}

interface Ladder {
  device: string
  op: string
  mode: Mode
  rungs: (Rung & { param: number; grade: string | undefined; samples: number; inner: number | undefined; clockMhz: number | undefined })[]
}

/** Parameter of a rung, and its true length given the rate found beside it. */
interface Step {
  param: number
  expectedNs(rate: number): number
}

/** `rateNow` tells the rate just before and just after each rung, from calls as long as its own where they are long: a clock that wanders is followed, and what the system takes of long calls is in both. */
async function climb(bed: Bed, device: Device, op: 'spin' | 'spin_ns', mode: Mode, settings: MeasureSettings, steps: readonly Step[], rateNow: (iterations: number) => Promise<number>): Promise<Ladder | undefined> {
  const ladder: Ladder = { device: device.id, op, mode, rungs: [] }
  for (const { param, expectedNs } of steps) {
    const c = caseOn(device, op, op === 'spin' ? { iterations: param } : { ns: param }, mode, { threads: device.threads[0] })
    if (!c) return undefined
    const before = await rateNow(param)
    const { summary, grade, inner, clocksMhz } = await bed.measure(c, settings)
    const after = await rateNow(param)
    ladder.rungs.push({ param, expectedNs: expectedNs((before + after) / 2), medianNs: summary!.medianNs, grade, samples: summary!.count!, inner, clockMhz: median(clocksMhz ?? []) })
  }
  return ladder
}

/**
 * Nanoseconds per iteration of a spin, from calls of this many iterations and of half as many, by turns, and nothing of
 * our sampling: each call is timed by process.hrtime around it, and what both have in common falls out. Medians, as of
 * the rungs.
 */
async function longRunNs(bed: Bed, device: Device, iterations: number, settings: MeasureSettings, longer = 1): Promise<number> {
  const c = caseOn(device, 'spin', { iterations }, 'hot', { threads: device.threads[0] })!
  if (device.backend === 'webgpu') {
    // A page has no finer clock than the device's own; what is independent here is the length, a thousand times the shortest rung.
    const { summary } = await bed.measure(c, { ...settings, rule: { id: 'fixed-count', count: longOf(device).calls }, maxWarmupSeconds: 0.05 })
    return summary!.medianNs / iterations
  }
  const half = Math.round(iterations / 2)
  const halfCase = caseOn(device, 'spin', { iterations: half }, 'hot', { threads: device.threads[0] })!
  const calls = [await bed.open(c, settings.seed), await bed.open(halfCase, settings.seed)] as const
  const times: [number[], number[]] = [[], []]
  try {
    for (const prepared of calls) await prepared.run()
    for (let i = 0; i < Math.max(LEAST_CALLS, longOf(device).calls / longer); i++) {
      for (const [which, prepared] of calls.entries()) {
        const from = process.hrtime.bigint()
        await prepared.run()
        times[which]!.push(Number(process.hrtime.bigint() - from))
      }
    }
    return (median(times[0])! - median(times[1])!) / (iterations - half)
  } finally {
    for (const prepared of calls) await prepared.dispose()
  }
}

/** How far a rung is from the truth once the constant cost is taken off, over what is allowed: 1 is the limit. */
const errorShare = ({ expectedNs, medianNs }: Rung, interceptNs: number) => Math.abs(medianNs - interceptNs - expectedNs) / Math.max(ALLOWED.share * expectedNs, ALLOWED.ns)

function judge({ device, op, mode, rungs }: Ladder, proof: boolean): Figure[] {
  const line = robustLine(rungs.map(({ expectedNs, medianNs }) => ({ x: expectedNs, y: medianNs })))!
  const errors = rungs.map((rung) => errorShare(rung, line.intercept))
  const name = `${device} ${op} ${mode}`
  const aim = (value: number) => (proof ? { aim: value, better: 'less' as const } : {})
  return [
    { name: `${name}: slope of measured over true time`, value: line.slope, unit: '' },
    { name: `${name}: distance of the slope from 1`, value: Math.abs(line.slope - 1), unit: '', ...aim(0.002) },
    { name: `${name}: intercept (constant cost of a call)`, value: line.intercept, unit: 'ns', published: true },
    { name: `${name}: median error after the intercept, 1 = max(0.5 %, 0.1 us)`, value: median(errors)!, unit: 'x', ...aim(1) },
    { name: `${name}: largest error after the intercept, 1 = max(0.5 %, 0.1 us)`, value: Math.max(...errors), unit: 'x' },
  ]
}

async function spinLadders(bed: Bed, device: Device, settings: MeasureSettings, say: (text: string) => void): Promise<{ ladders: Ladder[]; figures: Figure[] }> {
  const guess = await longRunNs(bed, device, 1_000_000, settings)
  const longIterations = Math.round(longOf(device).ns / guess)
  const ladders: Ladder[] = []
  const rates: number[] = []
  const rateNow = async (iterations: number) => {
    const longer = device.backend === 'cpu' ? Math.max(1, iterations / longIterations) : 1
    const rate = await longRunNs(bed, device, Math.round(longIterations * longer), settings, longer)
    rates.push(rate)
    return rate
  }
  const steps = LENGTHS_NS.map((ns) => Math.round(ns / guess)).map((param): Step => ({ param, expectedNs: (rate) => param * rate }))
  for (const mode of modesOf(device)) {
    say(`${device.id}: spin ${mode}`)
    const ladder = await climb(bed, device, 'spin', mode, settings, steps, rateNow)
    if (ladder) ladders.push(ladder)
  }
  return {
    ladders,
    figures: [
      { name: `${device.id} spin: one iteration, from ${rates.length} long runs of ${longIterations} iterations outside the measuring loop`, value: median(rates)!, unit: 'ns' },
      { name: `${device.id} spin: spread of those runs (largest over smallest - 1)`, value: (Math.max(...rates) / Math.min(...rates) - 1) * 100, unit: '%' },
    ],
  }
}

/** WebGPU against CUDA on the same card: the same chain of multiply-adds, rung by rung from 50 us up. */
function twins(ladders: readonly Ladder[]): Figure[] {
  const of = (backend: string) => ladders.find(({ device, op, mode }) => device.startsWith(backend) && op === 'spin' && mode === 'hot')
  const [cuda, webgpu] = [of('cuda'), of('webgpu')]
  if (!cuda || !webgpu) return []
  const perIteration = ({ rungs }: Ladder) => robustLine(rungs.map(({ param, medianNs }) => ({ x: param, y: medianNs })))!
  const [ours, theirs] = [perIteration(webgpu), perIteration(cuda)]
  const gaps = webgpu.rungs.filter((rung) => rung.medianNs >= TWIN_FROM_NS).map(({ param, medianNs }) => medianNs / (theirs.intercept + theirs.slope * param) - 1)
  return [
    { name: 'webgpu over cuda, time per iteration of the spin, distance from 1', value: Math.abs(ours.slope / theirs.slope - 1) * 100, unit: '%', aim: 2, better: 'less' },
    { name: 'webgpu over cuda, same spin from 50 us up, largest distance from 1', value: Math.max(...gaps.map(Math.abs)) * 100, unit: '%', aim: 2, better: 'less' },
    { name: 'webgpu minus cuda, constant cost of a call', value: ours.intercept - theirs.intercept, unit: 'ns', published: true },
  ]
}

/**
 * Kernels of known duration, 2 us to 10 ms, measured as any case is. `spin_ns` waits for the device's own clock (steady
 * clock, globaltimer); `spin` is a chain of multiply-adds whose time per iteration comes from long calls of it before and
 * after each rung, timed with process.hrtime outside the loop. The line is fitted by least absolute deviations with weights 1/t (proof/regression.ts).
 * devices=cpu | cuda:0 | cuda:0,webgpu:0; seconds=0.1 is the least measured time of a rung.
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const settings = settingsOf(args)
  const bed = await openBed(args)
  try {
    const ladders: Ladder[] = []
    const figures: Figure[] = []
    for (const device of bed.devices) {
      const steps = LENGTHS_NS.map((ns) => Math.round(ns)).map((param): Step => ({ param, expectedNs: () => param }))
      for (const mode of modesOf(device)) {
        say(`${device.id}: spin_ns ${mode}`)
        const ladder = await climb(bed, device, 'spin_ns', mode, settings, steps, () => Promise.resolve(1))
        if (ladder) ladders.push(ladder)
      }
      const spin = await spinLadders(bed, device, settings, say)
      ladders.push(...spin.ladders)
      figures.push(...spin.figures)
    }
    figures.unshift(...ladders.flatMap((ladder) => judge(ladder, ladder.mode === 'hot' || ladder.mode === 'graph' || ladder.device.startsWith('cuda'))))
    return { figures: [...figures, ...twins(ladders), loadFigure()], rows: ladders.flatMap(({ device, op, mode, rungs }) => rungs.map((rung) => ({ device, op, mode, ...rung }))), devices: bed.devices }
  } finally {
    bed.close()
  }
}
export default bench
