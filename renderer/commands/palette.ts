export interface PaletteItem {
  id: string
  title: string
  /** What kind of thing it is, at the right. */
  group: string
  accelerator?: string
  run: () => unknown
}

/**
 * How well a query fits a title, lower is better; undefined when it does not. A prefix is best, then words that begin
 * with the query's words, then letters in order.
 */
export function matchRank(title: string, query: string): number | undefined {
  const text = title.toLowerCase()
  const wanted = query.trim().toLowerCase()
  if (!wanted) return 0
  if (text.startsWith(wanted)) return 0
  const words = text.split(/[^\p{L}\p{N}]+/u)
  const parts = wanted.split(/\s+/)
  if (parts.every((part) => words.some((word) => word.startsWith(part)))) return 1
  const at = text.indexOf(wanted)
  if (at >= 0) return 2 + at / 1000
  let from = 0
  for (const letter of wanted.replaceAll(' ', '')) {
    from = text.indexOf(letter, from) + 1
    if (from === 0) return undefined
  }
  return 4 + from / 1000
}

/** The items that fit, best first; equally good ones keep their order. */
export function searchPalette(items: readonly PaletteItem[], query: string): PaletteItem[] {
  return items
    .map((item) => ({ item, rank: matchRank(item.title, query) }))
    .filter((entry): entry is { item: PaletteItem; rank: number } => entry.rank !== undefined)
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}
