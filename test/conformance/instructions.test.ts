import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { locateAddon } from '../../main/backends/native/addon'
import { disassembled, WIDER } from './disassembly'
import { fromRoot } from './native-build'

/** The objects of each level lie beside the addon they were linked into. */
const build = dirname(locateAddon(import.meta.dirname) ?? '')

const missing = (): string | undefined => {
  if (process.arch !== 'x64' || process.platform !== 'linux') return 'levels of x86-64 are looked at on Linux'
  if (!existsSync(join(build, 'CMakeFiles', 'kernels_sse2.dir'))) return 'the objects of the addon are not beside it'
  try {
    execFileSync('objdump', ['--version'])
    return undefined
  } catch {
    return 'objdump is not installed (Debian: apt install binutils)'
  }
}

const reason = missing()
if (reason !== undefined) console.info(`Not checked: ${reason}.`)

describe.skipIf(reason !== undefined).each(['scalar', 'sse2', 'avx2', 'avx512'])('level %s', (level) => {
  const { files, instructions, symbols } = reason === undefined ? disassembled(build, level) : { files: [], instructions: [], symbols: [] }

  it('has every kernel, none with an instruction of a wider level', () => {
    expect(files).toEqual(readdirSync(fromRoot('native', 'cpu', 'kernels')).sort().map((file) => `${file}.o`))
    expect(instructions.filter((line) => WIDER[level]?.test(line)).slice(0, 5)).toEqual([])
  })

  it('gives other files its kernels only: a function that two levels define would be one of them for both', () => {
    expect(symbols.filter((line) => !line.endsWith(`_${level}`)).slice(0, 5)).toEqual([])
  })

  const narrower = { avx2: 'sse2', avx512: 'avx2' }[level]
  it.runIf(narrower)('does have what narrower ones must not', () => {
    expect(instructions.some((line) => WIDER[narrower!]!.test(line))).toBe(true)
  })
})
