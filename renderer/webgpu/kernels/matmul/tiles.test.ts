import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { gatherPlan } from '../convolution/gather'
import { blocksOf, threadsOf, tilesFor, type Tile } from './tiles'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const drawn = (random: () => number, most: number) => Math.ceil(most ** random())
const SHAPES = (() => {
  const random = createRandom(7)
  return numbers(500).map(() => [drawn(random, 2000), drawn(random, 3000), drawn(random, 3000), drawn(random, 2000)] as const)
})()

/** How often each of `length` is written by blocks of four of `count` threads, `times` of them in each of `tiles` of `size`. */
function written(length: number, tiles: number, size: number, count: number, times: number): number[] {
  const counts = numbers(length).fill(0)
  for (const tile of numbers(tiles)) for (const thread of numbers(count)) for (const block of numbers(times)) for (const j of [0, 1, 2, 3]) {
    const at = tile * size + block * 4 * count + thread * 4 + j
    if (at < length) counts[at]!++
  }
  return counts
}

describe('tiles', () => {
  it('cover every row and column once, within the threads and the workgroup memory that every adapter has', () => {
    for (const [batch, m, n, k] of SHAPES) for (const gathered of [false, true]) {
      const { tile, tilesM, tilesN } = tilesFor(batch, m, n, k, gathered)
      const { high, wide, down, across, threads } = threadsOf(tile)
      const name = `${batch} x ${m} x ${n}, k = ${k} ${gathered}`
      expect(new Set([...written(m, tilesM, tile.rows, high, down), ...written(n, tilesN, tile.columns, wide, across)]), name).toEqual(new Set([1]))
      expect([high, wide, high / across].every(Number.isInteger) && threads <= 256, name).toBe(true)
      expect(4 * tile.depth * (tile.rows + tile.columns), name).toBeLessThanOrEqual(16_384)
      // Blocks of operands that a thread holds in registers.
      const { ofA, firstB, ofB, rounds } = blocksOf(tile)
      expect(rounds, name).toBeLessThanOrEqual(4)
      expect([ofA, ofB].map((blocks) => 16 * blocks), name).toEqual([tile.rows * tile.depth, tile.columns * tile.depth])
      expect(firstB >= ofA && firstB + ofB <= rounds * threads && (firstB === ofA || firstB % 32 === 0), name).toBe(true)
    }
  })

  it('have less than 16 rows and columns more than an equal part of the output, unless they are few and would fetch in more rounds', () => {
    for (const [batch, m, n, k] of SHAPES) {
      const { tile, tilesM, tilesN } = tilesFor(batch, m, n, k, true)
      expect(tilesM * (tile.rows - 16) < m && tilesN * (tile.columns - 16) < n, `${batch} x ${m} x ${n}`).toBe(true)
    }
    const sides = (batch: number, m: number, n: number, gathered = false) => {
      const { tile: { rows, columns }, tilesM, tilesN } = tilesFor(batch, m, n, 1000, gathered)
      return [rows, columns, tilesM, tilesN]
    }
    expect(sides(1, 32, 32_895)).toEqual([32, 128, 1, 257])
    expect(sides(1, 65, 5280, true)).toEqual([40, 64, 2, 83])
    expect(sides(1, 65, 5280)).toEqual([64, 64, 2, 83])
    expect(sides(1, 97, 4097)).toEqual([64, 64, 2, 65])
    // A second tile for some multiprocessors would take as long as smaller ones for all.
    expect(sides(1, 40, 20_000)).toEqual([40, 64, 1, 313])
    expect(sides(1, 1500, 700)).toEqual([128, 64, 12, 11])
    expect(sides(1, 700, 1500)).toEqual([64, 64, 11, 24])
    expect(sides(200, 60, 70)).toEqual([64, 80, 1, 1])
    expect(sides(32, 64, 3136)).toEqual([64, 128, 1, 25])
    expect(sides(1, 2048, 2048)).toEqual([128, 128, 16, 16])
  })

  it('have equal sides and half of the steps at once where few of them share a long sum, so that their threads fetch in one round', () => {
    const tile = (m: number, n: number, k: number) => tilesFor(1, m, n, k).tile
    expect([tile(71, 2843, 1129), tile(65, 65, 20_000)]).toEqual([{ rows: 40, columns: 64, depth: 16 }, { rows: 40, columns: 48, depth: 16 }])
    expect([tile(71, 2843, 300), tile(97, 4097, 1024), tilesFor(1, 71, 2843, 1129, true).tile]).toEqual([{ rows: 64, columns: 64, depth: 32 }, { rows: 64, columns: 64, depth: 32 }, { rows: 40, columns: 64, depth: 32 }])
  })

  it('take a few steps of products at a time where there are no more than some dozens', () => {
    const depths = (gathered: boolean) => [1, 16, 17, 33, 64, 65, 1000].map((k) => tilesFor(1, 137, 17_665, k, gathered).tile.depth)
    expect([depths(false), depths(true)]).toEqual([[16, 16, 8, 8, 8, 16, 16], [16, 16, 16, 16, 16, 16, 16]])
  })

  it('are filled by the threads that gather columns, each element once', () => {
    const tiles = new Map(SHAPES.map(([batch, m, n, k]) => tilesFor(batch, m, n, k, true).tile).map((tile): [string, Tile] => [JSON.stringify(tile), tile]))
    expect(tiles.size).toBeGreaterThan(20)
    for (const [name, tile] of tiles) {
      const { beside, below, rounds } = gatherPlan(tile)
      expect([beside / 4, below].every(Number.isInteger), name).toBe(true)
      expect(beside * below, name).toBe(threadsOf(tile).threads)
      const cells = numbers(rounds).flatMap((round) => numbers(beside * below).flatMap((lane) => [0, 1, 2, 3].map((j) => [Math.floor(lane / beside) + round * below, (lane % beside) + j * beside] as const)))
      const inside = cells.filter(([row]) => row < tile.depth)
      expect(new Set(inside.map(([row, column]) => row * tile.columns + column)).size, name).toBe(tile.depth * tile.columns)
      expect(inside, name).toHaveLength(tile.depth * tile.columns)
    }
  })
})
