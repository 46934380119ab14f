import type { Dtype } from '@core/case'
import type { BufferName, Kernel, KernelShape } from '../kernels/types'
import { dimOf } from '../kernels/types'
import { entry, header, step, storage } from './header'

export interface Elementwise {
  inputs: 0 | 1 | 2 | 3
  /** WGSL of one vec4<f32> result from `a`, `b` and `c`, each a vec4<f32>, and the scalars `s0`, `s1`, ..., each an f32. */
  expression: string
  /** Functions the expression calls. */
  functions?: string
  /** How many of the op's scalars the expression uses. */
  scalars?: number
  /** Move the bits as they are: no conversion to f32 and back. */
  raw?: boolean
}

/** Threads of a workgroup, each with one vector: on an H200 2 % faster than twice as many, or several vectors each. */
const GROUP = 128

/** What stands at dims[2] of a binary op whose second operand is broadcast (core/ops/elementwise). */
const BROADCAST = ['none', 'row', 'column', 'scalar'] as const
type Broadcast = (typeof BROADCAST)[number]

/** The index of the broadcast operand's element for output element `e`; rows have dim(1) elements. */
const BROADCAST_AT: Readonly<Record<Exclude<Broadcast, 'none'>, string>> = { row: 'e % dim(1u)', column: 'e / dim(1u)', scalar: '0u' }

function broadcastOf(shape: KernelShape): Broadcast {
  return BROADCAST[shape.dims[2] ?? 0] ?? 'none'
}

/**
 * One result per element, in vectors of four. Tensors are padded to whole vectors (tensors.ts), so an odd length costs
 * one partly used vector and no branch.
 */
export function elementwise({ inputs, expression, functions = '', scalars = 0, raw = false }: Elementwise): Kernel {
  const names = ['a', 'b', 'c'].slice(0, inputs)
  const text = (dtype: Dtype, broadcast: Broadcast) => {
    const type = raw ? (dtype === 'f16' ? 'vec2<u32>' : 'vec4<u32>') : storage(dtype, 4)
    const spread = (name: string) => broadcast !== 'none' && name === 'b'
    const load = (name: string) => {
      if (spread(name)) return `vec4<f32>(${[0, 1, 2, 3].map((lane) => `f32(b_in[spread(4u * i + ${lane}u)])`).join(', ')})`
      return raw ? `${name}_in[i]` : `vec4<f32>(${name}_in[i])`
    }
    const bindings = [...names.map((name) => ({ name: `${name}_in`, type: spread(name) ? storage(dtype, 1) : type })), { name: 'out', type, write: true }]
    // The last vector may reach into the padding, whose broadcast operand is the last one there is.
    const helper = broadcast === 'none' ? '' : `fn spread(e: u32) -> u32 { return min(${BROADCAST_AT[broadcast]}, dim(3u)); }\n`
    const given = Array.from({ length: scalars }, (_, i) => `  let s${i} = scalar(${i}u);\n`).join('')
    const one = `if (i < dim(0u)) { ${names.map((name) => `let ${name} = ${load(name)};`).join(' ')} out[i] = ${type}(${expression}); }`
    return `${header(bindings, !raw && dtype === 'f16')}${helper}${functions}${entry(`${given}  let i = group * ${GROUP}u + lane;\n  ${one}`, GROUP)}`
  }
  return {
    dtypes: ['f32', 'f16'],
    anyF16: raw,
    elementwise: true,
    build: (shape) => {
      const n = dimOf(shape, 0)
      const vectors = Math.ceil(n / 4)
      const buffers: BufferName[] = [...names.map((_, input) => ({ input })), 'output']
      const broadcast = broadcastOf(shape)
      const dims = broadcast === 'none' ? [vectors] : [vectors, dimOf(shape, 1), 0, lastOf(broadcast, n, dimOf(shape, 1))]
      return { scratchBytes: [], steps: [step(text(shape.dtype, broadcast), buffers, dims, Math.ceil(vectors / GROUP), shape.scalars)] }
    },
  }
}

/** Index of the last element of a broadcast operand. */
const lastOf = (broadcast: Broadcast, n: number, cols: number): number => (broadcast === 'row' ? cols : broadcast === 'column' ? n / cols : 1) - 1
