import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { locateAddon } from '../../main/backends/native/addon'

/** The objects of each level lie beside the addon they were linked into. */
const objects = (level: string) => join(dirname(locateAddon(import.meta.dirname) ?? ''), 'CMakeFiles', `kernels_${level}.dir`, 'cpu', 'kernels')

/** Instructions that a level must not have, as the disassembler writes them: those of a processor without the level would end the process. */
const WIDER: Readonly<Record<string, RegExp>> = {
  // Packed arithmetic; moves of 16 bytes are part of plain x86-64 code.
  scalar: /\t(v\w+|(add|sub|mul|div|sqrt|max|min)ps)\s|%[yz]mm|%k[0-7]/,
  sse2: /\tv[a-z]\w+\s|%[yz]mm|%k[0-7]/,
  avx2: /%zmm|%k[0-7]/,
}

const disassembled = (level: string): string[] =>
  readdirSync(objects(level)).filter((file) => file.endsWith('.o')).flatMap((file) => execFileSync('objdump', ['-d', '--no-show-raw-insn', join(objects(level), file)], { encoding: 'utf8', maxBuffer: 2 ** 30 }).split('\n').filter((line) => line.includes(':\t')).map((line) => `${file} ${line}`))

const missing = (): string | undefined => {
  if (process.arch !== 'x64' || process.platform !== 'linux') return 'levels of x86-64 are looked at on Linux'
  if (!existsSync(objects('sse2'))) return 'the objects of the addon are not beside it'
  try {
    execFileSync('objdump', ['--version'])
    return undefined
  } catch {
    return 'objdump is not installed (Debian: apt install binutils)'
  }
}

const reason = missing()
if (reason !== undefined) console.info(`Not checked: ${reason}.`)

it.skipIf(reason !== undefined).each(Object.entries(WIDER))('no kernel of level %s has an instruction of a wider one', (level, wider) => {
  expect(disassembled(level).filter((line) => wider.test(line)).slice(0, 5)).toEqual([])
})

it.skipIf(reason !== undefined)('wider levels do have what narrower ones must not', () => {
  expect(disassembled('avx2').some((line) => WIDER['sse2']!.test(line))).toBe(true)
  expect(disassembled('avx512').some((line) => WIDER['avx2']!.test(line))).toBe(true)
})
