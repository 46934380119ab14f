import { entry, header, numbers, step, THREADS } from '../../wgsl/header'
import { MOST_COVERED, type OutputGrid } from '../../wgsl/output-grid'
import { powerOfTwoFrom } from '../../wgsl/rows'
import { dimOf, type KernelShape, type Program } from '../types'

/** Steps of k of which an output takes no longer than it is written, where its row is no whole number of vectors; more of them, where tiles of few rows would be written late. */
export const FEW_STEPS = 8
export const SOME_STEPS = 16
/** Rows, most first, and columns of a thread at most: it reads an element of b once for all its rows, and of a for all its columns. */
const HEIGHTS = [8, 4, 2, 1]
const COLUMNS = 4
/** Threads beside each other that write whole sectors. */
const NARROWEST = 32
/** Workgroups that fill any device known here. */
const ENOUGH_GROUPS = 528

/** How threads take `batch` products [m, n], the rows of a thread `high` apart: fewer rows each where workgroups are few. */
export function planFewSteps(batch: number, m: number, n: number): OutputGrid {
  const widths = Array.from({ length: COLUMNS }, (_, i) => ({ across: COLUMNS - i, wide: Math.min(THREADS, Math.max(NARROWEST, powerOfTwoFrom(Math.ceil(n / (COLUMNS - i))))) }))
  const covered = ({ across, wide }: (typeof widths)[number]) => Math.ceil(n / (across * wide)) * across * wide
  const least = Math.min(...widths.map(covered))
  const { across, wide } = widths.find((one) => covered(one) <= MOST_COVERED * least)!
  const [high, beside] = [THREADS / wide, Math.ceil(n / (across * wide))]
  const planned = (most: number): OutputGrid => {
    const down = Math.ceil(m / (Math.ceil(m / (most * high)) * high))
    return { wide, high, across, down, beside, below: Math.ceil(m / (down * high)) }
  }
  return HEIGHTS.map(planned).find(({ below }) => batch * beside * below >= ENOUGH_GROUPS) ?? planned(1)
}

/** A product in f32 of a few steps of k, whose time is that of writing it: no tiles in workgroup memory, and divisions once for all outputs of a thread. */
export function fewSteps(shape: KernelShape): Program {
  const [batch, m, n, k, transA, transB] = [0, 1, 2, 3, 4, 5].map((i) => dimOf(shape, i)) as [number, number, number, number, number, number]
  const { wide, high, across, down, beside, below } = planFewSteps(batch, m, n)
  const [rows, columns, steps] = [numbers(down), numbers(across), numbers(k)]
  const each = (text: (r: number, c: number) => string) => rows.flatMap((r) => columns.map((c) => text(r, c))).join('\n')
  const wgsl = `${header([{ name: 'a', type: 'f32' }, { name: 'b', type: 'f32' }, { name: 'out', type: 'f32', write: true }], false)}
${entry(`  let m = dim(0u);
  let n = dim(1u);
  let column = group % dim(2u) * ${across * wide}u + lane % ${wide}u;
  let row = group / dim(2u) % dim(3u) * ${down * high}u + lane / ${wide}u;
  let product = group / dim(2u) / dim(3u);
  if (product >= dim(4u)) { return; }
${columns.map((c) => `  let column_${c} = min(column + ${c * wide}u, n - 1u);`).join('\n')}
${rows.map((r) => `  let row_${r} = min(row + ${r * high}u, m - 1u);`).join('\n')}
${each((r, c) => `  var sum_${r}_${c} = 0.0;`)}
${steps.map((l) => `  {
${columns.map((c) => `    let b_${c} = b[${transB === 1 ? `(product * n + column_${c}) * ${k}u + ${l}u` : `(product * ${k}u + ${l}u) * n + column_${c}`}];`).join('\n')}
${rows.map((r) => `    let a_${r} = a[${transA === 1 ? `(product * ${k}u + ${l}u) * m + row_${r}` : `(product * m + row_${r}) * ${k}u + ${l}u`}];`).join('\n')}
${each((r, c) => `    sum_${r}_${c} = fma(a_${r}, b_${c}, sum_${r}_${c});`)}
  }`).join('\n')}
${each((r, c) => `  if (row + ${r * high}u < m && column + ${c * wide}u < n) { out[(product * m + row + ${r * high}u) * n + column + ${c * wide}u] = sum_${r}_${c}; }`)}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, 'output'], [m, n, beside, below, batch], beside * below * batch)] }
}
