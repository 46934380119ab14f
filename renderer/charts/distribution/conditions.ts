import { LABEL_TITLES, labelledMask } from '@core/measure/result/labels'
import type { Result, SampleLabel } from '@core/result'
import { formatTime, localNumber } from '@core/units'
import { axisStyle } from '../drawing/option/axes'
import type { ChartTheme } from '../drawing/theme/theme'

/** What a result knows of the conditions of its samples. */
export type Conditions = Pick<Result, 'labels' | 'clocksMhz' | 'probesNs' | 'deviceStates'>

/** Something that was read beside the samples. */
export interface Reading {
  id: 'clock' | 'probe' | 'temperature' | 'power'
  name: string
  unit: string
  points: Point[]
  /** How a value holds between two readings: around a sample, or until the next reading. */
  step: 'middle' | 'end'
}

type Point = [index: number, value: number]

/** Told apart by shape, not by colour alone: the samples themselves have the colour of their backend. */
const SYMBOLS: Readonly<Record<SampleLabel['kind'], string>> = { throttled: 'triangle', 'slow-clock': 'diamond', 'host-slowed': 'rect', disturbed: 'pin' }
const KINDS = Object.keys(SYMBOLS) as SampleLabel['kind'][]

/** Label of each sample by index; of several the most telling one. */
function kindsOf(labels: readonly SampleLabel[], count: number): (SampleLabel['kind'] | undefined)[] {
  const kinds = new Array<SampleLabel['kind'] | undefined>(count).fill(undefined)
  for (const kind of [...KINDS].reverse()) labelledMask(labels, count, kind).forEach((one, i) => one && (kinds[i] = kind))
  return kinds
}

export interface ConditionMarks {
  /** Samples that carry no label. */
  clean: Point[]
  labelled: { kind: SampleLabel['kind']; name: string; symbol: string; points: Point[] }[]
  reading?: Reading
}

/** Every kind of reading there is beside `count` samples, the most telling first. Missing ones (0) are left out. */
export function readingsOf({ clocksMhz = [], probesNs = [], deviceStates = [] }: Conditions, count: number): Reading[] {
  const beside = (values: readonly number[]) => values.flatMap((value, i): Point[] => (value > 0 ? [[i, value]] : []))
  const states = (of: (state: (typeof deviceStates)[number]['state']) => number | undefined) => {
    const points = deviceStates.flatMap(({ firstSample, state }): Point[] => {
      const value = of(state)
      return value === undefined ? [] : [[firstSample, value]]
    })
    const last = points.at(-1)
    return last && last[0] < count - 1 ? [...points, [count - 1, last[1]] as Point] : points
  }
  const clocks = beside(clocksMhz)
  const all: Reading[] = [
    { id: 'clock', name: 'SM clock', unit: 'MHz', ...(clocks.length ? { points: clocks, step: 'middle' } : { points: states((state) => state.smClockMhz), step: 'end' }) },
    { id: 'probe', name: 'CPU speed probe', unit: 'ns', points: beside(probesNs), step: 'middle' },
    { id: 'temperature', name: 'temperature', unit: '°C', points: states((state) => state.temperatureC), step: 'end' },
    { id: 'power', name: 'power', unit: 'W', points: states((state) => state.powerW), step: 'end' },
  ]
  return all.filter(({ points }) => points.length > 0)
}

/** Sorts samples by their labels, and gives the reading of this kind beside them as a line; absent: the clock or the probe. */
export function conditionMarks(samplesNs: readonly number[], conditions: Conditions, wanted?: string): ConditionMarks {
  const { labels = [] } = conditions
  const kinds = kindsOf(labels, samplesNs.length)
  const pointsOf = (kind: SampleLabel['kind'] | undefined) => samplesNs.flatMap((ns, i): Point[] => (kinds[i] === kind ? [[i, ns]] : []))
  const labelled = KINDS.map((kind) => ({ kind, name: LABEL_TITLES[kind], symbol: SYMBOLS[kind], points: pointsOf(kind) })).filter(({ points }) => points.length > 0)
  const readings = readingsOf(conditions, samplesNs.length)
  const beside = conditions.clocksMhz?.length || conditions.probesNs?.length ? readings.find(({ step }) => step === 'middle') : undefined
  const reading = wanted === undefined ? beside : readings.find(({ id }) => id === wanted)
  return { clean: pointsOf(undefined), labelled, ...(reading ? { reading } : {}) }
}

/** The axis of the reading, at the right of the plot, from 0 so that a fall is seen as large as it is. */
export function readingAxis({ reading }: ConditionMarks, theme: ChartTheme) {
  const style = axisStyle(theme)
  return {
    ...style, gridIndex: 1, type: 'value' as const, show: reading !== undefined, position: 'right' as const, min: 0, name: '', splitLine: { show: false }, splitNumber: 3,
    axisLabel: { ...style.axisLabel, formatter: (value: number) => (value === 0 ? '' : reading?.unit === 'ns' ? formatTime(value) : `${localNumber(String(Number(value.toPrecision(4))))} ${reading?.unit ?? ''}`) },
  }
}

const LINE_ICON = 'path://M0 4 L14 4 L14 5 L0 5 Z'

/** Legend above the samples in order; only where there is something to tell apart. */
export function conditionLegend({ labelled, reading }: ConditionMarks, theme: ChartTheme) {
  const names = [...labelled.map(({ name, symbol }) => ({ name, icon: symbol })), ...(reading ? [{ name: reading.name, icon: LINE_ICON }] : [])]
  if (names.length === 0) return { show: false }
  return { show: true, data: [{ name: 'Sample', icon: 'circle' }, ...names], top: 4, left: '54%', right: 8, itemWidth: 14, itemHeight: 8, itemGap: 12, textStyle: { color: theme.text, fontSize: 11 }, selectedMode: false }
}
