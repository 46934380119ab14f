import type { BenchmarkCase } from '../../case'
import { sessionAnswer, type SessionAnswer } from '../../analysis/answer/answer'
import { advise, detailsOf, type Finding } from '../../analysis/advice'
import { caseRuns, type Run } from '../../analysis/case-runs'
import { caseId } from '../../case'
import { perJoule } from '../../measure/energy/windows'
import { statusWord, type Energy, type Result } from '../../result'
import { ceilingKind, ceilingTitle, ceilingValue, compareKinds, intervalOf, unusableText, type KnownCeiling } from '../../roofline/ceilings'
import { datasheetValue } from '../../roofline/datasheet'
import { roofline, roofsOf, uncertainText } from '../../roofline/roofline'
import { environmentGroups, type FactGroup } from '../../session/environment'
import { blockOf, rowAt } from '../../session/rows'
import type { SessionFile } from '../../session/types'
import { ABSENT, chooseBandwidthUnit, chooseBytesPerJouleUnit, chooseEnergyUnit, chooseFlopsPerJouleUnit, chooseFlopsUnit, chooseTimeUnit, formatIn, formatInterval, formatPercent } from '../../units'
import type { ExportContext } from '../file-format'
import { shapeText, threadText, variantText } from '../../case-words'

/** What a report says, before it is HTML or Markdown. */
export interface Report {
  title: string
  /** `84 of 84 cases, 2 not ok · 2026-01-02 03:04:05 UTC · done`. */
  summary: string
  /** Computer, processor and devices in one line. */
  machine: string
  tags: readonly string[]
  notes: string
  answer: SessionAnswer
  findings: readonly Finding[]
  results: ReportTable
  /** Cases with three right runs or more; without rows where there are none. */
  runs: ReportTable
  ceilings: ReportTable
  environment: readonly FactGroup[]
}

/** Puts a session into words and tables. `context.ceilings` are those of its devices (core/formats/registry.ts sees to that). */
export function reportOf({ session, environment, results }: SessionFile, context: ExportContext): Report {
  const bad = results.filter((r) => r.status !== 'ok').length
  const missing = environment.devices.flatMap((device) => (device.available.ok ? [] : [[device.id, device.available.reason] as const]))
  // A GPU that two backends reach is named once; two GPUs of one model stay two.
  const devices = environment.devices.filter((device, i, all) => device.available.ok && device.name !== environment.cpu && !all.slice(0, i).some((other) => other.available.ok && other.name === device.name && other.backend !== device.backend)).map((device) => device.name + (device.software ? ' (software)' : ''))
  const block = blockOf(results, 0)
  const rows = results.map((_, i) => rowAt(block, i))
  return {
    title: session.name || 'Untitled session',
    summary: `${results.length} of ${session.planned} cases, ${bad === 0 ? 'all passed' : `${bad} without a valid result`} · ${session.createdAt.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')} · ${session.state}`,
    machine: [environment.host, environment.cpu, ...devices, environment.os].filter(Boolean).join(' · '),
    tags: session.tags,
    notes: session.notes,
    // Of interleaved blocks the comparison of their pairs is the answer, not the medians of single blocks.
    answer: sessionAnswer(session.about?.kind === 'interleaved' ? [] : rows.flatMap((row) => (row.status === 'ok' && row.medianNs !== undefined ? [{ ...row, medianNs: row.medianNs }] : [])), environment),
    findings: advise({ rows, ceilings: context.ceilings, details: new Map(results.map((r) => [r.id, detailsOf(r, r.samplesNs.length)])), environment }),
    results: resultsTable(results, context),
    runs: runsTable(results),
    ceilings: ceilingsTable(context.ceilings),
    environment: [...environmentGroups(environment), ...(missing.length ? [{ title: 'Not available', facts: missing }] : [])],
  }
}

const median = (values: readonly number[]) => (values.length ? [...values].sort((a, b) => a - b)[values.length >> 1] : undefined)

/** Why a result is not ok, or why its figure is not of grade A; each reason once. */
const remarks = ({ message, gradeReasons = [] }: Result, uncertain?: number): string => [...new Set([...(message === undefined ? [] : [message]), ...gradeReasons, ...(uncertain === undefined ? [] : [uncertainText(uncertain)])])].join(' ')

