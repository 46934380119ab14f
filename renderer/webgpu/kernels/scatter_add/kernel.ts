import { entry, header, step, THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { joinPrograms } from '../../wgsl/row-op'
import { dimOf, type Kernel } from '../types'

/** WGSL adds only integers atomically: a float is exchanged until nobody came in between. */
const ADD = `${header([{ name: 'indices', type: 'i32' }, { name: 'src', type: 'f32' }, { name: 'out', type: 'atomic<u32>', write: true }], false)}
${entry(`  let i = group * ${THREADS}u + lane;
  if (i >= dim(0u)) { return; }
  let to = u32(indices[i / dim(1u)]) * dim(1u) + i % dim(1u);
  var old = atomicLoad(&out[to]);
  loop {
    let exchanged = atomicCompareExchangeWeak(&out[to], old, bitcast<u32>(bitcast<f32>(old) + src[i]));
    if (exchanged.exchanged) { break; }
    old = exchanged.old_value;
  }`)}`

/** A copy of x, then every source added to its place; the order of the additions is open. */
const kernel: Kernel = {
  dtypes: ['f32'],
  build: (shape) => {
    const [rows, dim, indices] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
    const copy = mapped({ tensors: [{ name: 'x', at: { input: 0 }, type: 'own4' }, { name: 'out', at: 'output', type: 'own4', write: true }], body: '  out[i] = x[i];' }, shape.dtype, Math.ceil((rows * dim) / 4))
    const add = step(ADD, [{ input: 1 }, { input: 2 }, 'output'], [indices * dim, dim], Math.ceil((indices * dim) / THREADS))
    return joinPrograms([copy, { scratchBytes: [], steps: [add] }])
  },
}
export default kernel
