import { LABEL_TITLES, labelledMask } from '@core/measure/labels'
import type { Result, SampleLabel } from '@core/result'
import { axisStyle } from '../axes'
import type { ChartTheme } from '../types'

/** What a result knows of the conditions of its samples. */
export type Conditions = Pick<Result, 'labels' | 'clocksMhz' | 'probesNs'>

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
  /** The reading beside each sample, of the one kind that its backend has. */
  reading?: { name: string; unit: string; points: Point[] }
}

/** Sorts samples by their labels, and gives the clock or the probe beside them as a line. Missing readings (0) are left out. */
export function conditionMarks(samplesNs: readonly number[], { labels = [], clocksMhz, probesNs }: Conditions): ConditionMarks {
  const kinds = kindsOf(labels, samplesNs.length)
  const pointsOf = (kind: SampleLabel['kind'] | undefined) => samplesNs.flatMap((ns, i): Point[] => (kinds[i] === kind ? [[i, ns]] : []))
  const labelled = KINDS.map((kind) => ({ kind, name: LABEL_TITLES[kind], symbol: SYMBOLS[kind], points: pointsOf(kind) })).filter(({ points }) => points.length > 0)
  const readings = (values: readonly number[]) => values.flatMap((value, i): Point[] => (value > 0 ? [[i, value]] : []))
  const reading = clocksMhz?.length ? { name: 'SM clock', unit: 'MHz', points: readings(clocksMhz) } : probesNs?.length ? { name: 'fixed work', unit: 'ns', points: readings(probesNs) } : undefined
  return { clean: pointsOf(undefined), labelled, ...(reading && reading.points.length > 0 ? { reading } : {}) }
}

/** The axis of the reading, at the right of the plot, from 0 so that a fall is seen as large as it is. */
export function readingAxis({ reading }: ConditionMarks, theme: ChartTheme) {
  const style = axisStyle(theme)
  return {
    ...style, gridIndex: 1, type: 'value' as const, show: reading !== undefined, position: 'right' as const, min: 0, name: '', splitLine: { show: false }, splitNumber: 3,
    axisLabel: { ...style.axisLabel, formatter: (value: number) => (value === 0 ? '' : `${Number(value.toPrecision(4))} ${reading?.unit ?? ''}`) },
  }
}

const LINE_ICON = 'path://M0 4 L14 4 L14 5 L0 5 Z'

/** Legend above the samples in order; only where there is something to tell apart. */
export function conditionLegend({ labelled, reading }: ConditionMarks, theme: ChartTheme) {
  const names = [...labelled.map(({ name, symbol }) => ({ name, icon: symbol })), ...(reading ? [{ name: reading.name, icon: LINE_ICON }] : [])]
  if (names.length === 0) return { show: false }
  return { show: true, data: [{ name: 'Sample', icon: 'circle' }, ...names], top: 4, left: '54%', right: 8, itemWidth: 14, itemHeight: 8, itemGap: 12, textStyle: { color: theme.text, fontSize: 11 }, selectedMode: false }
}
