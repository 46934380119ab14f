import type { Dtype } from '@core/case'
import { entry, header, step, storage, working } from '../../wgsl/header'
import { EXCHANGE, forEachKept, maxOf, planRows, reduction, sumOf, type RowPlan } from '../../wgsl/rows'
import { dimOf, type Kernel } from '../types'

/** Below every finite input, and e to the power of it is 0. */
const LOWEST = '-1e30'

/** The row stays in registers: read once, written once. */
const keptBody = ({ width, lanes }: RowPlan, kept: number, type: string) => `
${forEachKept(kept, `  let i{k} = l + ${lanes}u * {k}u;
  var v{k} = ${working(width)}(${LOWEST});
  if (live && i{k} < vectors) { v{k} = ${working(width)}(x[base + i{k}]); }`)}
  var top = ${working(width)}(${LOWEST});
${forEachKept(kept, '  top = max(top, v{k});')}
  let highest = reduce_max(${maxOf('top', width)}, lane);
  var total = ${working(width)}(0.0);
${forEachKept(kept, '  v{k} = exp(v{k} - highest); total += v{k};')}
  let scale = 1.0 / reduce_sum(${sumOf('total', width)}, lane);
${forEachKept(kept, `  if (live && i{k} < vectors) { out[base + i{k}] = ${type}(v{k} * scale); }`)}`

/**
 * Rows too long to keep: maximum and sum in one reading, rescaling the sum when the maximum rises (Milakov & Gimelshein
 * 2018), then a second reading to write.
 */
const streamedBody = ({ width, lanes }: RowPlan, type: string) => `
  var top = ${LOWEST};
  var total = 0.0;
  if (live) {
    for (var i = l; i < vectors; i += ${lanes}u) {
      let v = ${working(width)}(x[base + i]);
      let next = max(top, ${maxOf('v', width)});
      let e = exp(v - next);
      total = total * exp(top - next) + ${sumOf('e', width)};
      top = next;
    }
  }
  let highest = reduce_max(top, lane);
  let scale = 1.0 / reduce_sum(total * exp(top - highest), lane);
  if (live) {
    for (var i = l; i < vectors; i += ${lanes}u) { out[base + i] = ${type}(exp(${working(width)}(x[base + i]) - highest) * scale); }
  }`

function text(plan: RowPlan, dtype: Dtype): string {
  const type = storage(dtype, plan.width)
  return `${header([{ name: 'x', type }, { name: 'out', type, write: true }], dtype === 'f16')}${EXCHANGE}
${reduction('max', plan.lanes, (a, b) => `max(${a}, ${b})`)}${reduction('sum', plan.lanes, (a, b) => `${a} + ${b}`)}
${entry(`  let row = group * ${plan.rowsPerGroup}u + lane / ${plan.lanes}u;
  let l = lane % ${plan.lanes}u;
  let live = row < dim(0u);
  let vectors = dim(1u);
  let base = row * vectors;
${plan.kept === undefined ? streamedBody(plan, type) : keptBody(plan, plan.kept, type)}`)}`
}

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [rows, cols] = [dimOf(shape, 0), dimOf(shape, 1)]
    const plan = planRows(rows, cols)
    return { scratchBytes: [], steps: [step(text(plan, shape.dtype), [{ input: 0 }, 'output'], [rows, plan.vectors], plan.groups)] }
  },
}
export default kernel
