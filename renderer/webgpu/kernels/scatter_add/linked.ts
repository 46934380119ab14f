import type { Dtype } from '@core/case'
import { entry, header, step, storage, THREADS, widthFor, working } from '../../wgsl/header'
import { powerOfTwoFrom } from '../../wgsl/rows'
import type { Program, Step } from '../types'
import { exactSums } from './exact'

/** Vectors of a row that a thread keeps, and those that it should at least have where rows are long. */
const MOST_KEPT = 4
const WANTED = 3
/** Elements of a row from which on a list of its sources costs less than exchanges of each element. */
const FEWEST_ELEMENTS = 12

/** Sources of a list, which are walked one after the other, and lists of a row at most. */
const OF_A_LIST = 8
const MOST_LISTS = 32

/** How threads take the rows of the output: `lanes` of them share one, in `parts` of which each thread keeps `kept` vectors, for each of the `lists` of its sources. */
export interface LinkedPlan {
  lists: number
  vectors: number
  lanes: number
  kept: number
  parts: number
}

/** Undefined where rows are short. */
export const planLinked = (dim: number, perRow: number): LinkedPlan | undefined => (dim < FEWEST_ELEMENTS ? undefined : listsOf(dim, perRow))

/** The lists of rows of any length. */
export function listsOf(dim: number, perRow: number): LinkedPlan {
  const vectors = dim / widthFor(dim)
  const lanes = Math.min(THREADS, powerOfTwoFrom(Math.ceil(vectors / WANTED)))
  const kept = Math.min(MOST_KEPT, Math.ceil(vectors / lanes))
  const lists = Math.min(MOST_LISTS, THREADS / lanes, powerOfTwoFrom(Math.ceil(perRow / OF_A_LIST)))
  return { lists, vectors, lanes, kept, parts: Math.ceil(vectors / (lanes * kept)) }
}

/** Links each source in front of those that a list of its row has already: 0 ends a list, and source s is s + 1. Lists are empty before. dims: sources, lists of a row. */
const LINK = `${header([{ name: 'indices', type: 'i32' }, { name: 'heads', type: 'atomic<u32>', write: true }, { name: 'next', type: 'u32', write: true }], false)}
${entry(`  let s = group * ${THREADS}u + lane;
  if (s >= dim(0u)) { return; }
  next[s] = atomicExchange(&heads[u32(indices[s]) * dim(1u) + s % dim(1u)], s + 1u);`)}`

const CLEAR = `${header([{ name: 'heads', type: 'u32', write: true }], false)}
${entry(`  let row = group * ${THREADS}u + lane;
  if (row < dim(0u)) { heads[row] = 0u; }`)}`

/**
 * Many sources for many rows, without atomic additions: each row has lists of its sources, and is read and written once.
 * Lists are emptied again by whoever reads them, or afterwards where several workgroups do. Which source stands first in a list is open: halves of a
 * list are added up exactly.
 */
export function linked(rows: number, indices: number, dim: number, plan: LinkedPlan, dtype: Dtype): Program {
  const { lists, vectors, lanes, kept, parts } = plan
  const width = widthFor(dim)
  const [type, isExact] = [storage(dtype, width), dtype === 'f16']
  const each = (text: (k: number) => string) => Array.from({ length: kept }, (_, k) => text(k)).join('\n')
  const vf = working(width)
  const walkers = lanes * lists
  const words = width === 4 ? 'vec4<u32>' : 'u32'
  const x = (k: number) => `${vf}(x[row * vectors + at_${k}])`
  const written = (k: number, sum: string) => `if (in_${k}) { out[row * vectors + at_${k}] = ${type}(${sum}); }`
  const start = (k: number) => (isExact ? `var low_${k} = ${words}(0u);\n  var high_${k} = ${words}(0u);` : `var sum_${k} = ${lists > 1 ? `${vf}(0.0)` : x(k)};`)
  const sum = (k: number) => (isExact ? `exact_sum(low_${k}, high_${k})` : `sum_${k}`)
  // The first list's threads add up what those of the others have.
  const joined = each((k) => `  sums[lane] = ${sum(k)};
  workgroupBarrier();
  if (lane / ${lanes}u % ${lists}u == 0u) {
    var total = ${x(k)};
    for (var list = 0u; list < ${lists}u; list++) { total += sums[lane + list * ${lanes}u]; }
    ${written(k, 'total')}
  }
  workgroupBarrier();`)
  const wgsl = `${header([{ name: 'x', type }, { name: 'src', type }, { name: 'next', type: 'u32' }, { name: 'heads', type: 'u32', write: true }, { name: 'out', type, write: true }], isExact)}
${isExact ? exactSums(width) : ''}${lists > 1 ? `var<workgroup> sums: array<${vf}, ${THREADS}>;\n` : ''}${entry(`  let vectors = dim(0u);
  let wanted = group / dim(2u) * ${THREADS / walkers}u + lane / ${walkers}u;
  let live = wanted < dim(1u);
  let row = min(wanted, dim(1u) - 1u);
  let head = ${lists > 1 ? `row * ${lists}u + lane / ${lanes}u % ${lists}u` : 'row'};
  let first = group % dim(2u) * ${lanes * kept}u + lane % ${lanes}u;
${each((k) => `  let in_${k} = live && first + ${k * lanes}u < vectors;
  let at_${k} = min(first + ${k * lanes}u, vectors - 1u);
  ${start(k)}`)}
  var s = select(0u, heads[head], live);
${parts === 1 ? `  workgroupBarrier();
  if (live && lane % ${lanes}u == 0u) { heads[head] = 0u; }
` : ''}  while (s != 0u) {
    let base = (s - 1u) * vectors;
    s = next[s - 1u];
${each((k) => `    let v_${k} = ${vf}(src[base + at_${k}]);`)}
${each((k) => (isExact ? `    add_exactly(&low_${k}, &high_${k}, v_${k});` : `    sum_${k} += v_${k};`))}
  }
${lists > 1 ? joined : each((k) => `  ${written(k, isExact ? `${x(k)} + ${sum(k)}` : sum(k))}`)}`)}`
  const [heads, next] = [{ scratch: 0 }, { scratch: 1 }]
  const clear: Step[] = parts === 1 ? [] : [step(CLEAR, [heads], [rows * lists], Math.ceil((rows * lists) / THREADS))]
  return {
    scratchBytes: [4 * rows * lists, 4 * indices],
    steps: [
      step(LINK, [{ input: 1 }, heads, next], [indices, lists], Math.ceil(indices / THREADS)),
      step(wgsl, [{ input: 0 }, { input: 2 }, next, heads, 'output'], [vectors, rows, parts], Math.ceil(rows / (THREADS / walkers)) * parts),
      ...clear,
    ],
  }
}
