import { choiceTitle } from '@core/roofline/ceilings'
import { formatBandwidth } from '@core/units'
import type { ChartPoint } from '../data/points'
import type { Roof } from '../data/roofs'
import type { ChartTheme } from '../drawing/theme/theme'

/**
 * From which level of memory a result's data must have come at least: the slowest one whose measured bandwidth its minimum traffic does not
 * exceed. `memory`: bandwidth beyond the caches, in bytes/s. Undefined where no cache of its device was measured.
 */
export function levelOf(point: ChartPoint, memory: number, caches: readonly Roof[]): string | undefined {
  const own = caches.filter(({ device }) => device === point.case.device).sort((a, b) => a.value - b.value)
  if (!own.length || !(point.bytes > 0)) return undefined
  const bandwidth = (point.bytes / point.medianNs) * 1e9
  if (bandwidth <= memory) return 'within what memory delivers'
  const level = own.find(({ value }) => bandwidth <= value)
  return level ? `${level.kind} or closer: above what memory delivers` : `closer than ${own.at(-1)!.kind}`
}

/** The slope of a cache's bandwidth up to the highest peak of its device, thin and dotted, with its name on it. */
export function cacheLine(cache: Roof, peak: number, x: { min: number; max: number }, theme: ChartTheme) {
  const ridge = peak / cache.value
  const choice = cache.choice ? choiceTitle(cache.choice) : ''
  // Two ticks in, clear of the name of the memory's slope.
  const named = x.min * 4
  return {
    type: 'line' as const,
    id: `cache|${cache.device}|${choice}|${cache.kind}`,
    name: [cache.deviceName, choice, cache.kind].filter(Boolean).join(' '),
    data: [[x.min, cache.value * x.min], [Math.min(x.max, ridge), cache.value * Math.min(x.max, ridge)]],
    silent: true,
    symbol: 'none',
    tooltip: { show: false },
    lineStyle: { color: theme.muted, width: 1, type: 'dotted' as const },
    z: 1,
    clip: true,
    markPoint: {
      silent: true, symbol: 'circle', symbolSize: 1, itemStyle: { color: 'transparent' },
      data: [{ coord: [named, cache.value * named], label: { show: true, formatter: [cache.kind, formatBandwidth(cache.value), choice && `(${choice})`].filter(Boolean).join(' '), position: 'top' as const, align: 'right' as const, color: theme.muted, fontSize: 11, textBorderColor: theme.surface, textBorderWidth: 3 } }],
    },
  }
}