/** One row per result, in the order measured; each numeric column in the unit of its median. */
function resultsTable(results: readonly Result[], { ceilings }: ExportContext): ReportTable {
  const known = results.flatMap((r) => (r.summary && r.summary.medianNs > 0 ? [{ ns: r.summary.medianNs, r }] : []))
  const time = chooseTimeUnit(median(known.map(({ ns }) => ns)))
  const bandwidth = chooseBandwidthUnit(median(known.map(({ ns, r }) => (r.bytes / ns) * 1e9)))
  const rate = chooseFlopsUnit(median(known.flatMap(({ ns, r }) => (r.flops > 0 ? [(r.flops / ns) * 1e9] : []))))
  const threaded = results.some((r) => r.case.threads !== undefined)
  const computes = known.some(({ r }) => r.flops > 0)
  const energies = energyColumns(results)
  const columns: ResultColumn[] = [
    { head: { title: 'op', mono: true }, cell: ({ case: c }) => ({ text: c.op }) },
    { head: { title: 'shape', mono: true }, cell: ({ case: c }) => ({ text: caseWordsOf(c).shape }) },
    { head: { title: 'dtype', mono: true }, cell: ({ case: c }) => ({ text: c.dtype }) },
    { head: { title: 'device', mono: true }, cell: ({ case: c }) => ({ text: c.device }) },
    { head: { title: 'impl', mono: true }, cell: ({ case: c }) => ({ text: c.impl }) },
    { head: { title: 'mode', mono: true }, cell: ({ case: c }) => ({ text: c.mode }) },
    ...(threaded ? [{ head: { title: 'threads', numeric: true }, cell: ({ case: c }: Result) => numberCell(c.threads === undefined ? ABSENT : String(c.threads), c.threads) }] : []),
    { head: { title: 'status' }, cell: ({ status }) => (status === 'ok' ? { text: status } : { text: statusWord(status), tone: 'bad' }) },
    { head: { title: `median ${time.name}`, numeric: true }, cell: ({ summary: s }) => numberCell(formatIn(s?.medianNs, time), s?.medianNs) },
    { head: { title: '95 % CI ±', numeric: true }, cell: ({ summary: s }) => numberCell(formatInterval(s?.medianNs, s?.ciLowNs, s?.ciHighNs), s?.ciLowNs === undefined || s.ciHighNs === undefined ? undefined : (s.ciHighNs - s.ciLowNs) / s.medianNs) },
    { head: { title: bandwidth.name, numeric: true }, cell: (r) => rated(placeOf(r, ceilings)?.bytesPerSecond, (v) => formatIn(v, bandwidth)) },
    ...(computes ? [{ head: { title: rate.name, numeric: true }, cell: (r: Result) => rated(placeOf(r, ceilings)?.flopsPerSecond, (v) => formatIn(v, rate)) }] : []),
    { head: { title: 'efficiency', numeric: true }, cell: (r) => rated(placeOf(r, ceilings)?.efficiency, (value) => `${formatPercent(value)}${placeOf(r, ceilings)?.uncertain === undefined ? '' : '*'}`) },
    ...energies,
    { head: { title: 'error', numeric: true }, cell: ({ verification: v }) => numberCell(v?.relL2?.toExponential(1) ?? ABSENT, v?.relL2) },
    { head: { title: 'grade' }, cell: ({ grade }) => (grade === 'C' ? { text: grade, tone: 'bad' } : { text: grade ?? ABSENT }) },
    { head: { title: 'remarks', wide: true }, cell: (r) => ({ text: remarks(r, placeOf(r, ceilings)?.uncertain) }) },
  ]
  return { heads: columns.map(({ head }) => head), rows: results.map((r) => columns.map(({ cell }) => cell(r))) }
}

interface ResultColumn {
  head: Head
  cell(r: Result): Cell
}

/** Energy of a call with its interval, power, what a joule buys and the energy-delay product; no columns where no result has an energy. */
function energyColumns(results: readonly Result[]): ResultColumn[] {
  const known = results.flatMap(({ energy, flops, bytes }) => (energy ? [{ energy, worth: perJoule({ energy, flops, bytes }) }] : []))
  if (known.length === 0) return []
  const unit = chooseEnergyUnit(median(known.map(({ energy }) => energy.joulesPerCall)))
  const [flops, bytes] = [chooseFlopsPerJouleUnit(median(known.flatMap(({ worth }) => worth.flopsPerJoule ?? []))), chooseBytesPerJouleUnit(median(known.map(({ worth }) => worth.bytesPerJoule)))]
  const column = (title: string, value: (energy: Energy, worth: ReturnType<typeof perJoule>) => number | undefined, text: (value: number | undefined, energy: Energy) => string): ResultColumn => ({
    head: { title, numeric: true },
    cell: ({ energy, flops, bytes }) => {
      const found = energy && value(energy, perJoule({ energy, flops, bytes }))
      return energy ? numberCell(text(found, energy), found) : { text: ABSENT }
    },
  })
  return [
    column(`energy ${unit.name}`, (energy) => energy.joulesPerCall, (value) => formatIn(value, unit)),
    column('energy ±', ({ joulesPerCall, lowJ, highJ }) => (highJ - lowJ) / joulesPerCall, (_value, { joulesPerCall, lowJ, highJ }) => formatInterval(joulesPerCall, lowJ, highJ)),
    column('power W', ({ watts }) => watts, (value) => (value === undefined ? ABSENT : value.toFixed(0))),
    ...(known.some(({ worth }) => worth.flopsPerJoule !== undefined) ? [column(flops.name, (_energy, worth) => worth.flopsPerJoule, (value) => formatIn(value, flops))] : []),
    column(bytes.name, (_energy, worth) => worth.bytesPerJoule, (value) => formatIn(value, bytes)),
    column('EDP J s', (_energy, worth) => worth.energyDelay, (value) => value?.toExponential(2) ?? ABSENT),
  ]
}

