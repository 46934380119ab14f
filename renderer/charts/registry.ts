import type { ChartUnit } from './unit'

const modules = import.meta.glob<{ default: ChartUnit }>('./*/chart.ts', { eager: true })

/** Every chart under renderer/charts, in the order of the tabs. */
export const CHARTS: readonly ChartUnit[] = Object.values(modules)
  .map((module) => module.default)
  .sort((a, b) => a.order - b.order || a.id.localeCompare(b.id))
