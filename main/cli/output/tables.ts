import type { Device, Interpreter } from '@core/backend'
import { isLibrary } from '@core/backends'
import { DTYPES, type Dtype } from '@core/case'
import type { Op } from '@core/ops/types'
import type { NoiseFloor, SessionSummary } from '@core/session/types'
import { formatBytes, formatPercent } from '@core/units'
import { oneLine } from '../../printable'

/** ISO 8601 UTC as local date and minute. */
export const when = (iso: string) => {
  const date = new Date(iso)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

export const sessionTable = (sessions: readonly SessionSummary[]): string =>
  table(sessions, [
    { title: 'id', cell: (s) => s.id },
    { title: 'made', cell: (s) => when(s.createdAt) },
    { title: 'name', cell: (s) => s.name },
    { title: 'state', cell: (s) => (s.damaged === undefined ? s.state : `damaged: ${s.damaged}`) },
    { title: 'results', align: 'right', cell: (s) => (s.results === s.planned ? String(s.results) : `${s.results}/${s.planned}`) },
    { title: 'failed', align: 'right', cell: (s) => (s.failures > 0 ? String(s.failures) : '') },
    { title: 'tags', cell: (s) => s.tags.join(', ') },
  ])

/** `3.11.2, numpy 1.24.2, torch 1.13.1 (2 threads), /usr/bin/python3`: version, packages that can be used, the program. */
function pythonCell(interpreter: Interpreter | undefined): string {
  if (!interpreter) return ''
  const { version, packages, path } = interpreter
  const usable = packages.flatMap((p) => (p.version === undefined ? [] : [`${p.name} ${p.version}${p.detail ? ` (${p.detail})` : ''}`]))
  return [...(version === undefined ? [] : [version]), ...usable, path].join(', ')
}

/** Devices with what they offer, and the reason where they cannot be used. */
export const deviceTable = (devices: readonly Device[]): string =>
  table(devices, [
    { title: 'device', cell: (d) => d.id },
    { title: 'backend', cell: (d) => d.backend },
    { title: 'name', cell: (d) => (d.software ? `${d.name} (software)` : d.name) },
    { title: 'driver', cell: (d) => d.driver ?? '' },
    { title: 'memory for a case', align: 'right', cell: (d) => (d.available.ok ? formatBytes(d.memoryBytes) : '') },
    { title: 'caches', cell: (d) => (d.caches ?? []).map((cache) => `${cache.name} ${formatBytes(cache.bytes)}`).join(', ') },
    { title: 'threads', cell: (d) => d.threads.join(' ') },
    { title: 'modes', cell: (d) => d.modes.join(' ') },
    { title: 'implementations', cell: (d) => d.impls.filter((impl) => impl.available.ok).map((impl) => (impl.preferred ? `${impl.id}*` : impl.id)).join(' ') },
    { title: 'Python', cell: (d) => pythonCell(d.interpreter) },
    { title: 'state', cell: (d) => (d.available.ok ? [...(d.disturbances ?? []), ...d.warnings].join('; ') || 'ready' : d.available.reason) },
  ])

/** What self-checks found of each device. */
export const noiseTable = (floors: readonly NoiseFloor[]): string =>
  table(floors, [
    { title: 'device', cell: (f) => f.device },
    { title: 'name', cell: (f) => f.deviceName },
    { title: 'driver', cell: (f) => f.driver ?? '' },
    { title: 'pairs', align: 'right', cell: (f) => String(f.pairs) },
    { title: 'false verdicts', align: 'right', cell: (f) => String(f.falseVerdicts) },
    { title: 'median |ratio - 1|', align: 'right', cell: (f) => formatPercent(f.ratioP50) },
    { title: '95th percentile', align: 'right', cell: (f) => formatPercent(f.ratioP95) },
    { title: 'measured', cell: (f) => when(f.measuredAt) },
  ])

/** The dtypes that one implementation has of each operation; implementations of a backend that have the same stand together. */
export interface KernelColumn {
  /** `cpu`, `cuda`; `torch` where a library computes. */
  title: string
  kernels: ReadonlyMap<string, readonly Dtype[]>
}

/** A column for each backend, and for each of its implementations that has other kernels; what no implementation states has none. */
export function kernelColumns(devices: readonly Device[]): KernelColumn[] {
  const impls = new Map<string, { backend: string; impl: string; kernels: Map<string, readonly Dtype[]> }>()
  for (const { backend, impls: own } of devices) {
    for (const { id: impl, kernels } of own) {
      const key = `${backend} ${impl}`
      const known = impls.get(key)?.kernels ?? new Map<string, readonly Dtype[]>()
      for (const [op, dtypes] of Object.entries(kernels)) known.set(op, DTYPES.filter((dtype) => dtypes.includes(dtype) || known.get(op)?.includes(dtype)))
      if (known.size > 0) impls.set(key, { backend, impl, kernels: known })
    }
  }
  const groups = [...Map.groupBy(impls.values(), ({ backend, kernels }) => `${backend} ${JSON.stringify([...kernels].sort())}`).values()]
  return groups.map((group) => {
    const { backend, kernels } = group[0]!
    const alone = groups.filter(([first]) => first!.backend === backend).length === 1
    const names = group.map(({ impl }) => impl).join('/')
    return { title: isLibrary(backend) ? names : alone ? backend : `${backend} ${names}`, kernels }
  })
}

/** Every operation with the dtypes of its kernels, and how many operations each column has. */
export function opTable(ops: readonly Op[], columns: readonly KernelColumn[]): string {
  const lines = table(ops, [
    { title: 'operation', cell: (op) => op.id },
    { title: 'family', cell: (op) => op.family },
    { title: 'sizes', cell: (op) => op.size.id },
    ...columns.map(({ title, kernels }) => ({ title, cell: (op: Op) => kernels.get(op.id)?.join(' ') ?? '–' })),
  ])
  const counts = columns.map(({ title, kernels }) => `${title} ${ops.filter(({ id }) => kernels.has(id)).length}`)
  return [lines, '', `${ops.length} operations${counts.length > 0 ? `, of which have a kernel: ${counts.join(', ')}` : ''}. – = not implemented. Attributes and PyTorch calls: --json.`].join('\n')
}

export interface Column<T> {
  title: string
  /** Right-aligned unless text. */
  align?: 'left' | 'right'
  cell(row: T): string
}

/** Width on screen, near enough: combining marks are not expected in what we print. */
const width = (text: string) => [...text].length

/** Rows as a plain-text table, two spaces between columns; a column with nothing in it is left out. */
export function table<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const texts = rows.map((row) => columns.map((column) => oneLine(column.cell(row))))
  const shown = columns.map((_, j) => j).filter((j) => rows.length === 0 || texts.some((row) => row[j] !== ''))
  const lines = [columns.map((column) => column.title), ...texts]
  const widths = columns.map((_, j) => Math.max(...lines.map((line) => width(line[j]!))))
  return lines
    .map((line) =>
      shown
        .map((j) => {
          const fill = ' '.repeat(widths[j]! - width(line[j]!))
          return columns[j]!.align === 'right' ? fill + line[j]! : line[j]! + fill
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