/** A rate or a share; none where there is nothing above zero. */
const rated = (value: number | undefined, format: (value: number | undefined) => string): Cell => numberCell(format(value || undefined), value || undefined)

/** Rates and efficiency; no efficiency of a result that is not right. */
function placeOf({ case: c, status, bytes, flops, summary }: Result, ceilings: ExportContext['ceilings']) {
  return summary && summary.medianNs > 0 ? roofline({ bytes, flops, medianNs: summary.medianNs }, status === 'ok' ? roofsOf(ceilings, c) : {}) : undefined
}

/** One row per case with three right runs or more: what they say together. Blocks measured interleaved are no runs. */
function runsTable(results: readonly Result[]): ReportTable {
  const cases = new Map<string, { first: Result; runs: Run[] }>()
  for (const result of results) {
    if (result.status !== 'ok' || !result.summary || result.block) continue
    const known = cases.get(caseId(result.case))
    const run = { ...result.summary, id: result.id }
    if (known) known.runs.push(run)
    else cases.set(caseId(result.case), { first: result, runs: [run] })
  }
  const shown = [...cases.values()].flatMap(({ first, runs }) => {
    const over = caseRuns(runs)
    return over ? [{ ...over, measured: first.case }] : []
  })
  const medians = shown.map(({ medianNs }) => medianNs).sort((a, b) => a - b)
  const time = chooseTimeUnit(medians[medians.length >> 1])
  return {
    heads: [{ title: 'op', mono: true }, { title: 'shape', mono: true }, { title: 'measured with', mono: true }, { title: 'runs', numeric: true }, { title: `median ${time.name}`, numeric: true }, { title: '95 % CI ±', numeric: true }],
    rows: shown.map(({ measured, runs, medianNs, interval: { low, high } }) => {
      const { shape, line } = caseWordsOf(measured)
      return [{ text: measured.op }, { text: shape }, { text: line }, numberCell(String(runs.length), runs.length), numberCell(formatIn(medianNs, time), medianNs), numberCell(formatInterval(medianNs, low, high), (high - low) / medianNs)]
    }),
  }
}

/** The measured limits of the session's devices beside their datasheets; without the points of the copy curve, which are many. */
function ceilingsTable(ceilings: readonly KnownCeiling[]): ReportTable {
  const shown = ceilings.filter(({ kind }) => ceilingKind(kind).is !== 'copy-size').sort((a, b) => a.device.localeCompare(b.device, 'en') || compareKinds(a.kind, b.kind))
  return {
    heads: [{ title: 'device' }, { title: 'ceiling' }, { title: 'measured', numeric: true }, { title: '95 % CI ±', numeric: true }, { title: 'datasheet', numeric: true }, { title: 'share', numeric: true }, { title: 'measured on' }],
    rows: shown.map((ceiling) => {
      const { low, high } = intervalOf(ceiling)
      const sheet = datasheetValue(ceiling.deviceName, ceiling.kind)
      return [
        { text: `${ceiling.deviceName} (${ceiling.device})` },
        { text: ceilingTitle(ceiling.kind) },
        numberCell(ceilingValue(ceiling), ceiling.value),
        numberCell(formatInterval(ceiling.value, low, high), low === undefined || high === undefined ? undefined : (high - low) / ceiling.value),
        numberCell(sheet === undefined ? ABSENT : ceilingValue({ unit: ceiling.unit, value: sheet }), sheet),
        numberCell(formatPercent(sheet && ceiling.value / sheet), sheet && ceiling.value / sheet),
        { text: `${ceiling.measuredAt.slice(0, 10)}${ceiling.stale === undefined ? '' : `, ${ceiling.stale}`}${unusableText(ceiling) === undefined ? '' : ', too uncertain to use'}` },
      ]
    }),
  }
}

/** A column of a report's table. */
export interface Head {
  title: string
  /** Numbers stand right and are sorted as numbers. */
  numeric?: boolean
  /** Names and identifiers, in the fixed-width face. */
  mono?: boolean
  /** Sentences: may wrap. */
  wide?: boolean
}

export interface Cell {
  text: string
  /** What a numeric column is sorted by; absent where there is no number. */
  value?: number
  tone?: 'good' | 'bad'
}

/** A table without markup; each row has a cell for each head. */
export interface ReportTable {
  heads: readonly Head[]
  rows: readonly (readonly Cell[])[]
}

/** A cell of a number: its text, and what it is sorted by unless it is not one. */
export const numberCell = (text: string, value: number | undefined): Cell => (value === undefined || !Number.isFinite(value) ? { text } : { text, value })

/** A case in words for tables and charts: its shape with attributes, and what tells its line in a chart from others. */
export const caseWordsOf = (c: BenchmarkCase): { shape: string; line: string } => ({
  shape: [shapeText(c), variantText(c)].filter(Boolean).join(' '),
  line: [c.device, c.impl, variantText(c), c.dtype, c.mode, threadText(c)].filter(Boolean).join(' '),
})
