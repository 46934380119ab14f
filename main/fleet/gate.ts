/**
 * Who may measure at once on one machine: GPUs beside each other, everything else alone. First come, first served, so that
 * neither waits for ever.
 */
export class Gate {
  readonly #waiting: { alone: boolean; enter: () => void }[] = []
  #inside = 0
  #alone = false

  /** Resolves when the measurement may begin, with what ends it. */
  async enter(alone: boolean): Promise<() => void> {
    await new Promise<void>((enter) => {
      this.#waiting.push({ alone, enter })
      this.#admit()
    })
    let left = false
    return () => {
      if (left) return
      left = true
      this.#inside -= 1
      this.#alone = false
      this.#admit()
    }
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && !this.#alone && (this.#inside === 0 || !next.alone); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#inside += 1
      this.#alone = next.alone
      next.enter()
    }
  }
}
