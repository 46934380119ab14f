import { describe, expect, it } from 'vitest'
import { REQUEST_MS } from './calls'
import { fly, type Flight } from './timestamps'

/** Flights that land when told to, in order, and how many were on their way at most. */
function airport(of: (index: number, left: number) => { samples: number; ns?: number; usable?: number }) {
  let [launched, flying, most, nowMs] = [0, 0, 0, 0]
  const launch = (left: number): Flight<number> => {
    const { samples, ns = 1e6, usable = samples } = of(launched++, left)
    most = Math.max(most, ++flying)
    const landed = new Promise<void>((resolve) => setTimeout(resolve, 0))
    const taken = landed.then(() => {
      flying--
      nowMs += 100
      return new Float64Array(usable).fill(launched)
    })
    return { samples, ns, taken }
  }
  return { launch, now: () => nowMs, seen: () => ({ launched, most, flying }) }
}

describe('submissions of a request', () => {
  it('overlap, and bring as many samples as asked for', async () => {
    const port = airport((_, left) => ({ samples: Math.min(left, 5) }))
    expect(await fly(12, port.launch, port.now)).toHaveLength(12)
    expect(port.seen()).toEqual({ launched: 3, most: 3, flying: 0 })
  })

  it('go alone while it is not known how long they take, or where one is long', async () => {
    const unknown = airport(() => ({ samples: 1, ns: Infinity }))
    await fly(4, unknown.launch, unknown.now)
    expect(unknown.seen()).toMatchObject({ launched: 4, most: 1 })
    const long = airport(() => ({ samples: 1, ns: 1e9 }))
    await fly(2, long.launch, long.now)
    expect(long.seen().most).toBe(1)
  })

  it('end when the time of a request is over', async () => {
    const port = airport(() => ({ samples: 1, ns: Infinity }))
    expect(await fly(1000, port.launch, port.now)).toHaveLength(REQUEST_MS / 100)
  })

  it('are flown again where samples were lost, until that is hopeless', async () => {
    const half = airport((_, left) => ({ samples: left, usable: Math.ceil(left / 2) }))
    expect(await fly(8, half.launch, half.now)).toHaveLength(8)
    const none = airport(() => ({ samples: 1, usable: 0 }))
    await expect(fly(8, none.launch, none.now)).rejects.toThrow(/make no sense/)
    expect(none.seen().flying).toBe(0)
  })

  it('have all landed before a failure is told', async () => {
    const port = airport((index) => ({ samples: index === 0 ? 1 : 2 }))
    const failing = (left: number): Flight<number> => {
      const flight = port.launch(left)
      return port.seen().launched === 1 ? { ...flight, taken: flight.taken.then(() => Promise.reject(new Error('refused'))) } : flight
    }
    await expect(fly(9, failing, port.now)).rejects.toThrow('refused')
    expect(port.seen()).toMatchObject({ launched: 3, flying: 0 })
  })
})
