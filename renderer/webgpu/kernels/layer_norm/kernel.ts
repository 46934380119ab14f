import type { Dtype } from '@core/case'
import { entry, header, step, storage, working } from '../../wgsl/header'
import { EXCHANGE, forEachKept, planRows, reduction, sumOf, type RowPlan } from '../../wgsl/rows'
import { dimOf, type Kernel } from '../types'

/** The row stays in registers: read once, written once. The variance is taken around the mean, so it cannot cancel. */
const keptBody = ({ width, lanes }: RowPlan, kept: number, type: string) => `
${forEachKept(kept, `  let i{k} = l + ${lanes}u * {k}u;
  let has{k} = live && i{k} < vectors;
  var v{k} = ${working(width)}(0.0);
  if (has{k}) { v{k} = ${working(width)}(x[base + i{k}]); }`)}
  var total = ${working(width)}(0.0);
${forEachKept(kept, '  total += v{k};')}
  let mean = reduce_sum(${sumOf('total', width)}, lane) / length;
  var squares = ${working(width)}(0.0);
${forEachKept(kept, '  if (has{k}) { v{k} -= mean; squares += v{k} * v{k}; }')}
  let scale = inverseSqrt(reduce_sum(${sumOf('squares', width)}, lane) / length + scalar(0u));
${forEachKept(kept, `  if (has{k}) { out[base + i{k}] = ${type}(v{k} * scale * ${working(width)}(weight[i{k}]) + ${working(width)}(bias[i{k}])); }`)}`

/** Rows too long to keep are read three times, the later times from the cache. */
const streamedBody = ({ width, lanes }: RowPlan, type: string) => `
  var total = ${working(width)}(0.0);
  if (live) { for (var i = l; i < vectors; i += ${lanes}u) { total += ${working(width)}(x[base + i]); } }
  let mean = reduce_sum(${sumOf('total', width)}, lane) / length;
  var squares = ${working(width)}(0.0);
  if (live) { for (var i = l; i < vectors; i += ${lanes}u) { let d = ${working(width)}(x[base + i]) - mean; squares += d * d; } }
  let scale = inverseSqrt(reduce_sum(${sumOf('squares', width)}, lane) / length + scalar(0u));
  if (live) {
    for (var i = l; i < vectors; i += ${lanes}u) {
      out[base + i] = ${type}((${working(width)}(x[base + i]) - mean) * scale * ${working(width)}(weight[i]) + ${working(width)}(bias[i]));
    }
  }`

function text(plan: RowPlan, dtype: Dtype): string {
  const type = storage(dtype, plan.width)
  const bindings = [...['x', 'weight', 'bias'].map((name) => ({ name, type })), { name: 'out', type, write: true }]
  return `${header(bindings, dtype === 'f16')}${EXCHANGE}
${reduction('sum', plan.lanes, (a, b) => `${a} + ${b}`)}
${entry(`  let row = group * ${plan.rowsPerGroup}u + lane / ${plan.lanes}u;
  let l = lane % ${plan.lanes}u;
  let live = row < dim(0u);
  let vectors = dim(1u);
  let length = f32(dim(2u));
  let base = row * vectors;
${plan.kept === undefined ? streamedBody(plan, type) : keptBody(plan, plan.kept, type)}`)}`
}

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [tokens, dim] = [dimOf(shape, 0), dimOf(shape, 1)]
    const plan = planRows(tokens, dim)
    return { scratchBytes: [], steps: [step(text(plan, shape.dtype), [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [tokens, plan.vectors, dim], plan.groups, shape.scalars)] }
  },
}
export default kernel
