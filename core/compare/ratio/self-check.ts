import type { Device } from '../../backend'
import type { BenchmarkCase, Mode } from '../../case'
import { OPS, REPRESENTATIVES } from '../../ops/registry'
import type { Family } from '../../ops/types'
import type { NoiseFloor } from '../../session/types'
import { quantile } from '../../stats/descriptive'
import { planSweep } from '../../sweep/plan'
import type { SizeTexts } from '../../session/sweep-spec'
import { interleavedRatio, type Block, type Pair } from './interleave'
import { verdictOf } from './verdict'

/**
 * Pairs for each device where the user does not say, and quads of each pair: always as many, so that how long a check
 * takes does not depend on how much noise it finds.
 */
export const SELF_CHECK = { pairs: 24, quads: 8 } as const

/** A block lasts its time, and half as long again goes by with warm-up, checks and the way there and back. */
const BLOCK_SECONDS = 0.15

/** About how long a self-check of so many devices takes, in seconds: some two minutes for each. */
export const selfCheckSeconds = (devices: number, pairs: number = SELF_CHECK.pairs): number => devices * pairs * SELF_CHECK.quads * 4 * BLOCK_SECONDS

/**
 * Work of a self-check: of each family the first operation that the device has, in the order asked for. Different kinds
 * come first, so that a few pairs are varied too.
 */
const WORK: readonly { family: Family; size: string; mode: Mode }[] = [
  { family: 'binary', size: '2^20', mode: 'hot' },
  { family: 'softmax', size: '512x1024', mode: 'cold' },
  { family: 'matmul', size: '256x256x256', mode: 'hot' },
  { family: 'reduction', size: '1024x1024', mode: 'hot' },
  { family: 'memory', size: '2^12', mode: 'hot' },
  { family: 'activation', size: '2^18', mode: 'cold' },
  { family: 'normalization', size: '256x512', mode: 'hot' },
  { family: 'matmul', size: '64x64x64', mode: 'cold' },
  { family: 'memory', size: '2^22', mode: 'cold' },
  { family: 'softmax', size: '64x256', mode: 'hot' },
  { family: 'unary', size: '2^16', mode: 'hot' },
  { family: 'reduction', size: '64x1024', mode: 'cold' },
]

/** Elements beyond this, and products beyond 128x128x128, take an emulated device too long. */
const SOFTWARE_WORK: Readonly<Record<string, string>> = { '2^20': '2^16', '2^22': '2^18', '2^18': '2^15', '512x1024': '64x512', '1024x1024': '128x512', '256x256x256': '64x64x64', '64x64x64': '32x32x32' }

/**
 * `pairs` pairs for each available device, a case and itself: streaming, reduction, softmax and matmul, small and
 * medium, hot and cold, in f32 with the preferred implementation and all threads. Where there are fewer cases than
 * pairs, cases come again. A device that offers none of them has no pair.
 */
export function selfCheckPairs(devices: readonly Device[], pairs: number): Pair[] {
  return devices.flatMap((device, place) => {
    const cases = device.available.ok ? casesOf(device) : []
    if (cases.length === 0) return []
    return Array.from({ length: pairs }, (_, i): Pair => ({ id: `self-${place}-${i}`, a: cases[i % cases.length]!, b: cases[i % cases.length]! }))
  })
}

function casesOf(device: Device): BenchmarkCase[] {
  const usable = device.impls.filter((impl) => impl.available.ok)
  return WORK.flatMap(({ family, size, mode }) => {
    const op = [...REPRESENTATIVES, ...OPS].find((candidate) => candidate.family === family && usable.some((impl) => impl.kernels[candidate.id]?.includes('f32')))
    const fitting = op ? usable.filter((impl) => impl.kernels[op.id]?.includes('f32')) : []
    const impl = fitting.find((candidate) => candidate.preferred) ?? fitting[0]
    const offered = device.modes.includes(mode) ? mode : device.modes[0]
    if (!op || !impl || offered === undefined) return []
    const sizes: SizeTexts = { [op.size.id]: (device.software ? SOFTWARE_WORK[size] : undefined) ?? size }
    // The planner knows what fits a device.
    return planSweep({ ops: [{ op: op.id }], sizes, dtypes: ['f32'], modes: [offered], preset: 'quick', targets: [{ backend: device.backend, device: device.id, impls: [impl.id] }] }, [device]).cases
  })
}

/**
 * What the pairs of this device that were measured say about its noise; undefined when none has a complete quad.
 * A false verdict is a faster or slower with the usual threshold, before any correction for the number of pairs.
 */
export function noiseFloorOf(device: Device, pairs: readonly Pair[], blocksByPair: ReadonlyMap<string, readonly Block[]>, about: { measuredAt: string; sessionId: string }): NoiseFloor | undefined {
  const ratios = pairs.flatMap(({ id, a }) => {
    const ratio = a.backend === device.backend && a.device === device.id ? interleavedRatio(blocksByPair.get(id) ?? []) : undefined
    return ratio ? [ratio] : []
  })
  const away = ratios.map(({ ratio }) => Math.abs(ratio - 1))
  const [ratioP50, ratioP95] = [quantile(away, 0.5), quantile(away, 0.95)]
  if (ratioP50 === undefined || ratioP95 === undefined) return undefined
  const verdicts = ratios.map(({ interval }) => verdictOf(interval))
  return {
    backend: device.backend, device: device.id, deviceName: device.name, ...(device.driver === undefined ? {} : { driver: device.driver }),
    ...about, pairs: ratios.length, falseVerdicts: verdicts.filter((verdict) => verdict === 'faster' || verdict === 'slower').length, ratioP50, ratioP95,
  }
}
