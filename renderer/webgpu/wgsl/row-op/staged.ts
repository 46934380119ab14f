import type { KernelShape, Program } from '../../kernels/types'
import { storage, step } from '../header'
import { planStaged, stagedText, type StagedPlan } from '../staged'
import { LOWEST } from './text'
import type { RowOp, RowPass } from './types'

/** How workgroups take the rows through their memory; undefined where they are computed as they are read. */
export function planStagedRows(op: RowOp, rows: number, length: number): StagedPlan | undefined {
  return 'each' in op.result && op.functions === undefined && op.dims === undefined ? planStaged(rows, length, op.tensors.filter(({ by }) => by === 'row').length) : undefined
}

/** A row operation over short rows of no whole vectors in workgroup memory: threads that read and write their rows themselves touch each sector of memory several times. */
export function stagedRows(op: RowOp, plan: StagedPlan, { dtype }: Pick<KernelShape, 'dtype'>, rows: number, length: number): Program {
  if (!('each' in op.result)) throw new Error('rows in workgroup memory are written, element by element')
  const staged = op.tensors.filter(({ by }) => by === 'row')
  const others = op.tensors.filter(({ by }) => by !== 'row')
  const uses = (text: string, name: string) => new RegExp(`\\b${name}\\b`).test(text)
  const loads = (text: string) => op.tensors.flatMap(({ name, by }) => (by === 'raw' || !uses(text, name) ? [] : [`let ${name} = ${by === 'row' ? `${name}_staged[base + index]` : `f32(${name}_in[index])`};`])).join(' ')
  const each = (text: string) => `    for (var index = 0u; index < ${length}u; index++) { ${loads(text)} ${text} }`
  const sums = (all: Readonly<Record<string, string>>) => `${Object.keys(all).map((name) => `    var ${name} = 0.0;`).join(' ')}
${each(Object.entries(all).map(([name, expression]) => `${name} += ${expression};`).join(' '))}`
  const passed = (pass: RowPass): string => {
    if ('sums' in pass) return sums(pass.sums)
    if ('moments' in pass) return `${sums({ [pass.sum]: pass.moments })}\n${sums({ [pass.squares]: `(${pass.moments} - ${pass.sum} / length) * (${pass.moments} - ${pass.sum} / length)` })}`
    const { softmax, highest, total } = pass
    return `    var ${highest} = ${LOWEST};\n${each(`${highest} = max(${highest}, ${softmax});`)}\n${sums({ [total]: `exp(${softmax} - ${highest})` })}`
  }
  const wgsl = stagedText({
    plan, length, dtype, staged: staged.map(({ name }) => name), functions: 'alias VF = f32; alias VU = u32;\n',
    others: others.map(({ name, by, type }) => ({ name: by === 'raw' ? name : `${name}_in`, type: type ?? storage(dtype, 1) })),
    body: `    let length = ${length}.0;
${[op.before ?? '', ...op.passes.map(passed), op.after ?? ''].join('\n')}
${each(`${staged[0]!.name}_staged[base + index] = ${op.result.each};`)}`,
  })
  return { scratchBytes: [], steps: [step(wgsl, [...[...staged, ...others].map(({ from }) => from), op.result.to], [rows, length, length], Math.ceil(rows / plan.rows), op.scalars)] }
}
