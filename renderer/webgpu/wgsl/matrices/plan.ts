import type { SubgroupMatrices } from '../../kernels/types'
import { elementsOf } from './tile'

/** What a workgroup computes of a product, in elements: rows and columns of the output, steps of k that lie in workgroup memory at once, and the rows and columns of each subgroup. */
export interface MatrixTile {
  rows: number
  columns: number
  depth: number
  high: number
  wide: number
}

/** Tiles of workgroups, their depth in vectors. Subgroups of a tile share operands in workgroup memory. */
const TILES: readonly MatrixTile[] = [
  { rows: 128, columns: 128, depth: 8, high: 32, wide: 64 },
  { rows: 128, columns: 64, depth: 8, high: 32, wide: 32 },
  { rows: 64, columns: 128, depth: 8, high: 32, wide: 32 },
  { rows: 64, columns: 64, depth: 8, high: 32, wide: 32 },
  { rows: 64, columns: 64, depth: 4, high: 32, wide: 32 },
  { rows: 32, columns: 64, depth: 8, high: 16, wide: 32 },
  { rows: 64, columns: 32, depth: 8, high: 32, wide: 16 },
  { rows: 32, columns: 32, depth: 8, high: 16, wide: 16 },
]

/** Multiply-adds of a step of k that an element of the operands is worth, and steps that a workgroup's beginning and end take. */
const ELEMENT = 24
const START = 128
/** Workgroups that a device has at a time, those of which parts along k are made, steps that are worth a part, and those that the pass which joins them takes. */
const AT_ONCE = 132
const FILLED = 264
const LEAST_STEPS = 128
const JOIN = 256

/** How a product is shared by workgroups. */
export interface MatrixPlan {
  tile: MatrixTile
  tilesM: number
  tilesN: number
  parts: number
  /** Steps of each part, a multiple of the tile's depth. */
  chunk: number
  /** Multiply-adds of a workgroup while all of them are done, with what reads, beginnings and ends are worth. */
  time: number
}

function planOf(tile: MatrixTile, batch: number, m: number, n: number, k: number): MatrixPlan {
  const [tilesM, tilesN] = [Math.ceil(m / tile.rows), Math.ceil(n / tile.columns)]
  const tiles = batch * tilesM * tilesN
  const wanted = tiles >= AT_ONCE ? 1 : Math.max(1, Math.min(Math.floor(FILLED / tiles), Math.floor(k / LEAST_STEPS)))
  const chunk = Math.ceil(k / wanted / tile.depth) * tile.depth
  const parts = Math.ceil(k / chunk)
  const stepTime = tile.rows * tile.columns + ELEMENT * (tile.rows + tile.columns)
  const time = Math.max(1, (tiles * parts) / AT_ONCE) * (chunk + START) * stepTime + (parts > 1 ? JOIN * stepTime : 0)
  return { tile, tilesM, tilesN, parts, chunk, time }
}

/** The plan of `batch` products [m, n] of k steps that takes the least time, of the tiles that `fits` a device. Undefined where there is no tile. */
export function planMatrices(component: SubgroupMatrices['component'], batch: number, m: number, n: number, k: number, fits: (tile: MatrixTile) => boolean): MatrixPlan | undefined {
  const tiles = TILES.map((tile) => ({ ...tile, depth: tile.depth * elementsOf(component) })).filter(fits)
  const [first, ...others] = tiles.map((tile) => planOf(tile, batch, m, n, k))
  return first && others.reduce((best, one) => (one.time < best.time ? one : best), first)
}
