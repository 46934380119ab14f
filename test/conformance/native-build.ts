import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '..', '..')

/** The first of these programs that is not on PATH, with the Debian package that brings it. */
export function missingProgram(programs: Readonly<Record<string, string>>): string | undefined {
  const there = (program: string) => (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  const missing = Object.keys(programs).find((program) => !there(program))
  return missing && `${missing} is not installed (Debian: apt install ${programs[missing]})`
}

/**
 * A build of the CPU kernels of some instruction sets and of the test program that serves them, kept in `.cache/native-<name>` and
 * brought up to date. Returns the folder. Throws with the compiler's words.
 */
export async function buildKernels(name: string, isas: readonly string[], options: readonly string[]): Promise<string> {
  const folder = fromRoot('.cache', `native-${name}`)
  const run = async (...args: string[]) => {
    try {
      await promisify(execFile)('cmake', args, { maxBuffer: 2 ** 26 })
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
      throw new Error(`cmake ${args[0]} failed:\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`, { cause: error })
    }
  }
  await run('-S', fromRoot('native'), '-B', folder, '-G', 'Ninja', '-DOPSCOPE_WITH_CUDA=OFF', `-DOPSCOPE_ISAS=${isas.join(';')}`, ...options)
  await run('--build', folder, '--target', 'opscope_native_test')
  return folder
}

/**
 * Lines of the native test program that say what is wrong: `specials`, infinities, NaN and denormals through the kernels; `threads`, where
 * a team's threads run. Throws where it fails without such a line.
 */
export async function wrongIn([program, ...args]: readonly [string, ...string[]], part: 'specials' | 'threads' | 'caches' | 'counters'): Promise<string[]> {
  const { stdout } = await promisify(execFile)(program, [...args, part]).catch((error: { stdout?: string }) => {
    if (error.stdout?.includes('WRONG')) return { stdout: error.stdout }
    throw error
  })
  return stdout.split('\n').filter((line) => line.includes('WRONG'))
}

/** A path below the repository. */
export const fromRoot = (...parts: string[]) => join(ROOT, ...parts)
