/**
 * Height of the upper of two panes, as CSS. `share` of the whole, 0 to 1; `least` and `leastSecond`: px that the upper and the lower keep, the lower
 * first where there is no room for both; `most`: px that the upper can use, while the user has not moved the divider (`moved`).
 */
export function paneHeight(share: number, { least, leastSecond, most, moved }: { least: number; leastSecond: number; most?: number | undefined; moved: boolean }): string {
  const wanted = `max(${share * 100}%, min(${least}px, 85%))`
  return `min(${[wanted, `calc(100% - ${leastSecond}px)`, ...(most === undefined || moved ? [] : [`${most}px`])].join(', ')})`
}
