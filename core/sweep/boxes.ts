/** A product of sets: one list of values for each dimension. */
export type Box<D extends string> = Record<D, readonly string[]>

/** Above this many boxes only a few orders of the dimensions are tried. */
const FEW = 300

/**
 * Joins boxes that differ in one dimension only, until none do, for several orders of the dimensions, and returns the
 * smallest cover found. The boxes must not overlap; neither do the joined ones. `fits` says whether values of a
 * dimension may stand together.
 */
export function joinBoxes<D extends string>(boxes: readonly Box<D>[], dimensions: readonly D[], fits: (dimension: D, values: readonly string[]) => boolean): Box<D>[] {
  const orders = boxes.length <= FEW ? permutations(dimensions) : dimensions.map((_, i) => [...dimensions.slice(i), ...dimensions.slice(0, i)])
  let best: Box<D>[] = [...boxes]
  for (const order of orders) {
    let joined: Box<D>[] = [...boxes]
    for (let before = Infinity; joined.length < before; ) {
      before = joined.length
      for (const dimension of order) joined = joinAlong(joined, dimension, dimensions, fits)
    }
    if (joined.length < best.length) best = joined
    if (best.length <= 1) break
  }
  return best
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, i) => permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]))
}

function joinAlong<D extends string>(boxes: readonly Box<D>[], dimension: D, dimensions: readonly D[], fits: (dimension: D, values: readonly string[]) => boolean): Box<D>[] {
  const groups = new Map<string, Box<D>[]>()
  for (const box of boxes) {
    const key = JSON.stringify(dimensions.filter((other) => other !== dimension).map((other) => [...box[other]].sort()))
    const group = groups.get(key)
    if (group) group.push(box)
    else groups.set(key, [box])
  }
  return [...groups.values()].flatMap((group) => {
    const whole = group.flatMap((box) => box[dimension])
    if (fits(dimension, whole)) return [{ ...group[0]!, [dimension]: whole }]
    return inPairs(group.map((box) => box[dimension]), (values) => fits(dimension, values)).map((values) => ({ ...group[0]!, [dimension]: values }))
  })
}

/** Joins lists two at a time as long as some two fit together. */
function inPairs(lists: readonly (readonly string[])[], fits: (values: readonly string[]) => boolean): (readonly string[])[] {
  const left = [...lists]
  for (let i = 0; i < left.length; ) {
    const j = left.findIndex((other, at) => at > i && fits([...left[i]!, ...other]))
    if (j < 0) i++
    else {
      left[i] = [...left[i]!, ...left[j]!]
      left.splice(j, 1)
      // What did not fit with an earlier list may now.
      i = 0
    }
  }
  return left
}
