import { mapped } from '../mapped'
import type { KernelShape, Program } from '../../kernels/types'
import type { RowOp, RowPass } from './types'

/** Rows that a thread takes: an element of each is a vector. */
const ROWS = 4
/** Longest rows: of more elements, neighbours write parts of a sector of memory at a time. And elements of all rows that fill a device with so few threads. */
const LONGEST = 2
const FEWEST_ELEMENTS = 2 ** 19

/** Whether threads take rows beside each other: rows of one or two elements, of which there are many. */
export const areShort = (op: RowOp, rows: number, length: number): boolean =>
  length <= LONGEST && rows * length >= FEWEST_ELEMENTS && 'each' in op.result && op.before === undefined && op.functions === undefined && op.tensors.every(({ by, type }) => by !== 'raw' && type === undefined)

/**
 * A row operation whose threads have four rows each: these lie beside each other, so they are as many vectors as a row has elements. Expressions see vectors of four rows
 * where they would see one row, and numbers where a tensor is the same for every row.
 */
export function shortRows(op: RowOp, { dtype }: Pick<KernelShape, 'dtype'>, rows: number, length: number): Program {
  if (!('each' in op.result)) throw new Error('a row operation by several rows of a thread writes each element')
  const columns = Array.from({ length }, (_, k) => k)
  const vectors = Math.ceil((rows * length) / 4)
  /** Element `k` of four rows, of as many vectors. */
  const across = (name: string, k: number) => `vec4<f32>(${Array.from({ length: ROWS }, (_, r) => r * length + k).map((at) => `${name}_in_${Math.floor(at / 4)}.${'xyzw'[at % 4]}`).join(', ')})`
  const read = op.tensors.map(({ name, by }) => columns.map((k) => (by === 'row' ? `  let ${name}_in_${k} = vec4<f32>(${name}_in[min(first + ${k}u, ${vectors - 1}u)]);` : `  let ${name}_${k} = f32(${name}_in[${k}u]);`)).join('\n'))
  const turned = op.tensors.flatMap(({ name, by }) => (by === 'row' ? columns.map((k) => `  let ${name}_${k} = ${across(name, k)};`) : []))
  const seen = (k: number) => op.tensors.map(({ name }) => `let ${name} = ${name}_${k};`).join(' ')
  const sums = (all: Readonly<Record<string, string>>) => `${Object.keys(all).map((name) => `  var ${name} = VF(0.0);`).join('\n')}
${columns.map((k) => `  { let index = ${k}u; ${seen(k)} ${Object.entries(all).map(([name, expression]) => `${name} += ${expression};`).join(' ')} }`).join('\n')}`
  const passed = (pass: RowPass): string => {
    if ('sums' in pass) return sums(pass.sums)
    if ('moments' in pass) return `${sums({ [pass.sum]: pass.moments })}\n${sums({ [pass.squares]: `(${pass.moments} - ${pass.sum} / length) * (${pass.moments} - ${pass.sum} / length)` })}`
    const { softmax, highest, total } = pass
    return `${columns.map((k) => `  ${k === 0 ? `var ${highest} = VF(0.0); ` : ''}{ let index = ${k}u; ${seen(k)} ${highest} = ${k === 0 ? softmax : `max(${highest}, ${softmax})`}; }`).join('\n')}\n${sums({ [total]: `exp(${softmax} - ${highest})` })}`
  }
  const { each, to } = op.result
  const body = `  let first = i * ${length}u;
  const length = ${length}.0;
${read.join('\n')}
${turned.join('\n')}
${op.passes.map(passed).join('\n')}
${op.after ?? ''}
${columns.map((k) => `  var result_${k} = VF(0.0);\n  { let index = ${k}u; ${seen(k)} result_${k} = VF(${each}); }`).join('\n')}
${columns.map((v) => `  if (first + ${v}u < ${vectors}u) { out[first + ${v}u] = own4(vec4<f32>(${[0, 1, 2, 3].map((c) => 4 * v + c).map((at) => `result_${at % length}.${'xyzw'[Math.floor(at / length)]}`).join(', ')})); }`).join('\n')}`
  return mapped({
    tensors: [...op.tensors.map(({ name, from, by }) => ({ name: `${name}_in`, at: from, type: by === 'row' ? ('own4' as const) : ('own' as const) })), { name: 'out', at: to, type: 'own4', write: true }],
    functions: 'alias VF = vec4<f32>;\n',
    body,
    scalars: op.scalars ?? [],
  }, dtype, Math.ceil(rows / ROWS))
}
