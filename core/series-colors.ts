import { findBackend, type Hue } from './backends'

/**
 * One colour per implementation, the same in every chart, table chip and report. Based on the Okabe-Ito set
 * (M. Okabe, K. Ito, "Color Universal Design", 2008), darkened for the light theme and lightened for the dark one so
 * that a 2 px line keeps a contrast of at least 3:1 against the chart's surface.
 */
export type Theme = 'light' | 'dark'

const HUES = {
  green: { light: '#00825f', dark: '#1fb88d' },
  blue: { light: '#0062ad', dark: '#4293df' },
  purple: { light: '#b0558a', dark: '#d88bb6' },
  orange: { light: '#b87400', dark: '#e8a52e' },
  sky: { light: '#2592ad', dark: '#8ad4f5' },
  vermilion: { light: '#b53000', dark: '#e8502c' },
  olive: { light: '#8a7f00', dark: '#e3d657' },
  indigo: { light: '#5b57b5', dark: '#9d9af0' },
  brown: { light: '#7d5a3c', dark: '#c39b78' },
  rose: { light: '#c2185b', dark: '#ff86b3' },
  teal: { light: '#00798a', dark: '#3fd0dc' },
  grey: { light: '#5f6672', dark: '#a3abb8' },
} as const satisfies Record<Hue, Record<Theme, string>>

/** What an implementation that its backend's descriptor does not name may have. */
const FREE: readonly Hue[] = ['rose', 'teal', 'sky', 'grey', 'olive', 'brown']

/** The key of a case's series colour. */
export const seriesKey = (c: { backend: string; impl: string }): string => `${c.backend}/${c.impl}`

/** CSS colour of a series key such as `cpu/avx2`. An unknown key always gets the same one of the remaining hues. */
export function seriesColor(key: string, theme: Theme): string {
  const [backend = '', impl = ''] = key.split('/')
  const known = findBackend(backend)?.hues[impl]
  if (known) return HUES[known][theme]
  let hash = 0
  for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) >>> 0
  return HUES[FREE[hash % FREE.length]!][theme]
}
