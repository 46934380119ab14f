import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import { MOST_COVERED, type OutputGrid } from '../../wgsl/output-grid'
import type { Program } from '../types'
import { columnsText } from './columns'

/** Terms of a sum up to which a thread takes no longer than tiles, and those where it has fewer than so many outputs, for which it reads about as much as it multiplies. */
const MOST_TERMS = 64
const FEW_TERMS = 32
const ENOUGH_OUTPUTS = 8
/** Filters and positions of a thread, most first: it reads an element of x once for all its filters, and a weight for all its positions. */
const OWN = [[8, 4], [4, 4], [4, 2], [2, 2], [1, 1]] as const
/** Threads beside each other, which write whole sectors. Few of them leave a workgroup more filters, for which it reads the same elements. */
const WIDTHS = [32, 64, 128, 256]
/** Workgroups that leave little of any device known here idle, and weights that fit the 16 KiB of workgroup memory that every adapter has. */
const ENOUGH_GROUPS = 264
const WEIGHTS = 4096

/** Weights of a thread's filters for a term: whole vectors. */
const vectorsOf = (down: number): number => Math.ceil(down / 4)

/** How threads take `filters` of each of `groups`, rows of which a thread has neighbours, at `positions` of all images: fewer each where workgroups are few. Undefined where sums are long for that. */
export function planFewTerms(groups: number, filters: number, positions: number, terms: number): OutputGrid | undefined {
  if (terms > MOST_TERMS) return undefined
  const planned = ([most, across]: readonly [number, number]): OutputGrid => {
    const plans = WIDTHS.map((wide): OutputGrid => {
      const high = THREADS / wide
      const below = Math.ceil(filters / (most * high))
      return { wide, high, across, down: Math.ceil(filters / (below * high)), beside: Math.ceil(positions / (wide * across)), below }
    }).filter(({ high, down }) => high * vectorsOf(down) * 4 * terms <= WEIGHTS)
    const covered = ({ wide, high, down, beside, below }: OutputGrid) => wide * across * beside * high * down * below
    const least = Math.min(...plans.map(covered))
    return plans.find((plan) => covered(plan) <= MOST_COVERED * least)!
  }
  const plans = OWN.map(planned)
  const plan = plans.find(({ beside, below }) => groups * beside * below >= ENOUGH_GROUPS) ?? plans.at(-1)!
  return terms <= FEW_TERMS || plan.across * plan.down >= ENOUGH_OUTPUTS ? plan : undefined
}

/** Groups of a convolution, terms of a filter, and the paddings of depth, height and width. */
export interface FewTermsShape {
  groups: number
  terms: number
  paddings: readonly number[]
}

/**
 * A convolution of short sums without tiles: a thread has some filters at some positions of all images, whose elements of x it reads where they lie.
 * Weights are in workgroup memory. `extents` is WGSL of the op's dims as constants.
 */
export function fewTerms(dtype: 'f32' | 'f16', plan: OutputGrid, extents: string, { groups, terms, paddings }: FewTermsShape): Program {
  const type = storage(dtype, 1)
  const { wide, high, across, down, beside, below } = plan
  const [rows, columns, vectors] = [numbers(down), numbers(across), numbers(vectorsOf(down))]
  const each = (text: (r: number, c: number) => string) => rows.flatMap((r) => columns.map((c) => text(r, c))).join('\n')
  const text = columnsText(across, wide, paddings)
  const slots = high * vectors.length
  const wgsl = `${header([{ name: 'x', type }, { name: 'weight', type }, { name: 'out', type, write: true }], dtype === 'f16')}
${extents}const of_group = filters / groups;
var<workgroup> weights: array<vec4<f32>, ${terms * slots}>;
${entry(`  let first_column = group % ${beside}u * ${wide * across}u + lane % ${wide}u;
  let block = group / ${beside}u % ${below}u;
  let product = group / ${beside * below}u;
  if (product >= groups) { return; }
  let first = (block * ${high}u + lane / ${wide}u) * ${down}u;
  for (var i = lane; i < ${terms * 4 * slots}u; i += ${THREADS}u) {
    let row = i % ${4 * slots}u;
    let own = (block * ${high}u + row / ${4 * vectors.length}u) * ${down}u + row % ${4 * vectors.length}u;
    weights[i / 4u][i % 4u] = f32(weight[(product * of_group + min(own, of_group - 1u)) * ${terms}u + i / ${4 * slots}u]);
  }
${text.origins}
${each((r, c) => `  var sum_${r}_${c} = 0.0;`)}
  workgroupBarrier();
  for (var t = 0u; t < taps; t++) {
${text.tap}
    for (var channel = 0u; channel < per_group; channel++) {
      let in_plane = channel * plane;
      let own = (channel * taps + t) * ${slots}u + lane / ${wide}u * ${vectors.length}u;
${columns.map((c) => `      let x_${c} = ${text.met(c, 'in_plane')};`).join('\n')}
${vectors.map((v) => `      let weights_${v} = weights[own + ${v}u];`).join('\n')}
${each((r, c) => `      sum_${r}_${c} = fma(weights_${Math.floor(r / 4)}[${r % 4}], x_${c}, sum_${r}_${c});`)}
    }
  }
${columns.map((c) => `  if (first_column + ${c * wide}u < batch * outputs) {
    let to_${c} = (column_${c} / outputs * filters + product * of_group + first) * outputs + column_${c} % outputs;
${rows.map((r) => `    if (first + ${r}u < of_group) { out[to_${c} + ${r}u * outputs] = ${type}(sum_${r}_${c}); }`).join('\n')}
  }`).join('\n')}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, 'output'], [], beside * below * groups)] }
}
