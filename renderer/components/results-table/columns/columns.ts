import type { Column } from './column'
import type { BenchmarkCase } from '@core/case'
import { operationText, shapeText, variantText } from '@core/case-words'
import { machineOf } from '@core/fleet/machines'
import { statusWord, type Grade } from '@core/result'
import type { RowNumber } from '@core/session/rows'
import type { RowSource } from '../../../stores/rows/result-rows'
import { ratingColumns } from './ratings'
import { AUTO_SPEEDUP, speedupColumn } from './speedup'

const elements = (c: BenchmarkCase): number =>
  Object.values(c.params).reduce<number>((size, value) => (typeof value === 'number' ? size * value : size), 1)

const ciHalf = (rows: RowSource, i: number) => (rows.number(i, 'ciHighNs') - rows.number(i, 'ciLowNs')) / 2 / rows.number(i, 'medianNs')

const GRADE_ABOUT: Readonly<Record<Grade, string>> = {
  A: 'A: converged, low noise.',
  B: 'B: noisy. The details of the result give the reason.',
  C: 'C: throttled, disturbed or not converged. The details of the result give the reason.',
}
/** Grade C says why in the table: it is the grade that a figure must not be quoted with. */
function gradeAbout(rows: RowSource, row: number): string | undefined {
  const grade = rows.grade(row)
  const reasons = rows.gradeReasons(row)
  return reasons.length > 0 ? `${grade}: ${reasons.join(' ')}` : grade && GRADE_ABOUT[grade]
}

/** Only results that passed verification count as speed. */
const perSecond = (amount: 'bytes' | 'flops') => (rows: RowSource, i: number) => {
  const value = rows.number(i, amount) / (rows.number(i, 'medianNs') / 1e9)
  return rows.status(i) === 'ok' && Number.isFinite(value) && value > 0 ? value : NaN
}

const verifiedNumber = (name: RowNumber) => (rows: RowSource, i: number) => (rows.status(i) === 'ok' ? rows.number(i, name) : NaN)

/** The outcome of verification; imported results have none. */
const verified = (rows: RowSource, i: number) => {
  const status = rows.status(i)
  if (status === 'wrong') return 'failed'
  if (status === 'inaccurate') return 'inaccurate'
  return status === 'ok' && Number.isFinite(rows.number(i, 'relL2')) ? 'passed' : ''
}

