import type { BenchmarkCase } from '@core/case'

/** What charts need of one measured result. Times in ns per call. */
export interface ChartPoint {
  id: string
  case: BenchmarkCase
  medianNs: number
  /** 95 % CI of the median, where there were samples enough. */
  ciLowNs?: number
  ciHighNs?: number
  /** Median absolute deviation of the samples. */
  madNs?: number
  bytes: number
  flops: number
  samples: number
  grade?: string
}

/** A roof of the roofline, measured or from a datasheet. `value` in bytes/s or FLOP/s. */
export interface Roof {
  device: string
  deviceName: string
  kind: string
  value: number
  unit: 'bytes/s' | 'FLOP/s'
  /** Why the figure may not be today's. */
  stale?: string
}

/** Colours and type of the current theme, read from the page's design tokens. */
export interface ChartTheme {
  text: string
  muted: string
  grid: string
  surface: string
  accent: string
  fontText: string
  fontMono: string
  dark: boolean
  /** Colour of a backend and implementation: the same in every chart, table chip and report. */
  colorOf(backend: string, impl: string): string
}
