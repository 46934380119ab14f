import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { writeFileAtomic } from '../write-file'

const px = z.number().int().min(-100_000).max(100_000)
const rectangleSchema = z.object({ x: px, y: px, width: px.positive(), height: px.positive() })
export type Rectangle = z.infer<typeof rectangleSchema>

const windowStateSchema = z.object({ bounds: rectangleSchema, maximized: z.boolean() })
/** Where the window was, in screen px, and whether it filled the screen. */
export type WindowState = z.infer<typeof windowStateSchema>

/** Smallest useful window, in px. */
export const MINIMUM = { width: 900, height: 600 }
const USUAL = { width: 1440, height: 900 }
/** How much of the title bar must be on a screen to be taken hold of, in px. */
const GRIP = { width: 120, height: 32 }

/** The saved state, or undefined when there is none that can be read. */
export function readWindowState(file: string): WindowState | undefined {
  try {
    return windowStateSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}

export const writeWindowState = (file: string, state: WindowState): void => writeFileAtomic(file, [JSON.stringify(state)])

const overlap = (start: number, length: number, otherStart: number, otherLength: number) => Math.min(start + length, otherStart + otherLength) - Math.max(start, otherStart)

/**
 * Where to open the window: where it was, when its title bar is on one of the screens; else in the middle.
 * @param screens work areas of the screens now attached, the main one first
 */
export function openingBounds(saved: WindowState | undefined, screens: readonly Rectangle[]): Partial<Rectangle> & { width: number; height: number } {
  const main = screens[0]
  const fit = (size: { width: number; height: number }) => (main ? { width: Math.min(size.width, main.width), height: Math.min(size.height, main.height) } : size)
  if (!saved) return fit(USUAL)
  const { x, y, width, height } = saved.bounds
  const size = { width: Math.max(width, MINIMUM.width), height: Math.max(height, MINIMUM.height) }
  const reachable = screens.some((screen) => overlap(x, width, screen.x, screen.width) >= GRIP.width && overlap(y, GRIP.height, screen.y, screen.height) >= GRIP.height)
  return reachable ? { x, y, ...size } : fit(size)
}
