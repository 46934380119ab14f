import type { SubgroupMatrices } from '../../kernels/types'
import { numbers } from '../header'
import { loadMatrix } from './words'

/** Bytes of a vector, `vec4<u32>`, in which tiles of matrices lie. */
export const VECTOR_BYTES = 16

type Component = SubgroupMatrices['component']

/** Elements of a vector. */
export const elementsOf = (component: Component): number => VECTOR_BYTES / (component === 'f16' ? 2 : 1)

/** Vectors from one line of a tile to the next: one more than it has, so that eight lines lie in different banks. */
export const strideOf = (vectors: number): number => vectors + 1

/** An operand of a product: the length of its rows, whether k runs along them, and, where zeros lie behind each row in memory, of how many elements it is a multiple with them. */
export interface MatrixOperand {
  row: number
  alongK: boolean
  padded?: number
}

/** Lines of a tile of an operand as it lies in memory, and vectors of each. */
export function linesOf(side: number, depth: number, alongK: boolean, component: Component): { lines: number; vectors: number } {
  const [lines, length] = alongK ? [side, depth] : [depth, side]
  return { lines, vectors: length / elementsOf(component) }
}

/** Whether rows are whole vectors, so that a vector is read at once. */
export const isVectors = (component: Component, { row, padded }: MatrixOperand): boolean => padded !== undefined || row % elementsOf(component) === 0

/** WGSL of the elements from one row of an operand in memory to the next: `length` is that of its rows. */
export const rowStride = ({ padded }: MatrixOperand, length: string): string => (padded === undefined ? length : `(${length} + ${padded - 1}u) / ${padded}u * ${padded}u`)

/** Workgroup memory: of vectors, or of words where some operand comes in words. Places are given in vectors. */
export interface TileMemory {
  type: 'vec4<u32>' | 'u32'
  /** Elements of the array in a vector, and how a place of vectors becomes one of them. */
  units: 1 | 4
  scaled: string
  /** A vector, and a word of a vector. */
  vector(at: string): string
  word(at: string, of: string): string
}

export function memoryFor(component: Component, operands: readonly MatrixOperand[]): TileMemory {
  if (operands.every((one) => isVectors(component, one))) return { type: 'vec4<u32>', units: 1, scaled: '', vector: (at) => `memory[${at}]`, word: (at, of) => `memory[${at}][${of}]` }
  return { type: 'u32', units: 4, scaled: ' * 4u', vector: (at) => `vec4<u32>(${numbers(4).map((j) => `memory[(${at}) * 4u + ${j}u]`).join(', ')})`, word: (at, of) => `memory[(${at}) * 4u + ${of}]` }
}

/** `kept(word, count)`: the word with all but its first `count` elements zero. */
export function keptText(component: Component): string {
  const perWord = elementsOf(component) / 4
  return `fn kept(word: u32, count: u32) -> u32 { return select(word & ((1u << (${32 / perWord}u * count)) - 1u), word, count >= ${perWord}u); }\n`
}

/** What the text of an operand in a tile depends on. */
export interface OperandText {
  /** Of its binding, of the dimension along its side, and of the tile's first row or column. */
  name: 'a' | 'b'
  extent: 'm' | 'n'
  first: 'first_row' | 'first_column'
  component: Component
  operand: MatrixOperand
  /** Elements of the tile along the operand's side and along k, and vectors of workgroup memory before it. */
  side: number
  depth: number
  before: number
  threads: number
  subgroups: number
  /** Whether k may end within a tile: what lies beyond is zero. */
  partial: boolean
  memory: TileMemory
}

/** WGSL of a thread's share of an operand: registers, reads of the steps from `at` on, the way from registers to workgroup memory, and a matrix there. */
export interface OperandWgsl {
  type: 'vec4<u32>' | 'u32'
  declared: string
  load: string
  store: string
  matrix(type: string, own: string, side: number, k: number, turned: boolean): string
}

/** An operand is read while other steps are multiplied: what is read is looked at only when it is stored, because looking waits for it. */
export function operandText(given: OperandText): OperandWgsl {
  const { component, operand, side, depth, before, memory } = given
  // Zeros behind rows along k reach to the end of the last tile.
  const of = operand.alongK && operand.padded !== undefined ? { ...given, partial: false } : given
  const { vectors } = linesOf(side, depth, operand.alongK, component)
  const perUnit = elementsOf(component) / memory.units
  const stride = strideOf(vectors) * memory.units
  return {
    ...(isVectors(component, operand) ? byVectors(of) : byWords(of)),
    matrix: (type, own, s, k, turned) =>
      loadMatrix(type, 'memory', operand.alongK ? `${before * memory.units}u + (${own} + ${s}u) * ${stride}u + ${k / perUnit}u` : `${before * memory.units + k * stride}u + (${own} + ${s}u) / ${perUnit}u`, `${stride}u`, turned),
  }
}

