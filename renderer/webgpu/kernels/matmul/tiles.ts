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
/** Sides of tiles are whole numbers of these: rows of a tile start with a sector of memory, and a thread has one or two blocks of four of its rows, an even number of threads all of them. */
const SIDE = 16
const LOW = { rows: 64, side: 8 }

/** As many parts of a length as with `most` each, of equal size: what is left empty is less than `side` a part. */
const partOf = (length: number, most: number, side = SIDE): number => Math.ceil(length / Math.ceil(length / most) / side) * side
const rowsOf = (m: number, most: number): number => (partOf(m, most) <= LOW.rows ? Math.max(SIDE, partOf(m, most, LOW.side)) : partOf(m, most))

/** The tile for `batch` products [m, n], and how many of them lie along m and n. */
export function tilesFor(batch: number, m: number, n: number): { tile: Tile; tilesM: number; tilesN: number } {
  const counted = ({ rows, columns, depth }: Tile) => ({ tile: { rows: rowsOf(m, rows), columns: partOf(n, columns), depth }, tilesM: Math.ceil(m / rows), tilesN: Math.ceil(n / columns) })
  const fits = ({ tilesM, tilesN }: ReturnType<typeof counted>) => batch * tilesM * tilesN >= ENOUGH_TILES
  return (m <= 64 ? [FLAT] : [LARGE, TALL]).map(counted).find(fits) ?? counted(SMALL)
}

/** Rows and columns of threads of a tile; each thread has 4x4 outputs, `down` times below and `across` times beside each other. */
export function threadsOf({ rows, columns }: Tile): { high: number; wide: number; down: number; across: number; threads: number } {
  const [down, across] = [rows > 64 ? 2 : 1, columns > 64 ? 2 : 1]
  const [high, wide] = [rows / 4 / down, columns / 4 / across]
  return { high, wide, down, across, threads: high * wide }
}

/** A multiple of the depth of every tile. */
const DEPTHS = 32
/** Workgroups that fill a device, and steps of k that are worth a part and the pass that joins it. */
const FILLED = 512
const LEAST_STEPS = 256

/** Parts along k: 1 unless the tiles of the output are too few for a device and k is long. */
export const partsOf = (tiles: number, k: number): number => (tiles >= ENOUGH_TILES ? 1 : Math.max(1, Math.min(Math.floor(FILLED / tiles), Math.floor(k / LEAST_STEPS))))

/** Steps of each of `parts` parts, a multiple of the depth of every tile. */
export const chunkOf = (k: number, parts: number): number => Math.ceil(k / parts / DEPTHS) * DEPTHS
