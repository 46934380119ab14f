/** Px that two panes keep: `least` the upper and `leastSecond` the lower. Where there is no room for both, the lower wins, until the upper has only `floor`. */
export interface PaneLimits {
  least: number
  leastSecond: number
  floor: number
  /** Px that the upper can use, while the user has not moved the divider (`moved`). */
  most?: number | undefined
  moved: boolean
}

/** Height of the upper of two panes, as CSS. `share` of the whole, 0 to 1; the upper never has more than 85 % for its own limits. */
export function paneHeight(share: number, { least, leastSecond, floor, most, moved }: PaneLimits): string {
  const wanted = `max(${share * 100}%, min(${least}px, 85%))`
  const room = `max(100% - ${leastSecond}px, min(${floor}px, 85%))`
  return `min(${[wanted, room, ...(most === undefined || moved ? [] : [`${most}px`])].join(', ')})`
}
