import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import { powerOfTwoFrom } from '../../wgsl/rows'
import type { Program } from '../types'
import { keyFunctions } from './keys'
import type { Sorted, Source } from './network'

/** Longest row whose keys one workgroup keeps, beside those of other rows where they are short, and elements of all rows up to which few steps count for more than few comparisons. */
const LONGEST = 1024
const MOST_ELEMENTS = 2 ** 19
/** Neighbours that are sorted by counting, those that are read together, and runs that are merged at a time. */
const RUN = 32
const AT_ONCE = 4
const TOGETHER = 4
/** Rows up to which larger workgroups leave no more of a device idle. */
const FEW_ROWS = 264

/** Whether rows are sorted so, rather than by a network over all pairs. That takes no longer where a thread has several elements here. */
export const hasRuns = (rows: number, cols: number): boolean => cols <= LONGEST && rows * cols <= MOST_ELEMENTS && (rows <= FEW_ROWS || cols <= THREADS)

/** How a workgroup takes rows: `lanes` threads have `held` elements each of a row, of which a workgroup has `rowsPerGroup`. */
export function planRuns(rows: number, cols: number, most = THREADS): { lanes: number; held: number; threads: number; rowsPerGroup: number } {
  const whole = powerOfTwoFrom(cols)
  const lanes = Math.min(rows <= FEW_ROWS ? most : THREADS, whole)
  const threads = Math.max(THREADS, lanes)
  return { lanes, held: Math.ceil(cols / lanes), threads, rowsPerGroup: threads / lanes }
}

/**
 * The first of each row of up to LONGEST elements: neighbours are sorted by counting, and runs are merged by rank. An element stands behind
 * as many as are in front of it in its own run and, by binary search, in the others; those behind the first ones of a run are dropped.
 */
export function sortRuns(descending: boolean, rows: number, cols: number, first: number, { x, type }: Source, to: Sorted, most?: number): Program {
  const { lanes, held, threads, rowsPerGroup } = planRuns(rows, cols, most)
  const each = (text: (k: number) => string) => numbers(held).map((k) => `  ${text(k)}`).join('\n')
  const length = lanes * held
  const merges: string[] = []
  for (let run = RUN; run < cols; run *= TOGETHER) {
    const kept = Math.min(run, first)
    const together = Math.min(TOGETHER, Math.ceil(cols / run))
    const others = numbers(together - 1)
    const search = (k: number, text: (j: number, at: string) => string) => others.map((j) => text(j, `${k}_${j}`)).join(' ')
    // Names of a merge are its own.
    merges.push(`  {
  workgroupBarrier();
${each((k) => `if (place_${k} < ${kept}u) { keys[row_at + i_${k} / ${run}u * ${run}u + place_${k}] = key_${k}; }`)}
  workgroupBarrier();
${each((k) => `let run_${k} = i_${k} / ${run}u; ${search(k, (j, n) => `let other_${n} = run_${k} / ${together}u * ${together}u + (run_${k} + ${j + 1}u) % ${together}u; let from_${n} = min(other_${n} * ${run}u, cols); let count_${n} = min(cols - from_${n}, ${kept}u); let most_${n} = key_${k} + select(0u, 1u, other_${n} < run_${k}); var ahead_${n} = 0u;`)}`)}
  for (var reach = ${powerOfTwoFrom(kept + 1) / 2}u; reach > 0u; reach >>= 1u) {
${each((k) => search(k, (j, n) => `let seen_${n} = keys[row_at + min(from_${n} + ahead_${n} + reach, cols) - 1u];`))}
${each((k) => search(k, (j, n) => `if (ahead_${n} + reach <= count_${n} && seen_${n} < most_${n}) { ahead_${n} += reach; }`))}
  }
${each((k) => search(k, (_, n) => `place_${k} += ahead_${n};`))}
  }`)
  }
  const wgsl = `${header([{ name: 'x', type: storage(type, 1) }, { name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }], type === 'f16' || to.type === 'f16')}${keyFunctions(descending)}
var<workgroup> keys: array<u32, ${threads * held}>;
${entry(`  let cols = dim(0u);
  let wanted = group * ${rowsPerGroup}u + lane / ${lanes}u;
  let live = wanted < dim(1u);
  let row = min(wanted, dim(1u) - 1u);
  let row_at = lane / ${lanes}u * ${length}u;
${each((k) => `let i_${k} = lane % ${lanes}u + ${k * lanes}u; let key_${k} = key_of(f32(x[row * cols + min(i_${k}, cols - 1u)])); var place_${k} = 0u;`)}
${each((k) => `keys[row_at + i_${k}] = select(0xffffffffu, key_${k}, i_${k} < cols);`)}
  workgroupBarrier();
  for (var c = 0u; c < ${RUN}u; c += ${AT_ONCE}u) {
${each((k) => `let from_${k} = i_${k} / ${RUN}u * ${RUN}u + c; ${numbers(AT_ONCE).map((u) => `let seen_${k}_${u} = keys[row_at + from_${k} + ${u}u];`).join(' ')}`)}
${each((k) => numbers(AT_ONCE).map((u) => `place_${k} += select(0u, 1u, seen_${k}_${u} < key_${k} + select(0u, 1u, from_${k} + ${u}u < i_${k}));`).join(' '))}
  }
${each((k) => `if (i_${k} >= cols) { place_${k} = ${2 * LONGEST}u; }`)}
${merges.join('\n')}
${each((k) => `if (live && place_${k} < dim(2u)) { values[row * dim(2u) + place_${k}] = ${storage(to.type, 1)}(value_of(key_${k})); indices[row * dim(2u) + place_${k}] = i32(i_${k}); }`)}`, threads)}`
  return { scratchBytes: [], steps: [step(wgsl, [x, to.values, to.places], [cols, rows, first], Math.ceil(rows / rowsPerGroup))] }
}