/** Where the line of a tile begins in the operand, in elements: lines beyond its side are others of it, those beyond k the last. */
const lineStart = ({ name, operand, extent, first, partial }: OperandText): string =>
  operand.alongK ? `base_${name} + min(${first} + line, ${extent} - 1u) * row_${name} + at` : `base_${name} + ${partial ? 'min(at + line, k - 1u)' : '(at + line)'} * row_${name} + ${first}`

function byVectors(of: OperandText): Omit<OperandWgsl, 'matrix'> {
  const { name, component, operand, side, depth, before, threads, partial, memory } = of
  const { lines, vectors } = linesOf(side, depth, operand.alongK, component)
  const each = elementsOf(component)
  const rounds = numbers(Math.ceil((lines * vectors) / threads))
  const inRound = (i: number, text: string) => `      ${(i + 1) * threads > lines * vectors ? `if (lane < ${lines * vectors - i * threads}u) ` : ''}{ let c = lane + ${i * threads}u; let line = c / ${vectors}u; let x = c % ${vectors}u; ${text} }`
  const inside = operand.alongK ? `at + x * ${each}u < end` : 'at + line < end'
  const value = (i: number) => (partial ? `select(vec4<u32>(0u), ${name}_${i}, ${inside})` : `${name}_${i}`)
  const place = `${before}u + line * ${strideOf(vectors)}u + x`
  const put = (i: number) => memory.units === 1 ? `memory[${place}] = ${value(i)};` : `let p = (${place}) * 4u; let v = ${value(i)}; ${numbers(4).map((j) => `memory[p + ${j}u] = v[${j}];`).join(' ')}`
  return {
    type: 'vec4<u32>',
    declared: rounds.map((i) => `  var ${name}_${i}: vec4<u32>;`).join('\n'),
    load: rounds.map((i) => inRound(i, `${name}_${i} = ${name}[(${lineStart(of)}) / ${each}u + x];`)).join('\n'),
    store: rounds.map((i) => inRound(i, put(i))).join('\n'),
  }
}

/**
 * Neighbouring threads have neighbouring words. Where rows are no whole words either, those of a line are shifted: the next word is the neighbour's, and behind
 * the last thread of a subgroup or a line one of `more`, which each thread reads for one of its subgroup's stretches of a line.
 */
function byWords(of: OperandText): Omit<OperandWgsl, 'matrix'> {
  const { name, component, operand, side, depth, before, threads, subgroups, partial } = of
  const { lines, vectors } = linesOf(side, depth, operand.alongK, component)
  const [words, perWord] = [4 * vectors, elementsOf(component) / 4]
  const rounds = numbers((lines * words) / threads)
  const stretch = Math.min(words, subgroups)
  const beside = subgroups / stretch
  const isShifted = operand.row % perWord > 0
  const inRound = (i: number, text: string) => `      { let w = lane + ${i * threads}u; let line = w / ${words}u; let x = w % ${words}u; let from_element = ${lineStart(of)}; ${text} }`
  const more = `      { let w = place / ${beside}u * ${threads}u + subgroup * ${subgroups}u + (place % ${beside}u + 1u) * ${stretch}u - 1u; let line = w / ${words}u; let from_element = ${lineStart(of)}; ${name}_more = ${name}[from_element / ${perWord}u + w % ${words}u + 1u]; }`
  const shifted = (i: number) => `let shift = ${32 / perWord}u * (from_element % ${perWord}u); let beyond = subgroupShuffle(${name}_more, ${i * beside}u + place / ${stretch}u); let next = select(subgroupShuffleDown(${name}_${i}, 1u), beyond, place % ${stretch}u == ${stretch - 1}u); let word = select((${name}_${i} >> shift) | (next << (32u - shift)), ${name}_${i}, shift == 0u);`
  const value = !partial ? 'word' : operand.alongK ? `kept(word, max(end, at + x * ${perWord}u) - (at + x * ${perWord}u))` : 'select(0u, word, at + line < end)'
  return {
    type: 'u32',
    declared: `${rounds.map((i) => `  var ${name}_${i}: u32;`).join('\n')}${isShifted ? `\n  var ${name}_more: u32;` : ''}`,
    load: `${rounds.map((i) => inRound(i, `${name}_${i} = ${name}[from_element / ${perWord}u + x];`)).join('\n')}${isShifted ? `\n${more}` : ''}`,
    store: rounds.map((i) => inRound(i, `${isShifted ? shifted(i) : `let word = ${name}_${i};`} memory[${4 * before}u + line * ${4 * strideOf(vectors)}u + x] = ${value};`)).join('\n'),
  }
}
