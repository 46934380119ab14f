import { entry, header, step, storage, THREADS, widthFor, working } from '../../wgsl/header'
import { powerOfTwoFrom } from '../../wgsl/rows'
import type { Program, Step } from '../types'

/** Vectors of a row that a thread keeps, and those that it should at least have where rows are long. */
const MOST_KEPT = 4
const WANTED = 3
/** Elements of a row from which on a list of its sources costs less than exchanges of each element. */
const FEWEST_ELEMENTS = 12

/** How threads take the rows of the output: `lanes` of them share one, in `parts` of which each thread keeps `kept` vectors. */
export interface LinkedPlan {
  vectors: number
  lanes: number
  kept: number
  parts: number
}

/** Undefined where rows are short. */
export function planLinked(dim: number): LinkedPlan | undefined {
  if (dim < FEWEST_ELEMENTS) return undefined
  const vectors = dim / widthFor(dim)
  const lanes = Math.min(THREADS, powerOfTwoFrom(Math.ceil(vectors / WANTED)))
  const kept = Math.min(MOST_KEPT, Math.ceil(vectors / lanes))
  return { vectors, lanes, kept, parts: Math.ceil(vectors / (lanes * kept)) }
}

/** Links each source in front of those that its row has already: 0 ends a list, and source s is s + 1. Lists are empty before. */
const LINK = `${header([{ name: 'indices', type: 'i32' }, { name: 'heads', type: 'atomic<u32>', write: true }, { name: 'next', type: 'u32', write: true }], false)}
${entry(`  let s = group * ${THREADS}u + lane;
  if (s >= dim(0u)) { return; }
  next[s] = atomicExchange(&heads[indices[s]], s + 1u);`)}`

const CLEAR = `${header([{ name: 'heads', type: 'u32', write: true }], false)}
${entry(`  let row = group * ${THREADS}u + lane;
  if (row < dim(0u)) { heads[row] = 0u; }`)}`

/**
 * Many sources for many rows, without atomic additions: each row has a list of its sources, and is read and written once. Undefined where rows are short.
 * Lists are emptied again by whoever reads them, or afterwards where several workgroups do.
 */
export function linked(rows: number, dim: number, indices: number): Program | undefined {
  const plan = planLinked(dim)
  if (!plan) return undefined
  const { vectors, lanes, kept, parts } = plan
  const width = widthFor(dim)
  const type = storage('f32', width)
  const each = (text: (k: number) => string) => Array.from({ length: kept }, (_, k) => text(k)).join('\n')
  const wgsl = `${header([{ name: 'x', type }, { name: 'src', type }, { name: 'next', type: 'u32' }, { name: 'heads', type: 'u32', write: true }, { name: 'out', type, write: true }], false)}
${entry(`  let vectors = dim(0u);
  let wanted = group / dim(2u) * ${THREADS / lanes}u + lane / ${lanes}u;
  let live = wanted < dim(1u);
  let row = min(wanted, dim(1u) - 1u);
  let first = group % dim(2u) * ${lanes * kept}u + lane % ${lanes}u;
${each((k) => `  let in_${k} = live && first + ${k * lanes}u < vectors;
  let at_${k} = min(first + ${k * lanes}u, vectors - 1u);
  var sum_${k} = ${working(width)}(x[row * vectors + at_${k}]);`)}
  var s = select(0u, heads[row], live);
${parts === 1 ? `  workgroupBarrier();
  if (live && lane % ${lanes}u == 0u) { heads[row] = 0u; }
` : ''}  while (s != 0u) {
    let base = (s - 1u) * vectors;
    s = next[s - 1u];
${each((k) => `    let v_${k} = src[base + at_${k}];`)}
${each((k) => `    sum_${k} += v_${k};`)}
  }
${each((k) => `  if (in_${k}) { out[row * vectors + at_${k}] = sum_${k}; }`)}`)}`
  const [heads, next] = [{ scratch: 0 }, { scratch: 1 }]
  const clear: Step[] = parts === 1 ? [] : [step(CLEAR, [heads], [rows], Math.ceil(rows / THREADS))]
  return {
    scratchBytes: [4 * rows, 4 * indices],
    steps: [
      step(LINK, [{ input: 1 }, heads, next], [indices], Math.ceil(indices / THREADS)),
      step(wgsl, [{ input: 0 }, { input: 2 }, next, heads, 'output'], [vectors, rows, parts], Math.ceil(rows / (THREADS / lanes)) * parts),
      ...clear,
    ],
  }
}
