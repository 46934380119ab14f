import { mapped } from '../../wgsl/mapped'
import { dimOf, type KernelShape, type Program } from '../types'
import { fewSteps, FEW_STEPS, SOME_STEPS } from './few-steps'

/** Rows that a thread computes of a column: tiles of so few would stand nearly empty. */
const FEW_ROWS = 8
/** Columns from which on a thread for each fills a device, and steps of k that it may take alone where there are fewer. */
const MANY_COLUMNS = 1 << 14
const SHORT = 64
/** Multiply-adds up to which a thread for each output is faster than tiles, which take longer to start. */
const TINY = 1 << 15
/** Steps of k that a thread takes alone before a tile has started, while all multiply-adds are so few. */
const SHORT_STEPS = 192
const LITTLE = 2 ** 22
/** Steps of k that a thread loads together: more of long sums of one output. */
const AT_ONCE = 4
const AT_ONCE_OF_MANY = 8
const MANY_STEPS = 100
/** Products of which each would have a workgroup that shares its steps; and steps that are worth it whatever the outputs, or outputs below which fewer are. */
const MANY_PRODUCTS = 1024
const SHARED_STEPS = 96
const SHARED_OUTPUTS = 2 ** 13
/** Outputs from which on it counts how those of few steps are written. */
const MANY_OUTPUTS = 3 * 2 ** 17
/** Rows that leave most of a tile empty. */
const LOW = 64
/** Products of which many would each fill a corner of a tile. */
const SMALL = 16

/** A product without tiles, where these would stand nearly empty: few rows, or hardly any work. Undefined for others. */
export function thinProduct(shape: KernelShape): Program | undefined {
  const [batch, m, n, k, transA, transB] = [0, 1, 2, 3, 4, 5].map((i) => dimOf(shape, i)) as [number, number, number, number, number, number]
  // Of a longer k threads share the steps (long.ts), unless outputs are many.
  const shared = k > SHORT && Math.min(m, n) <= SMALL && batch * m * n < MANY_COLUMNS
  const isTiny = k <= 4 * SHORT && !shared && (batch * m * n * k <= TINY || (m <= SMALL && n <= SMALL))
  // Halves are written with their neighbours by a thread for each output (f16-storage.ts).
  const isFew = (k <= FEW_STEPS && n % 4 !== 0) || (k <= SOME_STEPS && (n % 4 !== 0 || m <= LOW) && shape.dtype === 'f32')
  const outputs = m * n
  const isWorthSharing = batch <= MANY_PRODUCTS && (k >= SHARED_STEPS || batch * outputs < SHARED_OUTPUTS)
  const isWritten = isFew && shape.dtype === 'f32' && batch * outputs >= MANY_OUTPUTS
  const rows = m <= FEW_ROWS && transB === 0 && (k <= SHORT || batch * n >= MANY_COLUMNS) ? m : isTiny || (k <= SHORT_STEPS && batch * outputs * k <= LITTLE && !(shared && isWorthSharing) && !isWritten) || (isFew && shape.dtype === 'f16') ? 1 : undefined
  if (rows === undefined) return isFew ? fewSteps(shape) : undefined
  const steps = Array.from({ length: Math.min(rows === 1 && k > MANY_STEPS ? AT_ONCE_OF_MANY : AT_ONCE, k) }, (_, u) => u)
  const each = (text: (r: number) => string) => Array.from({ length: rows }, (_, r) => text(r)).join('\n')
  // dims 1 to 4: m, n, k, groups of rows.
  return mapped({
    tensors: [{ name: 'a', at: { input: 0 } }, { name: 'b', at: { input: 1 } }, { name: 'out', at: 'output', write: true }],
    body: `  let m = dim(1u);
  let n = dim(2u);
  let k = dim(3u);
  let column = i % n;
  let first = i / n % dim(4u) * ${rows}u;
  let product = i / n / dim(4u);
${each((r) => `  var sum_${r} = 0.0;`)}
  for (var l = 0u; l < k; l += ${steps.length}u) {
${steps.map((u) => `    let l_${u} = ${u === 0 ? 'l' : `min(l + ${u}u, k - 1u)`};
    let x_${u} = ${u === 0 ? '' : 'select(0.0, '}f32(b[${transB === 1 ? `(product * n + column) * k + l_${u}` : `(product * k + l_${u}) * n + column`}])${u === 0 ? '' : `, l + ${u}u < k)`};
${each((r) => `    let a_${u}_${r} = f32(a[${transA === 1 ? `(product * k + l_${u}) * m + first + ${r}u` : `(product * m + first + ${r}u) * k + l_${u}`}]);`)}`).join('\n')}
${steps.map((u) => each((r) => `    sum_${r} = fma(a_${u}_${r}, x_${u}, sum_${r});`)).join('\n')}
  }
${each((r) => `  out[(product * m + first + ${r}u) * n + column] = own(sum_${r});`)}`,
    dims: [m, n, k, m / rows],
  }, shape.dtype, batch * (m / rows) * n)
}
