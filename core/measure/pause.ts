interface MaybeImmediate {
  setImmediate?: (callback: () => void) => unknown
}

/**
 * Gives the event loop one turn, so that a waiting cancel message is seen. setImmediate where there is one (Node),
 * else a message to oneself: a zero timeout would cost 1 to 4 ms each time in a page.
 */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    const immediate = (globalThis as MaybeImmediate).setImmediate
    if (immediate) {
      immediate(() => resolve())
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}
