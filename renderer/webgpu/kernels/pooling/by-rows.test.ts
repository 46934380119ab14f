import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planByRows } from './by-rows'
import { adaptiveWindows, longestWindow } from './windows'

const bounds = (o: number, size: number, outputs: number) => [Math.floor((o * size) / outputs), Math.ceil(((o + 1) * size) / outputs)] as const

describe('adaptive windows', () => {
  it('are as long as the longest of them', () => {
    for (let size = 1; size < 40; size++) for (let outputs = 1; outputs < 40; outputs++) {
      const lengths = Array.from({ length: outputs }, (_, o) => bounds(o, size, outputs)).map(([first, end]) => end - first)
      expect(longestWindow(size, outputs), `${size} to ${outputs}`).toBe(Math.max(...lengths))
    }
  })
  it('are divided bit by bit only where a product does not fit', () => {
    expect(adaptiveWindows('w', 317, 26)).not.toContain('scaled_w')
    expect(adaptiveWindows('w', 80_000, 60_000)).toContain('scaled_w')
  })
})

describe('adaptive pooling by rows', () => {
  it('gives every output to one unit, whose columns fit its memory', () => {
    const random = createRandom(5)
    const upTo = (most: number) => Math.ceil(most ** random())
    let planned = 0
    for (let i = 0; i < 4000; i++) {
      const [planes, height, width] = [upTo(3000), upTo(300), upTo(100_000)]
      const [outHeight, outWidth] = [Math.ceil(random() * height), Math.ceil(width / upTo(80))]
      const plan = planByRows([planes, height, width, outHeight, outWidth])
      if (!plan) continue
      planned++
      const { outputs, span, segments, units, groups } = plan
      const name = [planes, height, width, outHeight, outWidth].join(' ')
      expect(segments * outputs >= outWidth && (segments - 1) * outputs < outWidth, name).toBe(true)
      expect(groups * units >= planes * outHeight * segments && (groups - 1) * units < planes * outHeight * segments, name).toBe(true)
      expect(units * span, name).toBeLessThanOrEqual(2048)
      for (let segment = 0; segment < segments; segment++) {
        const last = Math.min(outWidth, (segment + 1) * outputs) - 1
        expect(bounds(last, width, outWidth)[1] - bounds(segment * outputs, width, outWidth)[0], name).toBeLessThanOrEqual(span)
      }
    }
    expect(planned).toBeGreaterThan(100)
  })
  it('takes whole planes of some dozen elements a window', () => {
    expect(planByRows([9 * 787, 13, 317, 6, 26])).toEqual({ outputs: 26, span: 317, segments: 1, units: 6, groups: 9 * 787 })
    expect(planByRows([32 * 64, 112, 112, 7, 7])).toBeUndefined()
    expect(planByRows([3, 13, 317, 6, 26])).toBeUndefined()
  })
})
