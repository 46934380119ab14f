import { INTERLEAVE } from '@core/compare'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import { SAMPLES_PER_MINIMUM } from '@core/measure/sampling/warm-up'
import type { Device } from '@core/backend'
import type { BenchmarkCase, Mode } from '@core/case'
import type { Result } from '@core/result'
import { median } from '@core/stats/descriptive'
import { listed, loadFigure, type Bench, type Figure, type Outcome } from './bench'
import { caseOn, openBed, type Bed } from './proof/bed'
import { robustLine } from './proof/regression'
import { openSpinRate } from './proof/spin-rate'

/** 2 us to 10 ms in equal steps of the logarithm. */
const RUNGS = 12
const LENGTHS_NS = Array.from({ length: RUNGS }, (_, i) => 2000 * 5000 ** (i / (RUNGS - 1)))
/** An error up to the larger of these is none: half a percent, 0.1 us. */
const ALLOWED = { share: 0.005, ns: 100 }
const TWIN_FROM_NS = 50_000
/** Length and number of the calls that tell the rate of a spin: longer where a call costs more to start and to wait for. */
const LONG: Readonly<Record<string, { ns: number; calls: number }>> = { cpu: { ns: 4e6, calls: 5 }, cuda: { ns: 5e7, calls: 5 }, webgpu: { ns: 1e7, calls: 5 } }
const longOf = (device: Device) => LONG[device.backend]!
/** Turns of rate and rung on a processor: the speed of a shared host changes within seconds, hardly within such a turn. */
const TURNS = 21
/** A turn is calm when the rates before and after it agree this well. The rung is made of calm turns, unless there are too few among twice as many. */
const CALM = 0.005
const MIN_CALM = 5
/**
 * A block of a rung: a few samples as long as the calls that tell the rate. What
 * interrupts takes some 1 % of these and of those on a virtual machine; the median of much shorter samples would know nothing of it.
 */
const BLOCK: MeasureSettings = { ...INTERLEAVE.settings, rule: { id: 'fixed-count', count: 5 }, minSeconds: (LONG['cpu']!.ns * SAMPLES_PER_MINIMUM) / 1e9, maxSeconds: 5, maxWarmupSeconds: 0.02 }

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
  rungs: (Rung & { param: number; grade: string | undefined; samples: number; inner: number | undefined; clockMhz: number | undefined; /** Turns made and calm ones, and measured over expected of each that counts. */ turns?: number; calmTurns?: number; ratios?: string })[]
}

/** `spin_ns` waits on the device's own clock: the parameter of a rung is its true length. */
async function clockLadder(bed: Bed, device: Device, mode: Mode, settings: MeasureSettings): Promise<Ladder | undefined> {
  const ladder: Ladder = { device: device.id, op: 'spin_ns', mode, rungs: [] }
  for (const ns of LENGTHS_NS.map(Math.round)) {
    const c = caseOn(device, 'spin_ns', { ns }, mode, { threads: device.threads[0] })
    if (!c) return undefined
    const { summary, grade, inner, clocksMhz } = await bed.measure(c, settings)
    ladder.rungs.push({ param: ns, expectedNs: ns, medianNs: summary!.medianNs, grade, samples: summary!.count!, inner, clockMhz: median(clocksMhz ?? []) })
  }
  return ladder
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

/**
 * One rung of a spin. The rate is taken just before and just after, from calls as long as the rung where that is long, so
 * that what the system takes of long calls is in both. On a processor this is done by turns, with a short block of the rung
 * by our loop in each: the rung is the median over the turns of measured over expected, times what is expected of the
 * median rate. So each block is held against the speed of its own moment, and turns in which that speed changed, by the
 * clock outside alone, are left out.
 */
async function spinRung(bed: Bed, device: Device, c: BenchmarkCase, iterations: number, longIterations: number, settings: MeasureSettings): Promise<{ rung: Ladder['rungs'][number]; rates: number[] }> {
  const turns = device.backend === 'cpu' ? TURNS : 1
  const length = device.backend === 'cpu' ? Math.max(iterations, longIterations) : longIterations
  const rate = await openSpinRate(bed, device, length, settings)
  const now = () => rate.now(longOf(device).calls)
  try {
    const rates = [await now()]
    const all: { result: Result; around: number; calm: boolean }[] = []
    while (all.length < 2 * turns && all.filter(({ calm }) => calm).length < turns) {
      const result = await bed.measure(c, settings, turns > 1)
      const [before, after] = [rates.at(-1)!, await now()]
      rates.push(after)
      all.push({ result, around: (before + after) / 2, calm: turns === 1 || Math.abs(after / before - 1) <= CALM })
    }
    const calm = all.filter((turn) => turn.calm)
    const blocks = calm.length >= Math.min(turns, MIN_CALM) ? calm : all
    const ratios = blocks.map(({ result, around }) => result.summary!.medianNs / (iterations * around))
    const expectedNs = iterations * median(blocks.map(({ around }) => around))!
    const { grade, inner, clocksMhz } = blocks[0]!.result
    const samples = blocks.reduce((sum, { result }) => sum + result.summary!.count!, 0)
    return { rates, rung: { param: iterations, expectedNs, medianNs: median(ratios)! * expectedNs, grade, samples, inner, clockMhz: median(clocksMhz ?? []), ...(turns > 1 ? { turns: all.length, calmTurns: calm.length, ratios: listed(ratios) } : {}) } }
  } finally {
    await rate.close()
  }
}

async function spinLadders(bed: Bed, device: Device, settings: MeasureSettings, say: (text: string) => void): Promise<{ ladders: Ladder[]; figures: Figure[] }> {
  const first = await openSpinRate(bed, device, 5_000_000, settings)
  const guesses: number[] = []
  for (let i = 0; i < 5; i++) guesses.push(await first.now(longOf(device).calls))
  const guess = median(guesses)!
  await first.close()
  const longIterations = Math.round(longOf(device).ns / guess)
  const ladders: Ladder[] = []
  const rates: number[] = []
  for (const mode of modesOf(device)) {
    say(`${device.id}: spin ${mode}`)
    const ladder: Ladder = { device: device.id, op: 'spin', mode, rungs: [] }
    for (const iterations of LENGTHS_NS.map((ns) => Math.round(ns / guess))) {
      const c = caseOn(device, 'spin', { iterations }, mode, { threads: device.threads[0] })
      if (!c) continue
      const found = await spinRung(bed, device, c, iterations, longIterations, device.backend === 'cpu' ? BLOCK : settings)
      ladder.rungs.push(found.rung)
      rates.push(...found.rates)
    }
    if (ladder.rungs.length > 0) ladders.push(ladder)
  }
  return {
    ladders,
    figures: [
      { name: `${device.id} spin: one iteration, from ${rates.length} runs of at least ${longIterations} iterations outside the measuring loop`, value: median(rates)!, unit: 'ns' },
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
 * after each rung, on a processor each of many short blocks of it, timed with process.hrtime outside the loop
 * (proof/spin-rate.ts). The line is fitted by least absolute deviations with weights 1/t (proof/regression.ts).
 * devices=cpu | cuda:0 | cuda:0,webgpu:0; seconds=0.1 is the least measured time of a rung measured at once.
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const settings = settingsOf(args)
  const bed = await openBed(args)
  try {
    const ladders: Ladder[] = []
    const figures: Figure[] = []
    for (const device of bed.devices) {
      for (const mode of modesOf(device)) {
        say(`${device.id}: spin_ns ${mode}`)
        const ladder = await clockLadder(bed, device, mode, settings)
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
