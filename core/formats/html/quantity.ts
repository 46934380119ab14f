import { formatBandwidth, formatCount, formatFlops, formatTime } from '../../units'

/** What an axis counts, and how its values are written. */
export const QUANTITIES = { count: formatCount, time: formatTime, bandwidth: formatBandwidth, flops: formatFlops, ratio: (value: number) => String(Number(value.toPrecision(3))) } as const satisfies Record<string, (value: number) => string>
export type Quantity = keyof typeof QUANTITIES

/** Axis ticks are round: "10 ms" says what "10.0 ms" does. */
export const tickText = (quantity: Quantity, value: number): string => QUANTITIES[quantity](value).replace(/\.0+(?= )/, '')
