/** What a list of named things keeps: their word (`saved sweep`), and the most of them. */
export interface NamedKind {
  word: string
  most: number
}

export const MAX_NAME = 80

interface Named {
  name: string
}

const byName = (a: Named, b: Named) => a.name.localeCompare(b.name, 'en', { numeric: true })

/** The list with this entry under its name, by name; one of the same name is replaced. Throws RangeError where the name cannot be used or there is no room. */
export function withNamed<T extends Named>(list: readonly T[], entry: T, { word, most }: NamedKind): T[] {
  const name = entry.name.trim()
  if (name === '') throw new RangeError(`A ${word} needs a name.`)
  if (name.length > MAX_NAME) throw new RangeError(`The name of a ${word} has at most ${MAX_NAME} characters.`)
  const others = list.filter((one) => one.name !== name)
  if (others.length >= most) throw new RangeError(`At most ${most} ${word}s can be kept. Delete one first.`)
  return [...others, { ...entry, name }].sort(byName)
}

/** The list with one of them under another name. Throws RangeError where that name cannot be used or is taken. */
export function renameNamed<T extends Named>(list: readonly T[], from: string, to: string, kind: NamedKind): T[] {
  const wanted = to.trim()
  const entry = list.find(({ name }) => name === from)
  if (!entry || wanted === from) return [...list]
  if (list.some(({ name }) => name === wanted)) throw new RangeError(`There is already a ${kind.word} named “${wanted}”.`)
  return withNamed(list.filter((one) => one !== entry), { ...entry, name: wanted }, kind)
}
