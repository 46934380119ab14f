import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { at } from './paths.mjs'
import { filesBelow, hashOf, isCurrent, writeStamp } from './stamp.mjs'
import { run, say, step } from './steps.mjs'

const STAMP = at('native', 'build', '.opscope-stamp')
export const ADDON = at('native', 'build', 'opscope.node')
/** What the Python worker loads; built together with the addon. */
export const GUEST = at('native', 'build', { win32: 'opscope_guest.dll', darwin: 'libopscope_guest.dylib' }[process.platform] ?? 'libopscope_guest.so')

/** The GPUs that kernels are compiled for, as native/cuda/archs.cmake finds them; nothing where there is no cmake to ask. */
function cudaArchs(asked = process.env.OPSCOPE_CUDA_ARCHS ?? '') {
  const { status, stdout } = spawnSync('cmake', ['-P', at('native', 'cuda', 'archs.cmake')], { encoding: 'utf8', env: { ...process.env, OPSCOPE_CUDA_ARCHS: asked } })
  return status === 0 ? stdout.trim() : ''
}

/**
 * Builds the native addon and the guest library when its sources, the compilers or the GPUs of this machine changed; a build for
 * all GPUs (OPSCOPE_CUDA_ARCHS=all, as packages have it) serves any machine. Without it the app still starts, so a failure is a
 * sentence.
 * @returns {Promise<boolean>} whether there are both of the present sources
 */
export async function buildAddon() {
  if (!existsSync(at('native', 'CMakeLists.txt'))) return false
  const build = at('native', 'build')
  const sources = filesBelow([at('native')], (path) => path === build)
  // The compilers count too: installing nvcc later must rebuild with CUDA.
  const compilers = [process.env.CXX, process.env.CUDACXX, process.env.CUDA_HOME, process.env.PATH?.split(':').find((folder) => existsSync(`${folder}/nvcc`)), existsSync('/usr/local/cuda/bin/nvcc')]
  const hashFor = (archs) => hashOf(sources, JSON.stringify([...compilers, archs]))
  const archs = cudaArchs()
  if (existsSync(ADDON) && existsSync(GUEST) && (isCurrent(STAMP, hashFor(archs)) || isCurrent(STAMP, hashFor(cudaArchs('all'))))) return true
  try {
    await step('building the native addon', async () => {
      await run('cmake', ['-S', at('native'), '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release', `-DOPSCOPE_CUDA_ARCHS=${archs}`], { what: 'cmake' })
      await run('cmake', ['--build', build], { what: 'the build of the native addon' })
    })
  } catch (error) {
    if (error.detail) say(error.detail)
    say(`opscope: CPU, CUDA and Python cases cannot be measured, because ${error.message}`)
    return false
  }
  writeStamp(STAMP, hashFor(archs))
  return true
}
