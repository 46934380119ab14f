/** How many of `below` values `draws` random draws meet on average, rounded: rows of a table that must be read. */
export const distinct = (below: number, draws: number): number => Math.min(below, draws, Math.max(1, Math.round(below * -Math.expm1(draws * Math.log1p(-1 / below)))))
