import type { BufferName, DeviceLimits, KernelShape, Program, Step } from '../../kernels/types'
import { arrivalBytes } from '../arrivals'
import { step, THREADS } from '../header'
import type { RowOp } from './types'
import { namesOf, RowText } from './text'
import { planRows, type RowPlan } from '../rows'
import { areShort, shortRows } from './short'
import { planStagedRows, stagedRows } from './staged'

/** Shortest part of a row that is worth a workgroup of its own, in vectors, and workgroups that fill any device known here. */
const SHORTEST_PART = 1024
const ENOUGH_GROUPS = 2048
/** Shortest part of a row of no whole vectors, in elements, where a call has as many elements as this. */
const SHORTEST_OF_SINGLES = 4096
const MANY_SINGLES = 2 ** 20
/** Workgroups of a row whose results each workgroup of the next step joins: one for each of its threads, or more of long parts. */
const MOST_PARTS = 4 * THREADS
const LONG_PART = 4096

/** Threads of a workgroup for short rows: small ones leave less of a device idle at the end, and wait for fewer. What a last workgroup joins comes from large ones. */
const LEAST_THREADS = 128

/** Workgroups that share a row: only where rows are too long to keep and too few to fill the device. `most`: where each is joined by a thread of its own. */
const partsOf = (rows: number, { vectors, kept, width }: RowPlan, most = MOST_PARTS): number =>
  kept !== undefined ? 1 : Math.max(1, Math.min(most, Math.max(Math.min(THREADS, Math.ceil(vectors / (width === 1 && rows * vectors >= MANY_SINGLES ? SHORTEST_OF_SINGLES : SHORTEST_PART))), Math.floor(vectors / LONG_PART)), Math.floor(ENOUGH_GROUPS / rows)))

/** Workgroups whose results the last of them joins. */
const MOST_JOINED = 2048

/** Whether the mean over all rows is one step: as far as one workgroup can join the others' results. */
export function isMeanInOne(rows: number, length: number, { threads }: DeviceLimits): boolean {
  const plan = planRows(rows, length, { threads, singles: true })
  const parts = partsOf(rows, plan, THREADS)
  return (parts > 1 ? rows * parts : plan.groups) <= MOST_JOINED
}

/** The steps of a row operation over `rows` rows of `length` elements. Scratch space is numbered from `scratchFrom`. */
export function rowSteps(op: RowOp, { dtype, subgroups, threads }: Pick<KernelShape, 'dtype'> & DeviceLimits, rows: number, length: number, scratchFrom = 0): Program {
  if (areShort(op, rows, length)) return shortRows(op, { dtype }, rows, length)
  const staged = planStagedRows(op, rows, length)
  if (staged) return stagedRows(op, staged, { dtype }, rows, length)
  const plan = planRows(rows, length, { kept: op.kept, tensors: op.tensors.filter(({ by }) => by === 'row').length, threads, singles: true, ...('mean' in op.result ? {} : { written: true, least: LEAST_THREADS }) })
  const parts = partsOf(rows, plan, 'mean' in op.result ? THREADS : MOST_PARTS)
  const dims = [rows, plan.vectors, length, parts, Math.ceil(plan.vectors / parts), ...(op.dims ?? []), ...('mean' in op.result ? [plan.groups] : [])]
  const text = new RowText(op, plan, dtype, parts, subgroups)
  const made = ({ text: wgsl, buffers }: { text: string; buffers: BufferName[] }): Step => step(wgsl, buffers, dims, parts > 1 ? rows * parts : plan.groups, op.scalars)
  if ('mean' in op.result) {
    const step = made(parts === 1 ? text.whole() : text.meanOfParts(op.result.mean))
    const results = parts === 1 ? plan.groups : rows * (parts * namesOf(op.passes[0]!).length + 1)
    return { scratchBytes: plan.groups === 1 && parts === 1 ? [] : [arrivalBytes(results, parts === 1 ? 1 : rows + 1)], steps: [step] }
  }
  if (parts === 1) return { scratchBytes: [], steps: [made(text.whole())] }
  const scratch = { scratch: scratchFrom }
  const steps = op.passes.map((pass, i) => made(text.part(op.passes.slice(0, i), pass, scratch)))
  return { scratchBytes: [4 * rows * parts * op.passes.flatMap(namesOf).length], steps: [...steps, made(text.part(op.passes, undefined, scratch))] }
}

/** Programs one after the other, as one: scratch space is numbered on. */
export function joinPrograms(programs: readonly Program[]): Program {
  const scratchBytes: number[] = []
  const steps: Step[] = []
  for (const program of programs) {
    const from = scratchBytes.length
    const moved = (name: BufferName): BufferName => (typeof name === 'object' && 'scratch' in name ? { scratch: from + name.scratch } : name)
    steps.push(...program.steps.map((one) => ({ ...one, buffers: one.buffers.map(moved) })))
    scratchBytes.push(...program.scratchBytes)
  }
  return { scratchBytes, steps }
}
