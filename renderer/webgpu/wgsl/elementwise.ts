import type { Dtype } from '@core/case'
import type { Kernel } from '../kernels/types'
import { dimOf } from '../kernels/types'
import { entry, header, step, storage, THREADS } from './header'

export interface Elementwise {
  inputs: 1 | 2
  /** WGSL of one vec4<f32> result from `a` (and `b`), each a vec4<f32>. */
  expression: string
  /** Functions the expression calls. */
  functions?: string
  /** Move the bits as they are: no conversion to f32 and back. */
  raw?: boolean
}

/** Below this many vectors each thread takes one, so that a small tensor still spreads over the device. */
const FEW_VECTORS = 1 << 19
const VECTORS_PER_THREAD = 4

/**
 * One result per element, in vectors of four. Tensors are padded to whole vectors (tensors.ts), so an odd length costs
 * one partly used vector and no branch. The vectors of a thread lie a workgroup apart, which keeps accesses contiguous.
 */
export function elementwise({ inputs, expression, functions = '', raw = false }: Elementwise): Kernel {
  const names = inputs === 2 ? ['a', 'b'] : ['a']
  const text = (dtype: Dtype, perThread: number) => {
    const type = raw ? (dtype === 'f16' ? 'vec2<u32>' : 'vec4<u32>') : storage(dtype, 4)
    const load = (name: string) => (raw ? `${name}_in[i]` : `vec4<f32>(${name}_in[i])`)
    const bindings = [...names.map((name) => ({ name: `${name}_in`, type })), { name: 'out', type, write: true }]
    const one = `if (i < dim(0u)) { ${names.map((name) => `let ${name} = ${load(name)};`).join(' ')} out[i] = ${type}(${expression}); }`
    const body = Array.from({ length: perThread }, (_, k) => `  { let i = first + ${k * THREADS}u; ${one} }`)
    return `${header(bindings, !raw && dtype === 'f16')}${functions}${entry(`  let first = group * ${THREADS * perThread}u + lane;\n${body.join('\n')}`)}`
  }
  return {
    dtypes: ['f32', 'f16'],
    movesBits: raw,
    build: (shape) => {
      const vectors = Math.ceil(dimOf(shape, 0) / 4)
      const perThread = vectors < FEW_VECTORS ? 1 : VECTORS_PER_THREAD
      const buffers = [...names.map((_, input) => ({ input })), 'output' as const]
      return { scratchBytes: [], steps: [step(text(shape.dtype, perThread), buffers, [vectors], Math.ceil(vectors / (THREADS * perThread)))] }
    },
  }
}
