import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const text = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'pipe'] }).split('\n')

/** The objects of one level in a build folder, by the name of their source file. */
const objectsIn = (build: string, level: string) => join(build, 'CMakeFiles', `kernels_${level}.dir`, 'cpu', 'kernels')

/** The compiled kernels of one level: `instructions` and `symbols` (those that other files can link to) as binutils write them, each line after its file. */
export function disassembled(build: string, level: string, tools = ''): { files: string[]; instructions: string[]; symbols: string[] } {
  const folder = objectsIn(build, level)
  const files = readdirSync(folder).filter((file) => file.endsWith('.o')).sort()
  const of = (program: string, ...args: string[]) => files.flatMap((file) => text(`${tools}${program}`, ...args, join(folder, file)).filter(Boolean).map((line) => `${file} ${line}`))
  return { files, instructions: of('objdump', '-d', '--no-show-raw-insn').filter((line) => line.includes(':\t')), symbols: of('nm', '--defined-only', '--extern-only') }
}

/** Instructions that a level must not have, as the disassembler writes them: those of a processor without the level would end the process. */
const SSE3_AND_LATER = String.raw`\t(haddp|hsubp|addsubp|movs[hl]dup|movddup|lddqu|pshufb|ph(add|sub)|pmulhrsw|pmaddubsw|palignr|pabs[bwd]|psign|blendv?p|pblend|round[ps][sd]|dpp[sd]|p(min|max)(sb|uw|sd|ud)|pmulld|pmuldq|packusdw|pmov[sz]x|ptest|pinsr[bdq]|pextr[bdq]|insertps|extractps|pcmp(eq|gt)q|pcmp[ei]str|crc32|popcnt)`
export const WIDER: Readonly<Record<string, RegExp>> = {
  // Packed arithmetic; moves of 16 bytes are part of plain x86-64 code.
  scalar: new RegExp(String.raw`\t(v[a-z]\w+|(add|sub|mul|div|sqrt|max|min)p[sd]|p(add|sub|mull|madd)\w+)\s|%[yzt]mm|%k[0-7]|${SSE3_AND_LATER}`),
  sse2: new RegExp(String.raw`\tv[a-z]\w+\s|%[yzt]mm|%k[0-7]|${SSE3_AND_LATER}`),
  avx2: /%[zt]mm|%k[0-7]|%[xy]mm(1[6-9]|2\d|3[01])/,
  // Tiles (AMX), outside the files whose kernels have a variant for them (Runs::bf16_tiles).
  avx512: /^(?!matmul\.cc|convolution\.cc|scaled_dot_product_attention\.cc|peak_mma\.cc).*\t(tile\w+|ldtilecfg|tdp\w+)/,
  // SVE, dot products, and arithmetic on 16-bit floats; conversions of those are NEON's own.
  neon: /\b[zp]\d+[./]|\t([su]dot|bf\w+dot|bfm\w+|fml[as]l)\s|\tf(?!cvt)\w+\s+v\d+\.[48]h/,
  'scalar of arm64': /\tf(add|sub|mul|div|sqrt|max|min|mla|mls)\s+v\d+\.|\t(add|sub|mul|mla|smlal?)\s+v\d+\./,
}
