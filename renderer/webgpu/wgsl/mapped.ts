import type { Dtype } from '@core/case'
import type { BufferName, Program } from '../kernels/types'
import { entry, header, step, storage, THREADS } from './header'

/** A tensor that a mapped kernel reads or writes: elements of the case's own type, vectors of four of them, a type of its own (`fourI32`: vectors of four i32), or pairs of u32. */
export interface MappedTensor {
  name: string
  at: BufferName
  type?: 'own' | 'own4' | 'f32' | 'i32' | 'fourI32' | 'pair'
  write?: boolean
}

export interface Mapped {
  tensors: readonly MappedTensor[]
  /** WGSL functions. */
  functions?: string
  /** Statements for the number `i` below `count` (u32); `own` and `own4` name the case's types, `i` and dims count from dim(1) on. */
  body: string
  /** Integers, dim(1) and following; dim(0) is the count. */
  dims?: readonly number[]
  scalars?: readonly number[]
}

/** One thread for each of `count` numbers: what has no elements to share between threads. */
export function mapped({ tensors, functions = '', body, dims = [], scalars = [] }: Mapped, dtype: Dtype, count: number): Program {
  const types = { own: storage(dtype, 1), own4: storage(dtype, 4), f32: 'f32', i32: 'i32', fourI32: 'vec4<i32>', pair: 'vec2<u32>' }
  const bindings = tensors.map(({ name, type = 'own', write }) => ({ name, type: types[type], ...(write ? { write } : {}) }))
  const text = `${header(bindings, dtype === 'f16')}alias own = ${types.own};\nalias own4 = ${types.own4};\n${functions}${entry(`  let i = group * ${THREADS}u + lane;\n  if (i >= dim(0u)) { return; }\n${body}`)}`
  return { scratchBytes: [], steps: [step(text, tensors.map(({ at }) => at), [count, ...dims], Math.ceil(count / THREADS), scalars)] }
}
