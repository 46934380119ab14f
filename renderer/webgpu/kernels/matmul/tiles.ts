/** What a workgroup computes: rows and columns of the output, and how it keeps the operands in workgroup memory. */
export interface Tile {
  /** 16 to 128: a multiple of 16, or up to 64 of 8. */
  rows: number
  /** 16 to 128: a multiple of 16. */
  columns: number
  /** Steps of k that lie in workgroup memory at once. */
  depth: number
}

/** The largest tiles that fit the 16 KiB of workgroup memory that every adapter has. */
const LARGE: Tile = { rows: 128, columns: 128, depth: 16 }
const FLAT: Tile = { rows: 64, columns: 128, depth: 16 }
const TALL: Tile = { rows: 128, columns: 64, depth: 16 }
const SMALL: Tile = { rows: 64, columns: 64, depth: 32 }

/** Large tiles read less per output, but only pay when there are enough of them to fill a device. */
const ENOUGH_TILES = 128
/** Tiles of which each multiprocessor of the devices known here has one: of some more, most multiprocessors wait for the second tiles of a few. */
const ONE_EACH = 132
const SOME_MORE = 192
/** Tiles from which on a multiprocessor has two or more. */
const MANY_TILES = 256
/** Sides of tiles are whole numbers of these: rows of a tile start with a sector of memory, and a thread has one or two blocks of four of its rows, an even number of threads all of them. */
const SIDE = 16
const LOW = { rows: 64, side: 8 }

/** As many parts of a length as with `most` each, of equal size: what is left empty is less than `side` a part. */
const partOf = (length: number, most: number, side = SIDE): number => Math.ceil(length / Math.ceil(length / most) / side) * side
const rowsOf = (m: number, most: number): number => (partOf(m, most) <= LOW.rows ? Math.max(SIDE, partOf(m, most, LOW.side)) : partOf(m, most))

/** Steps of k of which a tile takes so few at a time that less is left empty and workgroups have room beside each other; fewer steps are one round. */
const SHORT = { from: 17, to: 64, depth: 8 }

/** Steps of k that are shared by workgroups where tiles are few. */
const LONG_SUMS = 512

/** The tile for `batch` products [m, n] of k steps, and how many of them lie along m and n. Where B is `gathered`, threads do not fetch it by blocks. */
export function tilesFor(batch: number, m: number, n: number, k: number, gathered = false): { tile: Tile; tilesM: number; tilesN: number } {
  const counted = (whole: Tile) => {
    const [tilesM, tilesN] = [Math.ceil(m / whole.rows), Math.ceil(n / whole.columns)]
    const tiles = batch * tilesM * tilesN
    const equal = { rows: rowsOf(m, whole.rows), columns: partOf(n, whole.columns), depth: whole.depth }
    // Few tiles wait for memory: fewer threads that each fetch more wait longer than they save.
    const keeps = gathered || tiles >= MANY_TILES || blocksOf(equal).rounds <= blocksOf(whole).rounds
    // Workgroups of parts along k are many: with half of the steps at once their threads fetch in one round.
    const shallow = { ...equal, depth: SIDE }
    const isSplit = !gathered && tiles < ENOUGH_TILES && k >= LONG_SUMS
    return { tile: keeps ? equal : isSplit && blocksOf(shallow).rounds === 1 ? shallow : whole, tilesM, tilesN, tiles }
  }
  const fits = ({ tiles }: ReturnType<typeof counted>) => tiles >= ENOUGH_TILES && (tiles <= ONE_EACH || tiles > SOME_MORE)
  const { tile, ...counts } = (m <= 64 ? [FLAT] : [LARGE, TALL]).map(counted).find(fits) ?? counted(SMALL)
  return { ...counts, tile: !gathered && k >= SHORT.from && k <= SHORT.to ? { ...tile, depth: SHORT.depth } : tile }
}

/** How much of what the tiles of `batch` gathered products [m, n] compute is used: the rest is beyond their sides, and beyond the last of k steps. */
export function usedOf(batch: number, m: number, n: number, k: number): number {
  const { tile, tilesM, tilesN } = tilesFor(batch, m, n, k, true)
  return (m / (tilesM * tile.rows)) * (n / (tilesN * tile.columns)) * (k / (Math.ceil(k / tile.depth) * tile.depth))
}

/** Rows and columns of threads of a tile; each thread has 4x4 outputs, `down` times below and `across` times beside each other. */
export function threadsOf({ rows, columns }: Tile): { high: number; wide: number; down: number; across: number; threads: number } {
  const [down, across] = [rows > 64 ? 2 : 1, columns > 64 ? 2 : 1]
  const [high, wide] = [rows / 4 / down, columns / 4 / across]
  return { high, wide, down, across, threads: high * wide }
}

/** Threads that run in step: those of one which fetch from both operands fetch from one after the other. */
const IN_STEP = 32

/** The blocks of 4x4 elements that the threads of a tile fetch: A's, B's from `firstB` on, and how many a thread has. B begins with other threads in step than A's where nothing is lost by that. */
export function blocksOf(tile: Tile): { ofA: number; firstB: number; ofB: number; rounds: number } {
  const [ofA, ofB] = [tile.rows, tile.columns].map((side) => (side * tile.depth) / 16) as [number, number]
  const { threads } = threadsOf(tile)
  const rounds = Math.ceil((ofA + ofB) / threads)
  const apart = Math.ceil(ofA / IN_STEP) * IN_STEP
  return { ofA, firstB: Math.ceil((apart + ofB) / threads) > rounds ? ofA : apart, ofB, rounds }
}

/** A multiple of the depth of every tile. */
const DEPTHS = 32
/** Workgroups that fill a device, and steps of k that are worth a part and the pass that joins it. */
const FILLED = 512
const LEAST_STEPS = 256

/** Parts along k: 1 unless the tiles of the output are too few for a device and k is long. */
export const partsOf = (tiles: number, k: number): number => (tiles >= ENOUGH_TILES ? 1 : Math.max(1, Math.min(Math.floor(FILLED / tiles), Math.floor(k / LEAST_STEPS))))

/** Workgroups of a product of few tiles, steps that are worth a part there, and parts that are worth the pass. */
const TWICE_FILLED = 264
const FEWEST_STEPS = 64
const FEWEST_PARTS = 4

/** Threads of a whole tile; threads in all that leave much of a device idle where tiles have fewer, those that parts should be, and the shortest sums and parts that are worth it. */
const WHOLE = 256
const IDLE = { tiles: 3 * 2 ** 14, parts: 2 ** 17, steps: 512, each: 96 }

/** Parts along k of a product: more of fewer steps where few tiles, or tiles of few `threads`, leave most of a device idle. */
export function partsOfProduct(tiles: number, k: number, threads = WHOLE): number {
  if (tiles >= ENOUGH_TILES) return threads < WHOLE && tiles * threads < IDLE.tiles && k >= IDLE.steps ? Math.max(1, Math.min(Math.round(IDLE.parts / (tiles * threads)), Math.floor(k / IDLE.each))) : 1
  const more = Math.min(Math.floor((TWICE_FILLED * WHOLE) / (tiles * threads)), Math.floor(k / FEWEST_STEPS))
  return more >= FEWEST_PARTS ? Math.max(more, partsOf(tiles, k)) : partsOf(tiles, k)
}

/** Steps of each of `parts` parts, a multiple of the depth of every tile. */
export const chunkOf = (k: number, parts: number): number => Math.ceil(k / parts / DEPTHS) * DEPTHS
