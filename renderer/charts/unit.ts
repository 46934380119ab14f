import type { EChartsCoreOption } from 'echarts/core'
import type { CommandId } from '@core/commands'
import type { Result } from '@core/result'
import type { KnownCeiling } from '@core/roofline/ceilings'
import type { ChartPoint } from './data/points'
import type { Roof } from './data/roofs'
import type { Facet } from './data/series'
import type { ChartTheme } from './drawing/theme/theme'

/** One session as charts draw it. */
export interface Layer {
  id: string
  name: string
  /** Measured, right results that the focus leaves, in the order measured. */
  points: readonly ChartPoint[]
  /** Measured limits of its devices, and published ones. */
  roofs: readonly Roof[]
  datasheets: readonly Roof[]
}

/** All that a chart is drawn from. */
export interface ChartContext extends Layer {
  /** The points of this session whatever the focus: baselines are looked for among them. */
  all: readonly ChartPoint[]
  /** Sessions the user has laid over this one; empty for charts that take none. */
  others: readonly Layer[]
  ceilings: readonly KnownCeiling[]
  /** Whether its devices are those of another machine, whose ceilings cannot be measured from here. */
  elsewhere: boolean
  selected: ReadonlySet<string>
  theme: ChartTheme
  /** Place for the plot in px. */
  size: { width: number; height: number }
  /** Choice of each control by its id; always one that the control offers. */
  values: Readonly<Record<string, string>>
  /** Full results of those that `samples` asked for, as far as they have been read. */
  results: readonly Result[]
  /** Results that are still being read. */
  reading: boolean
}

/** What of a session is known before a chart is narrowed. */
export type WorthContext = Pick<ChartContext, 'all' | 'ceilings' | 'roofs'>

/** A choice above the plot. */
export interface Control {
  id: string
  /** What it chooses, for those who do not see it: `Baseline`. */
  label: string
  options: readonly { value: string; title: string }[]
  /** Absent: the first option. */
  preferred?: string
}

/** Brushed parts of parallel axes, by axis id. */
export type Intervals = ReadonlyMap<string, readonly (readonly [number, number])[]>

export interface Picture {
  /** Undefined: nothing to draw, `empty` says what is missing. */
  option: EChartsCoreOption | undefined
  empty: string
  /** Height in px that the plot needs where that is more than there is; it scrolls. */
  height?: number
  /** Px from one row of plots to the next, where the picture scrolls by whole rows. */
  rowHeight?: number
  /** A remark beside the controls, more of it on hover, and the command that does something about it. */
  note?: { text: string; about?: string; action?: { title: string; command: CommandId } }
  /** Results that brushed intervals select, by axis id; all must hold. For charts that brush. */
  brushed?(intervals: Intervals): string[]
  /** Everything that the chart is about as CSV, thinned points included. */
  csv(): string
}

/**
 * A chart of a session. Each is a folder with a `chart.ts` whose default export is this; the folder is all it takes.
 * Items whose value ends in the id of a result are linked with the table by hover and click.
 */
export interface ChartUnit {
  id: string
  /** Its tab. */
  title: string
  /** What it answers, in a sentence. */
  about: string
  /** Place among the tabs, ascending. */
  order: number
  /** How it is narrowed where the user has not; absent: it shows everything the user has not taken out. */
  narrowing?: Narrowing
  /** Its tab stands only where one of the points has a place on it; for what few sessions have. */
  rare?: boolean
  /** Those of the points that have a place on it; absent: all. */
  takes?(points: readonly ChartPoint[], picked: Readonly<Record<string, string>>): readonly ChartPoint[]
  /** Those of the points that would show something under the user's choices; what it opens with is chosen among them. Absent: all. */
  worth?(context: WorthContext, picked: Readonly<Record<string, string>>): readonly ChartPoint[]
  /** Takes other sessions laid over this one. */
  layers?: boolean
  /** Drag brushes axes and so selects, instead of zooming. */
  brushes?: boolean
  /** What can be chosen; `picked` are the user's choices so far by control, for controls that depend on others. */
  controls?(context: Omit<ChartContext, 'values'>, picked: Readonly<Record<string, string>>): Control[]
  /** Ids of the results whose samples it draws, of `points` or of any other row of the session. */
  samples?(context: Pick<ChartContext, 'points' | 'selected'>): string[]
  draw(context: ChartContext): Picture
}

const modules = import.meta.glob<{ default: ChartUnit }>('./*/chart.ts', { eager: true })

/** Every chart under renderer/charts, in the order of the tabs. */
export const CHARTS: readonly ChartUnit[] = Object.values(modules)
  .map((module) => module.default)
  .sort((a, b) => a.order - b.order || a.id.localeCompare(b.id))

/** How a chart with too much on it is narrowed. */
export interface Narrowing {
  /** More series than this are narrowed, facet by facet, until the chart can be read. */
  readable: number
  /** What is given up first. */
  facets: readonly Facet[]
  /** Without a selected result the most frequent value of a facet stays, instead of the first. */
  frequent?: boolean
  /** Facets of which the fastest implementation's value stays, where several measured the same. */
  fastest?: readonly Facet[]
}
