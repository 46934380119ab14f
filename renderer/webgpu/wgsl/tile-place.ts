/**
 * WGSL of which tile of which product a workgroup has, and of the steps of k: `m`, `n`, `k`, `batch_number`, `first_row`, `first_column`, `product`, `start`, `end`. dims: m, n, k, tiles
 * along m and along n, products times parts; of products that are `split` along k, parts and the steps of each.
 */
export const tilePlace = (rows: number, columns: number, split: boolean): string => `  let m = dim(0u);
  let n = dim(1u);
  let k = dim(2u);
  let tiles_m = dim(3u);
  let tiles_n = dim(4u);
  let batch_number = group / (tiles_m * tiles_n);
  if (batch_number >= dim(5u)) { return; }
  let tile = group % (tiles_m * tiles_n);
  // Eight rows of tiles at a time, column by column, so that tiles computed together share what the cache holds.
  let band = tile / (8u * tiles_n);
  let band_rows = min(tiles_m - band * 8u, 8u);
  let first_row = (band * 8u + tile % (8u * tiles_n) % band_rows) * ${rows}u;
  let first_column = tile % (8u * tiles_n) / band_rows * ${columns}u;
  let product = ${split ? 'batch_number / dim(6u)' : 'batch_number'};
  let start = ${split ? 'batch_number % dim(6u) * dim(7u)' : '0u'};
  let end = ${split ? 'min(k, start + dim(7u))' : 'k'};`
