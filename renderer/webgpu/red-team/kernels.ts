import { dimOf, type BufferName, type Kernel, type KernelShape, type Step } from '../kernels/types'
import { entry, header, step, THREADS, type Binding } from '../wgsl/header'

/** A kernel for `add` in f32 that does less than it should. None may end as a valid measurement. */
interface Cheat {
  id: string
  title: string
  kernel: Kernel
}

/** Tensors as raw words: bits that are no numbers pass through whole. */
const ADD: readonly Binding[] = [{ name: 'a', type: 'u32' }, { name: 'b', type: 'u32' }, { name: 'out', type: 'u32', write: true }]
const ADD_BUFFERS: readonly BufferName[] = [{ input: 0 }, { input: 1 }, 'output']

/** One thread per element `i`. */
const perElement = (shape: KernelShape, body: string, more: readonly Binding[] = [], buffers: readonly BufferName[] = []): Step => {
  const n = dimOf(shape, 0)
  const wgsl = `${header([...ADD, ...more], false)}
fn sum_of(x: u32, y: u32) -> u32 { return bitcast<u32>(bitcast<f32>(x) + bitcast<f32>(y)); }
${entry(`  let i = group * ${THREADS}u + lane;
  if (i >= dim(0u)) { return; }
  ${body}`)}`
  return step(wgsl, [...ADD_BUFFERS, ...buffers], [n], Math.ceil(n / THREADS))
}

const simple = (body: string): Kernel => ({ dtypes: ['f32'], build: (shape) => ({ scratchBytes: [], steps: [perElement(shape, body)] }) })

/** Scratch 0 keeps the first output, scratch 1 says that there is one. */
const stale: Kernel = {
  dtypes: ['f32'],
  build: (shape) => ({
    scratchBytes: [dimOf(shape, 0) * 4, 4],
    steps: [
      perElement(shape, 'if (known[0] == 0u) { kept[i] = sum_of(a[i], b[i]); }\n  out[i] = kept[i];', [{ name: 'kept', type: 'u32', write: true }, { name: 'known', type: 'u32', write: true }], [{ scratch: 0 }, { scratch: 1 }]),
      step(`${header([{ name: 'known', type: 'u32', write: true }], false)}${entry('  if (lane == 0u) { known[0] = 1u; }')}`, [{ scratch: 1 }], [0], 1),
    ],
  }),
}

export const RED_TEAM: readonly Cheat[] = [
  { id: 'red-noop', title: 'Red team: writes nothing', kernel: simple('if (dim(0u) == 0u) { out[i] = sum_of(a[i], b[i]); }') },
  { id: 'red-half', title: 'Red team: writes half of the output', kernel: simple('if (i < dim(0u) / 2u) { out[i] = sum_of(a[i], b[i]); }') },
  { id: 'red-stale', title: 'Red team: returns its first output for ever', kernel: stale },
  { id: 'red-nan', title: 'Red team: writes NaN', kernel: simple('out[i] = 0x7fc00000u;') },
  {
    id: 'red-half-precision',
    title: 'Red team: adds with eight bits of precision',
    kernel: simple('out[i] = sum_of((a[i] + 0x8000u) & 0xffff0000u, (b[i] + 0x8000u) & 0xffff0000u);'),
  },
]
