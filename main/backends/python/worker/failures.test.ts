import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { probeSchema } from '../protocol'
import { PYTHON, WORKER } from './testing'

const missing = spawnSync(PYTHON, ['--version']).status === 0 ? undefined : `there is no ${PYTHON}`

/** What failures.py makes of an exception raised by this statement. */
const failureOf = (statement: string) => {
  const program = `import json, sys\nsys.path.insert(0, sys.argv[1])\nfrom failures import failure_of\ntry:\n  ${statement}\nexcept BaseException as error:\n  f = failure_of(error)\n  print(json.dumps([f.code, f.message]))`
  return JSON.parse(execFileSync(PYTHON, ['-B', '-c', program, WORKER], { encoding: 'utf8' })) as [string, string]
}
/** As libraries word them: PyTorch 1.10, 2.11, on the CPU, NumPy, cuBLAS, Triton. */
const NEW = 'CUDA out of memory. Tried to allocate 149.01 GiB. GPU 0 has a total capacity of 139.80 GiB of which 130.75 GiB is free. Including non-PyTorch memory, this process has 9.05 GiB memory in use.'
const OLD = 'CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 7.80 GiB total capacity; 6.10 GiB already allocated; 256.00 MiB free; 6.20 GiB reserved in total by PyTorch)'

describe.skipIf(missing)('failures of Python', () => {
  test.each([
    [`raise type("OutOfMemoryError", (RuntimeError,), {})("${NEW}")`, 'out-of-memory', 'CUDA ran out of memory: asked for 149 GiB with 131 GiB free.'],
    [`raise RuntimeError("${OLD}")`, 'out-of-memory', 'CUDA ran out of memory: asked for 0.5 GiB with 0.25 GiB free.'],
    ['raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")', 'out-of-memory', 'CUDA ran out of memory.'],
    ["raise RuntimeError(\"[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 4294967296 bytes. Error code 12\")", 'out-of-memory', 'The memory ran out: asked for 4 GiB.'],
    ['raise MemoryError("Unable to allocate 7.45 GiB for an array with shape (1000, 1000, 1000) and data type float64")', 'out-of-memory', 'The memory ran out: asked for 7.45 GiB.'],
    ['raise RuntimeError("CUDA error: an illegal memory access was encountered\\nCUDA kernel errors might be reported later")', 'device-lost', 'The GPU refused to go on: CUDA error: an illegal memory access was encountered.'],
    ['raise RuntimeError("Triton Error [CUDA]: misaligned address")', 'device-lost', 'The GPU refused to go on: Triton Error [CUDA]: misaligned address.'],
    ['raise RuntimeError("CUDA error: no kernel image is available for execution on the device")', 'kernel-failed', 'RuntimeError: CUDA error: no kernel image is available for execution on the device'],
    ['raise KeyboardInterrupt()', 'kernel-failed', 'KeyboardInterrupt'],
  ])('%s', (statement, code, message) => expect(failureOf(statement)).toEqual([code, message]))
})

describe.skipIf(missing)('the probe', () => {
  test('prints its answer only, whatever libraries print or how they fail', () => {
    const folder = mkdtempSync(join(tmpdir(), 'opscope-probe-'))
    try {
      writeFileSync(join(folder, 'numpy.py'), 'print("noise")\n__version__ = "1.99"')
      for (const name of ['jax', 'cupy']) writeFileSync(join(folder, `${name}.py`), `raise ModuleNotFoundError("No module named '${name}'", name="${name}")`)
      writeFileSync(join(folder, 'torch.py'), 'print("more noise")\nraise SystemExit("torch says\\ngoodbye")')
      const said = spawnSync(PYTHON, [join(WORKER, 'probe.py')], { encoding: 'utf8', env: { ...process.env, PYTHONPATH: folder } })
      const probe = probeSchema.parse(JSON.parse(said.stdout))
      expect(probe.packages.slice(0, 2)).toEqual([{ name: 'numpy', version: '1.99' }, { name: 'torch', problem: 'SystemExit: goodbye' }])
      expect(probe.cpu).toEqual({ ok: true })
      // Planning needs to know holes before a worker runs: this NumPy has no SciPy's erf beside it, and is what is left to prefer.
      expect(probe.impls.cpu.map(({ id, available, preferred }) => [id, available.ok, preferred])).toEqual([['jax', false, false], ['numpy', true, true], ['torch', false, true], ['torch.compile', false, false]])
      expect(Object.keys(probe.impls.cpu[1]!.kernels)).not.toContain('gelu')
      expect(probe.impls.cuda.map(({ id }) => id)).toEqual(['cupy', 'jax', 'torch', 'torch.compile', 'triton'])
      // What is not there has its reason and the command that installs it, and is no package of the list.
      expect(probe.packages.map(({ name }) => name)).toEqual(['numpy', 'torch', 'triton'])
      expect(probe.impls.cuda.slice(0, 2).map(({ available }) => available)).toEqual([
        { ok: false, reason: 'CuPy is not installed: python -m pip install cupy-cuda13x, or cupy-cuda12x for CUDA 12' }, { ok: false, reason: 'JAX is not installed: python -m pip install jax' },
      ])
      expect(probe.cuda).toEqual({ ok: false, reason: 'PyTorch cannot be imported: SystemExit: goodbye' })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
