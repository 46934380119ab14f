import { existsSync } from 'node:fs'
import { at } from './paths.mjs'
import { filesBelow, hashOf, isCurrent, writeStamp } from './stamp.mjs'
import { run, say, step } from './steps.mjs'

const STAMP = at('native', 'build', '.opscope-stamp')
export const ADDON = at('native', 'build', 'opscope.node')
/** What the Python worker loads; built together with the addon. */
export const GUEST = at('native', 'build', { win32: 'opscope_guest.dll', darwin: 'libopscope_guest.dylib' }[process.platform] ?? 'libopscope_guest.so')

/**
 * Builds the native addon and the guest library when its sources changed. Without it the app still starts, so a failure is a sentence.
 * @returns {Promise<boolean>} whether there are both of the present sources
 */
export async function buildAddon() {
  if (!existsSync(at('native', 'CMakeLists.txt'))) return false
  const build = at('native', 'build')
  const sources = filesBelow([at('native')], (path) => path === build)
  // The compilers count too: installing nvcc later must rebuild with CUDA.
  const salt = JSON.stringify([process.env.CXX, process.env.CUDACXX, process.env.CUDA_HOME, process.env.PATH?.split(':').find((folder) => existsSync(`${folder}/nvcc`)), existsSync('/usr/local/cuda/bin/nvcc')])
  const hash = hashOf(sources, salt)
  if (existsSync(ADDON) && existsSync(GUEST) && isCurrent(STAMP, hash)) return true
  try {
    await step('building the native addon', async () => {
      await run('cmake', ['-S', at('native'), '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release'], { what: 'cmake' })
      await run('cmake', ['--build', build], { what: 'the build of the native addon' })
    })
  } catch (error) {
    if (error.detail) say(error.detail)
    say(`opscope: CPU, CUDA and Python cases cannot be measured, because ${error.message}`)
    return false
  }
  writeStamp(STAMP, hash)
  return true
}
