import type { BufferName, Program, SubgroupMatrices } from '../../kernels/types'
import { entry, header, numbers, step, THREADS } from '../header'
import type { MatrixPlan } from './plan'
import { elementsOf, isVectors, keptText, VECTOR_BYTES, type MatrixOperand } from './tile'

type Component = SubgroupMatrices['component']

/** The time of a product, in the unit of its plan, from which on copies are faster, what each of their bytes adds to it, and more of those beyond so many, which caches do not keep. */
const LEAST = 3e6
const BYTE = 0.25
const FAR = { from: 2 ** 25, byte: 0.6 }
/** Bytes of a copy at most: rows of a few elements take several times as many, and more may be beyond what a device binds where the operand is not. */
const MOST = 2 ** 30

const WORDS = VECTOR_BYTES / 4

/** An input that is copied before it is read: its rows, the elements of each, and the vectors of each in the copy, which has zeros behind a row. */
export interface PaddedCopy {
  input: number
  rows: number
  length: number
  vectors: number
}

const bytesOf = ({ rows, vectors }: PaddedCopy): number => VECTOR_BYTES * rows * vectors

/** Copies rows of elements, each into whole vectors. dims: rows, elements of a row, vectors of a row. */
function copyText(component: Component, length: number): string {
  const each = elementsOf(component)
  const perWord = each / WORDS
  const isShifted = length % perWord > 0
  const word = (j: number) => (isShifted ? `select((w${j} >> shift) | (w${j + 1} << (32u - shift)), w${j}, shift == 0u)` : `w${j}`)
  return `${header([{ name: 'rows', type: 'u32' }, { name: 'out', type: 'vec4<u32>', write: true }], false)}
${keptText(component)}${entry(`  let length = dim(1u);
  let i = group * ${THREADS}u + lane;
  if (i >= dim(0u) * dim(2u)) { return; }
  let column = i % dim(2u) * ${each}u;
  let first = i / dim(2u) * length + column;
  let at = first / ${perWord}u;
${numbers(WORDS + (isShifted ? 1 : 0)).map((j) => `  let w${j} = rows[at + ${j}u];`).join('\n')}
${isShifted ? `  let shift = ${32 / perWord}u * (first % ${perWord}u);\n` : ''}  out[i] = vec4<u32>(${numbers(WORDS).map((j) => `kept(${word(j)}, max(length, column + ${j * perWord}u) - (column + ${j * perWord}u))`).join(', ')});`)}`
}

/** Whether a product of so much time is faster with these copies. */
export function areFaster(copies: readonly PaddedCopy[], time: number): boolean {
  const each = copies.map(bytesOf)
  const bytes = each.reduce((sum, one) => sum + one, 0)
  return bytes > 0 && Math.max(...each) <= MOST && time > LEAST + BYTE * bytes + FAR.byte * Math.max(0, bytes - FAR.from)
}

/** The program whose first step reads copies instead of these inputs. */
export function withCopies(component: Component, { scratchBytes, steps: [first, ...others] }: Program, copies: readonly PaddedCopy[]): Program {
  const copyOf = (name: BufferName): BufferName | undefined => {
    const at = typeof name === 'object' && 'input' in name ? copies.findIndex(({ input }) => input === name.input) : -1
    return at < 0 ? undefined : { scratch: scratchBytes.length + at }
  }
  return {
    scratchBytes: [...scratchBytes, ...copies.map(bytesOf)],
    steps: [
      ...copies.map(({ input, rows, length, vectors }, i) => step(copyText(component, length), [{ input }, { scratch: scratchBytes.length + i }], [rows, length, vectors], Math.ceil((rows * vectors) / THREADS))),
      { ...first!, buffers: first!.buffers.map((name) => copyOf(name) ?? name) },
      ...others,
    ],
  }
}

/**
 * The operands of a product, inputs 0 and 1, and what is copied for them: those whose rows are no whole vectors, where that is faster. One operand in words makes the reads of both slow.
 * `lines` are the rows of each, all products together. Rows along k are padded to whole tiles.
 */
export function paddedWhereFaster<const T extends readonly MatrixOperand[]>(component: Component, { time, tile }: MatrixPlan, operands: T, lines: readonly number[]): { operands: T; copies: readonly PaddedCopy[] } {
  const each = elementsOf(component)
  const padded = operands.map((operand) => (isVectors(component, operand) ? operand : { ...operand, padded: operand.alongK ? tile.depth : each }))
  const copies = padded.flatMap(({ row, padded: by }, input) => (by === undefined ? [] : [{ input, rows: lines[input]!, length: row, vectors: (Math.ceil(row / by) * by) / each }]))
  return areFaster(copies, time) ? { operands: padded as readonly MatrixOperand[] as T, copies } : { operands, copies: [] }
}
