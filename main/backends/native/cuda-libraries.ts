import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf } from '../python/interpreters/probe'
import { findCandidates, prefixOf, type Surroundings } from '../python/interpreters/sources'

/** Names in a folder, sorted; none where it cannot be read. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** `site-packages` of an environment or of a user's home. */
function sitePackages(prefix: string, platform: NodeJS.Platform): string[] {
  if (platform === 'win32') return [join(prefix, 'Lib', 'site-packages')]
  return namesIn(join(prefix, 'lib'))
    .filter((name) => /^python3\.\d+$/.test(name))
    .flatMap((name) => ['site-packages', 'dist-packages'].map((packages) => join(prefix, 'lib', name, packages)))
}

/** Folders of libraries that NVIDIA's packages put into an environment: `nvidia/cublas/lib`, `nvidia/cu13/lib`, and PyTorch's own. */
function inEnvironment(prefix: string, platform: NodeJS.Platform): string[] {
  const inside = platform === 'win32' ? 'bin' : 'lib'
  return sitePackages(prefix, platform).flatMap((packages) => [...namesIn(join(packages, 'nvidia')).map((name) => join(packages, 'nvidia', name, inside)), join(packages, 'torch', 'lib')])
}

function inToolkit(folder: string | undefined, platform: NodeJS.Platform): string[] {
  if (!folder) return []
  return platform === 'win32' ? [join(folder, 'bin'), join(folder, 'bin', 'x64')] : [join(folder, 'lib64'), join(folder, 'targets', 'x86_64-linux', 'lib')]
}

/**
 * Where NVIDIA's libraries (cuBLASLt, cuDNN, NVRTC) may lie beside the places of the loader, best first: toolkits that are named, the
 * Python environments in the order in which Opscope finds them, then toolkits in their usual places. Only folders that exist.
 */
export function cudaLibraryFolders(around: Surroundings): string[] {
  const { env, home, platform } = around
  const environments = [...findCandidates(around, identityOf).map(({ path }) => prefixOf(path)), ...(platform === 'win32' ? [] : [join(home, '.local')])]
  const usual = platform === 'win32' ? [] : ['/usr/local/cuda', '/opt/cuda']
  const all = [...[env['CUDA_HOME'], env['CUDA_PATH']].flatMap((folder) => inToolkit(folder, platform)), ...environments.flatMap((prefix) => inEnvironment(prefix, platform)), ...usual.flatMap((folder) => inToolkit(folder, platform))]
  return [...new Set(all)].filter((folder) => namesIn(folder).length > 0)
}
