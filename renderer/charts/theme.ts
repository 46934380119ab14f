import { seriesColor, seriesKey } from '@core/backends'
import type { ChartTheme } from './types'

/** The tokens of styles/tokens.css that charts draw with; a canvas cannot read CSS variables. */
const PALETTES = {
  light: { text: '#191c22', muted: '#555d6b', grid: '#dcdfe5', surface: '#ffffff', accent: '#2f55d4' },
  dark: { text: '#e7e9ed', muted: '#9ca4b1', grid: '#2b3038', surface: '#16191d', accent: '#86a2ff' },
} as const

/** Chart colours of a theme; series colours come from the one list that tables use too. */
export const chartTheme = (mode: 'light' | 'dark'): ChartTheme => ({
  ...PALETTES[mode],
  fontText: "'Inter Variable', system-ui, sans-serif",
  fontMono: "'JetBrains Mono Variable', ui-monospace, monospace",
  dark: mode === 'dark',
  colorOf: (backend, impl) => seriesColor(seriesKey({ backend, impl }), mode),
})
