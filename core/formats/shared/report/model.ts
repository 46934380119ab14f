import { advise, detailsOf, type Finding } from '../../../analysis/advice'
import { environmentGroups, environmentWarnings, type FactGroup } from '../../../session/environment-facts'
import { blockOf, rowAt } from '../../../session/rows'
import type { SessionFile } from '../../../session/types'
import type { ExportContext } from '../../types'
import { ceilingsTable } from './ceilings-table'
import { resultsTable } from './results-table'
import { runsTable } from './runs-table'
import type { ReportTable } from './table'

/** What a report says, before it is HTML or Markdown. */
export interface Report {
  title: string
  /** `84 of 84 cases, 2 not ok · 2026-01-02 03:04:05 UTC · done`. */
  summary: string
  /** Computer, processor and devices in one line. */
  machine: string
  tags: readonly string[]
  notes: string
  findings: readonly Finding[]
  results: ReportTable
  /** Cases with three right runs or more; without rows where there are none. */
  runs: ReportTable
  ceilings: ReportTable
  warnings: readonly string[]
  environment: readonly FactGroup[]
}

/** Puts a session into words and tables. `context.ceilings` are those of its devices (core/formats/registry.ts sees to that). */
export function reportOf({ session, environment, results }: SessionFile, context: ExportContext): Report {
  const bad = results.filter((r) => r.status !== 'ok').length
  const missing = environment.devices.flatMap((device) => (device.available.ok ? [] : [[device.id, device.available.reason] as const]))
  // A GPU that two backends reach is named once; two GPUs of one model stay two.
  const devices = environment.devices.filter((device, i, all) => device.available.ok && device.name !== environment.cpu && !all.slice(0, i).some((other) => other.available.ok && other.name === device.name && other.backend !== device.backend)).map((device) => device.name + (device.software ? ' (software)' : ''))
  const block = blockOf(results, 0)
  return {
    title: session.name || 'Untitled session',
    summary: `${results.length} of ${session.planned} cases, ${bad === 0 ? 'all right' : `${bad} not ok`} · ${session.createdAt.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')} · ${session.state}`,
    machine: [environment.host, environment.cpu, ...devices, environment.os].filter(Boolean).join(' · '),
    tags: session.tags,
    notes: session.notes,
    findings: advise({ rows: results.map((_, i) => rowAt(block, i)), ceilings: context.ceilings, details: new Map(results.map((r) => [r.id, detailsOf(r)])), environment }),
    results: resultsTable(results, context),
    runs: runsTable(results),
    ceilings: ceilingsTable(context.ceilings),
    warnings: environmentWarnings(environment),
    environment: [...environmentGroups(environment), ...(missing.length ? [{ title: 'Not available', facts: missing }] : [])],
  }
}
