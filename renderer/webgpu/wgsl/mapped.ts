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

/** Numbers that a thread takes together, and how many there are where a thread for each would wait for memory too often. */
const TOGETHER = 4
const MANY = 2 ** 20

/** The numbers that a thread of a mapped kernel takes. */
export interface Numbers {
  /** Text for each of them. */
  each(text: (u: number) => string): string
  /** Declares them. */
  place: string
  /** A number that may be read. */
  at(u: number): string
  /** Writes a value to an element of that number. */
  store(u: number, name: string, value: string): string
  threads: number
}

/**
 * `count` numbers for threads, each of which takes several where they are many: neighbours take neighbours, all reads of a thread are on their way
 * together. One a thread unless `together`: a half is written with its neighbour (f16-storage.ts). `counted` is WGSL of the count.
 */
export function numbersOf(count: number, together: boolean, counted = `${count}u`): Numbers {
  if (count < MANY || !together) return { each: (text) => text(0), place: '', at: () => 'i', store: (_u, name, value) => `  ${name}[i] = ${value};`, threads: count }
  const each: Numbers['each'] = (text) => Array.from({ length: TOGETHER }, (_, u) => text(u)).join('\n')
  return {
    each,
    place: each((u) => `  let i_${u} = (i / ${THREADS}u * ${TOGETHER}u + ${u}u) * ${THREADS}u + i % ${THREADS}u;\n  let at_${u} = min(i_${u}, ${counted} - 1u);`),
    at: (u) => `at_${u}`,
    store: (u, name, value) => `  if (i_${u} < ${counted}) { ${name}[i_${u}] = ${value}; }`,
    threads: Math.ceil(count / (TOGETHER * THREADS)) * THREADS,
  }
}

/** One thread for each of `count` numbers: what has no elements to share between threads. */
export function mapped({ tensors, functions = '', body, dims = [], scalars = [] }: Mapped, dtype: Dtype, count: number): Program {
  const types = { own: storage(dtype, 1), own4: storage(dtype, 4), f32: 'f32', i32: 'i32', fourI32: 'vec4<i32>', pair: 'vec2<u32>' }
  const bindings = tensors.map(({ name, type = 'own', write }) => ({ name, type: types[type], ...(write ? { write } : {}) }))
  const text = `${header(bindings, dtype === 'f16')}alias own = ${types.own};\nalias own4 = ${types.own4};\n${functions}${entry(`  let i = group * ${THREADS}u + lane;\n  if (i >= dim(0u)) { return; }\n${body}`)}`
  return { scratchBytes: [], steps: [step(text, tensors.map(({ at }) => at), [count, ...dims], Math.ceil(count / THREADS), scalars)] }
}
