import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { cudaLibraryFolders } from './cuda-libraries'

let home: string
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'opscope-libraries-'))))
afterEach(() => rmSync(home, { recursive: true, force: true }))

function put(...parts: string[]): string {
  const file = join(home, ...parts)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '')
  return dirname(file)
}

it('finds the libraries of a named toolkit, of Python environments and of the user, in this order', () => {
  put('env', 'bin', 'python3')
  const cublas = put('env', 'lib', 'python3.12', 'site-packages', 'nvidia', 'cublas', 'lib', 'libcublasLt.so.13')
  const torch = put('env', 'lib', 'python3.12', 'site-packages', 'torch', 'lib', 'libtorch.so')
  const user = put('.local', 'lib', 'python3.11', 'site-packages', 'nvidia', 'cudnn', 'lib', 'libcudnn.so.9')
  const toolkit = put('toolkit', 'lib64', 'libcublasLt.so.13')
  mkdirSync(join(home, 'env', 'lib', 'python3.12', 'site-packages', 'nvidia', 'empty', 'lib'), { recursive: true })
  const found = cudaLibraryFolders({ env: { VIRTUAL_ENV: join(home, 'env'), CUDA_HOME: join(home, 'toolkit') }, home, cwd: home, platform: 'linux', named: [] })
  expect(found.filter((folder) => folder.startsWith(home))).toEqual([toolkit, cublas, torch, user])
})
