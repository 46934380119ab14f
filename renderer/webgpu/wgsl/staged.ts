import type { Dtype } from '@core/case'
import { entry, header, numbers, storage, THREADS, widthFor, type Binding } from './header'

/** f32 of all tensors of a workgroup: with more, multiprocessors have room for fewer workgroups, and not every adapter has it. */
const MOST_STAGED = 3584
/** Rows of a thread at most, and what rows of a workgroup are a multiple of where threads have one each: then workgroups begin with a sector of memory. */
const MOST_EACH = 4
const SECTOR = 8
/** Elements of a row at most: neighbours that share a longer one write whole sectors themselves. And elements of all rows that are worth the way through workgroup memory. */
const LONGEST = 16
const FEWEST_ELEMENTS = 2 ** 21

/** How many rows of no whole vectors that lie behind each other a workgroup has. */
export interface StagedPlan {
  rows: number
}

/** Undefined where a row is whole vectors or too long, or rows are few. So many `tensors` are read by row. */
export function planStaged(rows: number, length: number, tensors = 1): StagedPlan | undefined {
  if (widthFor(length) === 4 || length > LONGEST || rows * length < FEWEST_ELEMENTS) return undefined
  const most = Math.floor(MOST_STAGED / tensors / length)
  return { rows: most >= THREADS ? THREADS * Math.min(MOST_EACH, Math.floor(most / THREADS)) : most - (most % SECTOR) }
}

/** A kernel whose workgroups bring rows to workgroup memory, where threads have rows each, and write them from there. */
export interface Staged {
  plan: StagedPlan
  length: number
  dtype: Dtype
  /** Tensors read by row, in the order of their bindings: `<name>_in` in memory, `<name>_staged` in workgroup memory. The results stand in the place of the first. */
  staged: readonly string[]
  others: readonly Binding[]
  functions?: string
  /** WGSL for one row: it begins at `base` in workgroup memory, its number is `row`. */
  body: string
}

/** Neighbouring threads read and write neighbouring elements whatever the rows are. dim(0) is the number of rows. */
export function stagedText({ plan: { rows }, length, dtype, staged, others, functions = '', body }: Staged): string {
  const type = storage(dtype, 1)
  const elements = rows * length
  const each = (text: (q: number) => string) => numbers(Math.ceil(elements / THREADS)).map(text).join('\n')
  const check = (q: number) => ((q + 1) * THREADS > elements ? `lane + ${q * THREADS}u < ${elements}u && ` : '')
  const bindings: Binding[] = [...staged.map((name) => ({ name: `${name}_in`, type })), ...others, { name: 'out', type, write: true }]
  return `${header(bindings, dtype === 'f16')}
${staged.map((name) => `var<workgroup> ${name}_staged: array<f32, ${elements}>;`).join('\n')}
${functions}
${entry(`  let first = group * ${elements}u + lane;
  let all = dim(0u) * ${length}u;
${each((q) => `  let is_${q} = ${check(q)}first + ${q * THREADS}u < all;
${staged.map((name) => `  var ${name}_${q} = 0.0; if (is_${q}) { ${name}_${q} = f32(${name}_in[first + ${q * THREADS}u]); }`).join('\n')}`)}
${each((q) => `  if (is_${q}) { ${staged.map((name) => `${name}_staged[lane + ${q * THREADS}u] = ${name}_${q};`).join(' ')} }`)}
  workgroupBarrier();
  for (var own = lane; own < ${rows}u; own += ${THREADS}u) {
    let row = group * ${rows}u + own;
    if (row >= dim(0u)) { break; }
    let base = own * ${length}u;
${body}
  }
  workgroupBarrier();
${each((q) => `  if (is_${q}) { out[first + ${q * THREADS}u] = ${type}(${staged[0]!}_staged[lane + ${q * THREADS}u]); }`)}`)}`
}
