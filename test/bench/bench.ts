import os from 'node:os'
import type { Device } from '@core/backend'

/** One number a bench found. `aim` is what the project wants it to be, `better` which side of it. */
export interface Figure {
  name: string
  value: number
  unit: string
  aim?: number
  better?: 'less' | 'more'
  /** Stands in the tables of docs/measuring.md although it has no aim. */
  published?: boolean
}

/** What scripts/bench.mjs gives a bench. */
export interface BenchContext {
  /** `count=1000` on the command line arrives as `{ count: '1000' }`. */
  args: Readonly<Record<string, string>>
  /** Prints a line of progress. */
  say(text: string): void
}

/** What stands at the head of a result: when, from which commit, with which arguments, for how long and where it was measured. */
export interface BenchRecord {
  date: string
  commit?: string
  args: Readonly<{ [name: string]: string }>
  seconds: number
  machine: unknown
}

/** Figures with what they were made from: one row per measured point, and the devices, which join the record of the machine. */
export interface Outcome {
  figures: Figure[]
  /** Of an earlier result, whose points are judged again: when and where they were measured. */
  record?: BenchRecord
  rows?: readonly Readonly<Record<string, string | number | boolean | undefined>>[]
  devices?: readonly Device[]
}

export type Bench = (context: BenchContext) => Promise<Figure[] | Outcome>

/** Middle of `repeats` wall times of `work`, in ms. */
export function timeMs(work: () => void, repeats = 7): number {
  const times = Array.from({ length: repeats }, () => {
    const from = performance.now()
    work()
    return performance.now() - from
  })
  return times.sort((a, b) => a - b)[repeats >> 1]!
}

/** Numbers as one field of a row, JSON with six digits each: enough to look into later. */
export const listed = (values: readonly number[]): string => JSON.stringify(values.map((value) => Number(value.toPrecision(6))))

/** How busy the machine was: figures taken while others compute are worse than they need be. */
export const loadFigure = (): Figure => ({ name: `load average of the last minute (${os.availableParallelism()} processors)`, value: os.loadavg()[0] ?? 0, unit: '' })
