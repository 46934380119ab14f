import type { Gather } from '../matmul/kernel'
import { threadsOf, type Tile } from '../matmul/tiles'

const AXES = ['d', 'h', 'w'] as const
/** Columns of a thread: where its row's channel and tap lie is computed once for all of them. */
const COLUMNS = [0, 1, 2, 3]

/** How the threads of a tile gather its columns: `beside` of them have a row, four columns each, and take every `below`th row, `rounds` of them. */
export function gatherPlan(tile: Tile): { beside: number; below: number; rounds: number } {
  const { high, across } = threadsOf(tile)
  const below = high / across
  return { beside: tile.columns / COLUMNS.length, below, rounds: Math.ceil(tile.depth / below) }
}

/** Where output `o` begins in x, whose element it meets with the first tap: its index, then where it lies along each axis. What lies in the padding is below zero and wraps. */
const originOf = (folded: boolean): string => `fn origin(product: u32, column: u32) -> vec4<u32> {
  let image = ${folded ? 'column / outputs * channels + product * per_group' : 'product / groups * channels + product % groups * per_group'};
  let o = ${folded ? 'column % outputs' : 'column'};
  let d = o / (h_output * w_output) * stride - d_padding;
  let h = o / w_output % h_output * stride - h_padding;
  let w = o % w_output * stride - w_padding;
  return vec4<u32>(image * plane + (d * h_input + h) * w_input + w, d, h, w);
}
`

/** How far from there the element lies that a row, a channel and a tap, meets. */
const TERM = `fn term(row: u32) -> vec4<u32> {
  let t = row % taps;
  let d = t / (h_kernel * w_kernel) * dilation;
  let h = t / w_kernel % h_kernel * dilation;
  let w = t % w_kernel * dilation;
  return vec4<u32>(row / taps * plane + (d * h_input + h) * w_input + w, d, h, w);
}
`

/**
 * The columns of a convolution as a product: row = channel and tap, column = output, of all images where these are folded. A thread has four
 * columns of every so many rows, and its neighbours the columns beside them, so that they read neighbours. It divides once for its columns and
 * once for each row. `paddings` are those of depth, height and width: without any, every element lies in x.
 */
export const gatherImage = (constants: string, folded: boolean, paddings: readonly number[]): Gather => ({
  functions: `${constants}${originOf(folded)}${TERM}fn gathered(place: vec4<u32>, live: bool) -> f32 {
  let inside = live${AXES.map((axis, i) => (paddings[i]! > 0 ? ` & (place[${i + 1}] < ${axis}_input)` : '')).join('')};
  return select(0.0, f32(b[select(0u, place.x, inside)]), inside);
}
`,
  stage: (tile: Tile, isSpread: boolean) => {
    const { beside, below, rounds } = gatherPlan(tile)
    const rows = Array.from({ length: rounds }, (_, t) => t)
    const isWhole = tile.depth % below === 0
    return {
      before: `  let gather_column = lane % ${beside}u;
  let gather_row = lane / ${beside}u;
${COLUMNS.map((j) => `  let origin_${j} = origin(product, min(first_column + gather_column + ${j * beside}u, n - 1u));`).join('\n')}
${rows.map((t) => `  var gathered_${t}: vec4<f32>;`).join('\n')}
`,
      load: rows.map((t) => `      { let row = at + gather_row + ${t * below}u; let met = term(row); let live = row < k; gathered_${t} = vec4<f32>(${COLUMNS.map((j) => `gathered(origin_${j} + met, live)`).join(', ')}); }`).join('\n'),
      store: rows.map((t) => {
        const last = !isWhole && t === rows.length - 1 ? `if (gather_row + ${t * below}u < ${tile.depth}u) ` : ''
        if (isSpread) return `      ${last}{ tile_b[gather_row + ${t * below}u][gather_column] = gathered_${t}; }`
        return `      ${last}{ ${COLUMNS.map((j) => `tile_b[gather_row + ${t * below}u][gather_column / 4u + ${(j * beside) / 4}u][gather_column % 4u] = gathered_${t}[${j}];`).join(' ')} }`
      }).join('\n'),
    }
  },
})
