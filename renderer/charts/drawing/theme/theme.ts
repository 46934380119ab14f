import { computed, type ComputedRef } from 'vue'
import { placeColor, seriesColor, seriesKey } from '@core/backends'
import { machineOf } from '@core/fleet/machines'
import { useSettings } from '../../../stores/settings'

/** The tokens of styles/tokens.css that charts draw with; a canvas cannot read CSS variables. */
const PALETTES = {
  light: { text: '#191c22', muted: '#555d6b', grid: '#dcdfe5', surface: '#ffffff', accent: '#2f55d4', good: '#0b6e54', danger: '#921410', warning: '#965a00' },
  dark: { text: '#e7e9ed', muted: '#9ca4b1', grid: '#2b3038', surface: '#16191d', accent: '#86a2ff', good: '#4fc9a4', danger: '#ff8177', warning: '#f2b450' },
} as const

/** Chart colours of a theme; series colours come from the one list that tables use too. */
export const chartTheme = (mode: 'light' | 'dark'): ChartTheme => ({
  ...PALETTES[mode],
  fontText: "'Inter Variable', system-ui, sans-serif",
  fontMono: "'JetBrains Mono Variable', ui-monospace, monospace",
  dark: mode === 'dark',
  colorOf: (backend, impl) => seriesColor(seriesKey({ backend, impl }), mode),
})

/** Chart colours of the theme in force. */
export function useChartTheme(): ComputedRef<ChartTheme> {
  const settings = useSettings()
  return computed(() => chartTheme(settings.theme))
}

/** What the colours of a chart stand for. */
export const COLOUR_BY = ['implementation', 'device', 'host'] as const
export type ColourBy = (typeof COLOUR_BY)[number]

/** The theme with a colour for each of these devices, or for each of their machines. Devices that are not among them keep the colour of their implementation. */
export function colouredBy(theme: ChartTheme, by: ColourBy, devices: readonly string[]): ChartTheme {
  if (by === 'implementation') return theme
  const nameOf = (device: string) => (by === 'host' ? machineOf({ device }) : device)
  const places = [...new Set(devices.map(nameOf))]
  return {
    ...theme,
    colorOf: (backend, impl, device) => {
      const at = device === undefined ? -1 : places.indexOf(nameOf(device))
      return at < 0 ? theme.colorOf(backend, impl) : placeColor(at, theme.dark ? 'dark' : 'light')
    },
  }
}

/** What charts of these devices may be coloured by, the usual choice first: implementations of one device look alike on another, so several of a backend are told apart. */
export function colourChoices(cases: Iterable<{ backend: string; device: string }>): ColourBy[] {
  const devices = new Map<string, Set<string>>()
  for (const { backend, device } of cases) devices.set(backend, (devices.get(backend) ?? new Set()).add(device))
  const all = [...devices.values()].flatMap((of) => [...of])
  if (all.length === devices.size) return ['implementation']
  return ['device', ...(new Set(all.map((device) => machineOf({ device }))).size > 1 ? ['host' as const] : []), 'implementation']
}

/** From little to much: cividis, which reads the same with every common colour vision (J. R. Nuñez et al., PLoS ONE 13(7), 2018). */
export const SEQUENTIAL: readonly string[] = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838']

/** From below over nothing to above: orange and blue, which stay apart without red-green vision, around the surface. */
export const diverging = (theme: ChartTheme): readonly string[] =>
  theme.dark ? ['#ffb366', '#c4702a', '#6b4526', '#2b3038', '#29527a', '#3f86c6', '#8cc6ff'] : ['#8c3b00', '#d97b29', '#f4c892', '#f0f0f0', '#a9cbe8', '#3d88c4', '#0a4a86']

const channels = (hex: string) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16))

/** The colour at a share (0 to 1) of a palette, linear between its steps. */
export function colorAt(palette: readonly string[], share: number): string {
  const at = Math.min(1, Math.max(0, share)) * (palette.length - 1)
  const below = Math.min(palette.length - 2, Math.floor(at))
  const [from, to] = [channels(palette[below]!), channels(palette[below + 1]!)]
  return `#${from.map((value, i) => Math.round(value + (to[i]! - value) * (at - below)).toString(16).padStart(2, '0')).join('')}`
}

/** Black or white, whichever has more contrast on a colour (relative luminance of WCAG 2). */
export function inkOn(hex: string): string {
  const [r, g, b] = channels(hex).map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4))
  const luminance = 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? '#000000' : '#ffffff'
}

/** Colours and type of the current theme, read from the page's design tokens. */
export interface ChartTheme {
  text: string
  muted: string
  grid: string
  surface: string
  accent: string
  /** Faster; slower or trouble; unclear. */
  good: string
  danger: string
  warning: string
  fontText: string
  fontMono: string
  dark: boolean
  /** Colour of a backend and implementation: the same in every chart, table chip and report; of their device where the chart is coloured by it. */
  colorOf(backend: string, impl: string, device?: string): string
}
