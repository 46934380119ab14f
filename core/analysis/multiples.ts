/** Lines that can be told apart in one plot, and the most that stay together where nothing but the implementation tells them apart. */
export const READABLE_LINES = 6
const MOST_LINES = 12

/** A way in which lines differ: by operation, by dtype, by mode. */
export interface SplitFacet<T> {
  id: string
  valueOf(item: T): string
}

/** One plot of small multiples. */
export interface Multiple<T> {
  /** What its lines have in common, of the facets that were split: `gelu · bf16`. Empty where all fit one plot. */
  title: string
  items: T[]
}

/**
 * Small multiples (E. R. Tufte, "The Visual Display of Quantitative Information", 1983): lines split by one facet after another, in
 * this order, until no plot has more than `most`. A facet splits every plot or none, so that neighbours show the same kind of thing.
 * Lines that no facet tells apart are cut into equal plots of at most twelve. `split`: the facets that were used.
 */
export function multiplesOf<T>(items: readonly T[], facets: readonly SplitFacet<T>[], most = READABLE_LINES): { multiples: Multiple<T>[]; split: string[] } {
  let parts: { values: string[]; items: T[] }[] = items.length ? [{ values: [], items: [...items] }] : []
  const split: string[] = []
  for (const { id, valueOf } of facets) {
    if (parts.every((part) => part.items.length <= most)) break
    if (parts.every((part) => new Set(part.items.map(valueOf)).size < 2)) continue
    split.push(id)
    parts = parts.flatMap((part) => {
      const byValue = new Map<string, T[]>()
      for (const item of part.items) byValue.set(valueOf(item), [...(byValue.get(valueOf(item)) ?? []), item])
      return [...byValue].map(([value, own]) => ({ values: value ? [...part.values, value] : part.values, items: own }))
    })
  }
  const multiples = parts.flatMap(({ values, items: own }) => {
    const pieces = Math.ceil(own.length / Math.max(most, MOST_LINES))
    const each = Math.ceil(own.length / pieces)
    return Array.from({ length: pieces }, (_, i) => ({ title: [...values, ...(pieces > 1 ? [`${i + 1} of ${pieces}`] : [])].join(' · '), items: own.slice(i * each, (i + 1) * each) }))
  })
  return { multiples, split }
}
