import type { BenchmarkCase } from '../case'
import { inputsOf } from '../ops/define'
import { findOp } from '../ops/registry'
import type { SuiteGrid } from '../session/sweep-spec'
import type { SuiteExtent } from './types'

/** The axes along which a suite can be narrowed, in the order that they are shown. */
export const FACETS = ['batch', 'sequence', 'dimension'] as const
export type Facet = (typeof FACETS)[number]

/** The values that stay, by axis; an axis that is absent keeps all of its values. */
export type FacetFilter = Readonly<Partial<Record<Facet, readonly number[]>>>

/** Extents of a case: tokens (batch x sequence) and dimension where its first input has rows, else elements alone. */
function extentsOf({ op, params, dtype }: BenchmarkCase): { tokens?: number; dimension?: number; elements: number } | undefined {
  const known = findOp(op)
  const parsed = known?.params.safeParse(params)
  if (!known || !parsed?.success) return undefined
  const shape = inputsOf(known, parsed.data, dtype)[0]?.shape ?? []
  const elements = shape.reduce((product, n) => product * n, 1)
  const dimension = shape.at(-1)
  return shape.length < 2 || dimension === undefined ? { elements } : { tokens: elements / dimension, dimension, elements }
}

/**
 * Whether a case is one of those that a suite measures for these values. A suite that lists batch x sequence x dimension
 * measures each product once, so a case may stand for several of them: 8192 tokens are 16 x 512 and 32 x 256.
 */
export function matchesFacets(c: BenchmarkCase, grid: SuiteGrid, filter: FacetFilter): boolean {
  const extents = extentsOf(c)
  if (!extents) return false
  const [batches, sequences, dimensions] = FACETS.map((facet) => filter[facet] ?? grid[facet]) as [readonly number[], readonly number[], readonly number[]]
  return batches.some((batch) =>
    sequences.some((sequence) =>
      dimensions.some((dimension) => (extents.tokens === undefined ? extents.elements === batch * sequence * dimension : extents.tokens === batch * sequence && extents.dimension === dimension)),
    ),
  )
}

/** The part of a grid that a filter leaves. */
export const narrowedGrid = (grid: SuiteGrid, filter: FacetFilter): SuiteGrid => ({ batch: filter.batch ?? grid.batch, sequence: filter.sequence ?? grid.sequence, dimension: filter.dimension ?? grid.dimension })

/**
 * Reads `batch=16+32,dimension=512` as a filter on a suite's grid.
 * @throws RangeError naming what is wrong and the choices
 */
export function readFacets(text: string, { grid }: Pick<SuiteExtent, 'grid'>): FacetFilter {
  if (!grid) throw new RangeError('this suite has no batch, sequence or dimension to narrow; use --where with the suite comprehensive')
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', values = ''] = part.split('=').map((piece) => piece.trim())
      const facet = FACETS.find((one) => one === name)
      if (!facet) throw new RangeError(`"${name}" is no axis of this suite; expected ${FACETS.join(', ')}`)
      const numbers = values.split('+').map(Number)
      const unknown = numbers.find((value) => !grid[facet].includes(value))
      if (unknown !== undefined) throw new RangeError(`${facet} ${values}: this suite has ${grid[facet].join(', ')}`)
      return [facet, numbers]
    }),
  )
}
