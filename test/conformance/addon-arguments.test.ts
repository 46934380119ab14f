import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { locateAddon } from '../../main/backends/native'

const addon = locateAddon(import.meta.dirname)

/** Opens a case on two threads and refills it with an input whose getter does `during`; prints what came of it. */
const script = (during: string) => `
const { Case, devices } = require(process.argv[1])
const impl = devices('cpu')[0].impls.find(({ available }) => available.ok).id
const fill = { kind: 0, key0: 1, key1: 2, factor: 1, low: 0, below: 0 }
const tensor = { elements: 4096, storage: 'f32' }
const open = () => new Case({ backend: 'cpu', op: 'copy', impl, device: 0, dtype: 'f32', threads: 2, rotated: false, dims: [4096], scalars: [], tensors: [{ ...tensor, name: 'x', role: 'in', fill }, { ...tensor, name: 'out', role: 'out' }] })
const opened = open()
try {
  opened.refill([{ ...fill, get kind() { ${during}; return 0 } }])
  console.log('refilled')
} catch (error) {
  console.log(error.code + ': ' + error.message)
}
open().run()
console.log('another case runs')
`

// In a process of its own: an addon that waits for itself would hold this one for ever.
const after = (during: string) => spawnSync(process.execPath, ['-e', script(during), addon ?? ''], { encoding: 'utf8', timeout: 20_000 })

it.runIf(addon)('an argument whose getter disposes the case ends that call in plain words, and the addon goes on', () => {
  const { stdout, signal } = after('opened.dispose()')
  expect({ stdout, signal }).toEqual({ stdout: 'internal: the case was disposed\nanother case runs\n', signal: null })
})

it.runIf(addon)('an argument whose getter runs the case is as good as any other', () => {
  const { stdout, signal } = after('opened.run()')
  expect({ stdout, signal }).toEqual({ stdout: 'refilled\nanother case runs\n', signal: null })
})
