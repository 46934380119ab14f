import type { KnownCeiling } from '@core/roofline/ceilings'
import { datasheetValue } from '@core/roofline/datasheet'
import type { Roof } from './types'

/** The ceilings that are roofs: copy bandwidth and peak rates. Launches, caches and single copies are none. */
export const measuredRoofs = (ceilings: readonly KnownCeiling[]): Roof[] =>
  ceilings.flatMap(({ device, deviceName, kind, value, unit, stale }) => (unit !== 's' && (kind === 'copy' || kind.startsWith('flops:')) ? [{ device, deviceName, kind, value, unit, ...(stale === undefined ? {} : { stale }) }] : []))

/** The published figure for each roof whose device is known. */
export const datasheetRoofs = (roofs: readonly Roof[]): Roof[] =>
  roofs.flatMap(({ device, deviceName, kind, unit }) => {
    const value = datasheetValue(deviceName, kind)
    return value === undefined ? [] : [{ device, deviceName, kind, value, unit }]
  })

/** Roofs of one kind whose labels would overlap: a line each, and one label at the highest. */
export interface RoofGroup {
  /** From high to low. */
  values: number[]
  /** `AMD EPYC copy 21.0 GB/s`, or several of these. */
  label: string
}

/** Groups roofs from high to low; neighbours within a factor `near` of the group's highest share its label. */
export function roofGroups(roofs: readonly Roof[], near: number, format: (value: number) => string): RoofGroup[] {
  const groups: Roof[][] = []
  for (const roof of [...roofs].sort((a, b) => b.value - a.value)) {
    const last = groups.at(-1)
    if (last && last[0]!.value / roof.value <= near) last.push(roof)
    else groups.push([roof])
  }
  return groups.map((group) => ({
    values: group.map((roof) => roof.value),
    label: group.map((roof) => `${roof.deviceName} ${roof.kind === 'copy' ? 'copy' : `${roof.kind.slice(6)} peak`} ${format(roof.value)}${roof.stale ? ' (other driver)' : ''}`).join(', '),
  }))
}
