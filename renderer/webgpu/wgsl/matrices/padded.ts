import type { BufferName, Program, SubgroupMatrices } from '../../kernels/types'
import { entry, header, numbers, step, THREADS } from '../header'
import type { MatrixPlan } from './plan'
import { elementsOf, isVectors, keptText, VECTOR_BYTES, type MatrixOperand } from './tile'

type Component = SubgroupMatrices['component']

/** Multiply-adds of a workgroup (the unit of a plan's time) that a step that pads takes at least, and those for each byte of the operand. */
const START = 5e6
const BYTE = 0.7
/** What reads of whole vectors save of a product's time. */
const SAVED = 0.5

const WORDS = VECTOR_BYTES / 4

/** An input that is copied before it is read: its rows, the elements of each, and the vectors of each in the copy, which has zeros behind a row. */
export interface PaddedCopy {
  input: number
  rows: number
  length: number
  vectors: number
}

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

/** Multiply-adds of a workgroup that making the copies takes. */
export const copyTime = (copies: readonly PaddedCopy[]): number => copies.reduce((sum, { rows, vectors }) => sum + START + BYTE * VECTOR_BYTES * rows * vectors, 0)

/** The program whose first step reads copies instead of these inputs. */
export function withCopies(component: Component, { scratchBytes, steps: [first, ...others] }: Program, copies: readonly PaddedCopy[]): Program {
  const copyOf = (name: BufferName): BufferName | undefined => {
    const at = typeof name === 'object' && 'input' in name ? copies.findIndex(({ input }) => input === name.input) : -1
    return at < 0 ? undefined : { scratch: scratchBytes.length + at }
  }
  return {
    scratchBytes: [...scratchBytes, ...copies.map(({ rows, vectors }) => VECTOR_BYTES * rows * vectors)],
    steps: [
      ...copies.map(({ input, rows, length, vectors }, i) => step(copyText(component, length), [{ input }, { scratch: scratchBytes.length + i }], [rows, length, vectors], Math.ceil((rows * vectors) / THREADS))),
      { ...first!, buffers: first!.buffers.map((name) => copyOf(name) ?? name) },
      ...others,
    ],
  }
}

/**
 * The operands of a product, inputs 0 and 1, padded where rows are no whole vectors and copies take less time than they save: one operand in words makes the reads of both slow.
 * `lines` are the rows of each, all products together.
 */
export function paddedWhereFaster<const T extends readonly MatrixOperand[]>(component: Component, { time }: MatrixPlan, operands: T, lines: readonly number[]): { operands: T; copies: readonly PaddedCopy[] } {
  const copies = operands.flatMap((operand, input) => (isVectors(component, operand) ? [] : [{ input, rows: lines[input]!, length: operand.row, vectors: Math.ceil(operand.row / elementsOf(component)) }]))
  if (SAVED * time <= copyTime(copies)) return { operands, copies: [] }
  return { operands: operands.map((operand) => ({ ...operand, padded: !isVectors(component, operand) })) as readonly MatrixOperand[] as T, copies }
}