export const COLUMNS: readonly Column[] = [
  { id: 'op', title: 'Operation', about: 'Operation, with its variant such as the axis', kind: 'text', width: 100, mono: true, text: (r, i) => operationText(r.case(i)) },
  { id: 'variant', title: 'Variant', about: 'Variant of the operation, such as the axis', kind: 'text', width: 70, optional: true, text: (r, i) => variantText(r.case(i)) },
  { id: 'shape', title: 'Shape', about: 'Elements, rows x columns, or m x n x k', kind: 'text', width: 110, mono: true, text: (r, i) => shapeText(r.case(i)), rank: (r, i) => elements(r.case(i)) },
  { id: 'dtype', title: 'Dtype', about: 'Element type', kind: 'text', width: 50, mono: true, text: (r, i) => r.case(i).dtype },
  { id: 'backend', title: 'Backend', about: 'Backend and implementation, with their colour in the charts', kind: 'text', width: 148, text: (r, i) => `${r.case(i).backend} ${r.case(i).impl}` },
  { id: 'device', title: 'Device', about: 'Device', kind: 'text', width: 84, optional: true, text: (r, i) => r.case(i).device },
  { id: 'host', title: 'Host', about: 'Machine that measured it', kind: 'text', width: 84, optional: true, text: (r, i) => machineOf(r.case(i)) },
  { id: 'threads', title: 'Threads', about: 'CPU threads', kind: 'number', quantity: 'count', width: 60, value: (r, i) => r.case(i).threads ?? NaN },
  { id: 'mode', title: 'Mode', about: 'cold: caches flushed before every call. hot: calls back to back on the same data. rotated: back to back on so many buffers that no cache holds them. graph: many calls in one launch', kind: 'text', width: 50, text: (r, i) => r.case(i).mode },
  { id: 'median', title: 'Median', about: 'Median time of one call', kind: 'number', quantity: 'time', width: 100, value: (r, i) => r.number(i, 'medianNs') },
  { id: 'ci', title: '95 % CI ±', about: 'Half the width of the 95 % confidence interval of the median, as a share of the median', kind: 'number', quantity: 'half-width', width: 84, value: ciHalf, hover: (r, i) => (ciHalf(r, i) === 0 ? 'No width: the samples around the median are equal, because they differ by less than one tick of the timer.' : undefined) },
  { id: 'grade', title: 'Grade', about: 'A: converged, low noise. B: noisy. C: throttled, disturbed or not converged', kind: 'text', width: 52, text: (r, i) => r.grade(i) ?? '', hover: gradeAbout },
  AUTO_SPEEDUP,
  { id: 'bandwidth', title: 'Bandwidth', about: 'Minimum memory traffic of the operation divided by the median time', kind: 'number', quantity: 'bandwidth', width: 76, unitOnly: true, value: perSecond('bytes') },
  { id: 'flop-rate', title: 'Compute', about: 'Operations divided by the median time', kind: 'number', quantity: 'flop-rate', width: 84, unitOnly: true, value: perSecond('flops') },
  { id: 'efficiency', title: 'Eff.', about: 'Share of the attainable rate under the measured ceilings of the device; * has a remark, see the cell', kind: 'number', quantity: 'percent', width: 70, value: (r, i, efficiency) => efficiency(r, i) },
  { id: 'energy', title: 'Energy', about: 'Energy of one call, over windows of calls without rest; idle power included', kind: 'number', quantity: 'energy', width: 92, optional: true, value: verifiedNumber('joulesPerCall'), interval: (r, i) => (r.number(i, 'energyLowJ') > 0 ? { low: r.number(i, 'energyLowJ'), high: r.number(i, 'energyHighJ') } : undefined) },
  { id: 'status', title: 'Status', about: 'Outcome of the case', kind: 'text', width: 136, text: (r, i) => statusWord(r.status(i)) },
  { id: 'verified', title: 'Verified', about: 'Compared with a float64 reference before and after timing. inaccurate: exceeds the error bounds; not ranked', kind: 'text', width: 72, text: verified },
  { id: 'rel-error', title: 'Rel. error', about: 'Distance from the float64 reference divided by its norm', kind: 'number', quantity: 'scientific', width: 84, optional: true, value: (r, i) => r.number(i, 'relL2') },
  { id: 'samples', title: 'Samples', about: 'Samples taken', kind: 'number', quantity: 'count', width: 76, optional: true, value: (r, i) => r.number(i, 'samples') || NaN },
  { id: 'min', title: 'Min', about: 'Fastest sample', kind: 'number', quantity: 'time', width: 92, optional: true, value: (r, i) => r.number(i, 'minNs') },
  { id: 'p95', title: 'p95', about: '95th percentile of the samples', kind: 'number', quantity: 'time', width: 92, optional: true, value: (r, i) => r.number(i, 'p95Ns') },
  { id: 'mean', title: 'Mean', about: 'Mean of the samples', kind: 'number', quantity: 'time', width: 92, optional: true, value: (r, i) => r.number(i, 'meanNs') },
  { id: 'stddev', title: 'Std dev', about: 'Standard deviation of the samples', kind: 'number', quantity: 'time', width: 92, optional: true, value: (r, i) => r.number(i, 'stddevNs') },
  { id: 'mad', title: 'MAD', about: 'Median absolute deviation of the samples', kind: 'number', quantity: 'time', width: 92, optional: true, value: (r, i) => r.number(i, 'madNs') },
  { id: 'intensity', title: 'FLOP/B', about: 'Arithmetic intensity: operations per byte of minimum memory traffic', kind: 'number', quantity: 'ratio', width: 84, optional: true, value: (r, i) => r.number(i, 'flops') / r.number(i, 'bytes') },
  { id: 'memory', title: 'Memory', about: 'Inputs, outputs and workspace of the case on the device', kind: 'number', quantity: 'bytes', width: 94, optional: true, value: (r, i) => r.number(i, 'caseBytes') },
  { id: 'library-peak', title: 'Lib. peak', about: 'Most memory that the computing library held during a call, by its own counter, beyond the memory of the case', kind: 'number', quantity: 'bytes', width: 94, optional: true, value: (r, i) => r.number(i, 'libraryPeakBytes') },
  { id: 'launch', title: 'Launch', about: 'Time that the host took to issue a call; not in the median', kind: 'number', quantity: 'time', width: 92, optional: true, value: (r, i) => r.number(i, 'hostCallNs') },
  { id: 'occupancy', title: 'Occupancy', about: 'Theoretical occupancy: warps that fit on a multiprocessor at a time, as a share of those it has room for. Of the kernel that starts most threads (CUDA)', kind: 'number', quantity: 'percent', width: 86, optional: true, value: (r, i) => r.number(i, 'occupancy') },
  { id: 'instructions', title: 'Instructions', about: 'Instructions of one call in user space, by a hardware counter (CPU, one thread; Linux where perf_event_open is allowed)', kind: 'number', quantity: 'count', width: 100, optional: true, value: (r, i) => r.number(i, 'instructions') },
  { id: 'cycles', title: 'Cycles', about: 'Clock cycles of one call in user space, by a hardware counter (CPU, one thread)', kind: 'number', quantity: 'count', width: 90, optional: true, value: (r, i) => r.number(i, 'cycles') },
  { id: 'l1HitRatio', title: 'L1 hits', about: 'Share of reads that hit the first data cache, by hardware counters (CPU, one thread)', kind: 'number', quantity: 'percent', width: 80, optional: true, value: (r, i) => r.number(i, 'l1HitRatio') },
  { id: 'llcHitRatio', title: 'LLC hits', about: 'Share of references to the last-level cache that hit, by hardware counters (CPU, one thread)', kind: 'number', quantity: 'percent', width: 80, optional: true, value: (r, i) => r.number(i, 'llcHitRatio') },
  { id: 'registers', title: 'Registers', about: 'Registers of a thread, of the kernel that starts most threads (CUDA)', kind: 'number', quantity: 'count', width: 80, optional: true, value: (r, i) => r.number(i, 'registers') },
  { id: 'shared', title: 'Shared', about: 'Shared memory of a block, of the kernel that starts most threads (CUDA)', kind: 'number', quantity: 'bytes', width: 94, optional: true, value: (r, i) => r.number(i, 'sharedBytes') },
  { id: 'waves', title: 'Waves', about: 'Blocks of the grid divided by those that fit on the GPU at a time, of the kernel that starts most threads (CUDA)', kind: 'number', quantity: 'ratio', width: 76, optional: true, value: (r, i) => r.number(i, 'waves') },
  { id: 'clock', title: 'Clock', about: 'Mean clock of the device while sampling', kind: 'number', quantity: 'megahertz', width: 92, optional: true, value: (r, i) => r.number(i, 'smClockMhz') },
  { id: 'temperature', title: 'Temp.', about: 'Mean temperature of the device while sampling', kind: 'number', quantity: 'celsius', width: 82, optional: true, value: (r, i) => r.number(i, 'temperatureC') },
  { id: 'power', title: 'Power', about: 'Mean power of the device in the energy windows', kind: 'number', quantity: 'watt', width: 80, optional: true, value: verifiedNumber('energyWatts') },
  { id: 'flops-per-joule', title: 'FLOP/J', about: 'Operations for each joule', kind: 'number', quantity: 'flops-per-joule', width: 96, optional: true, unitOnly: true, value: (r, i) => r.number(i, 'flops') / verifiedNumber('joulesPerCall')(r, i) || NaN },
  { id: 'bytes-per-joule', title: 'B/J', about: 'Minimum memory traffic for each joule', kind: 'number', quantity: 'bytes-per-joule', width: 96, optional: true, unitOnly: true, value: (r, i) => r.number(i, 'bytes') / verifiedNumber('joulesPerCall')(r, i) },
  { id: 'energy-delay', title: 'EDP', about: 'Energy-delay product in joule seconds: the energy of a call times its time in the energy windows', kind: 'number', quantity: 'scientific', width: 84, optional: true, value: (r, i) => (verifiedNumber('joulesPerCall')(r, i) * r.number(i, 'energyCallNs')) / 1e9 },
  ...ratingColumns,
]

const byId = new Map(COLUMNS.map((column) => [column.id, column]))

/** The column of an id; those of speedups carry their baseline in it. */
export const findColumn = (id: string): Column | undefined => byId.get(id) ?? speedupColumn(id)

