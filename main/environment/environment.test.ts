import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environmentSchema } from '@core/session/types'
import { testDevice, testGpu } from '@core/testing'
import { graphicsSwitches, measuringVariables, readEnvironment } from './index'
import { parseCpuInfo, parseOsRelease, parseSize, readCaches, summarizeCaches } from './system'
import { boostOf, governorOf, powerSourceOf } from '.'

test('the record of this machine fits the session format and says what a reader needs', () => {
  const environment = environmentSchema.parse(readEnvironment([]))
  expect(environment.cpu).toMatch(/\S/)
  expect(environment.logicalCpus).toBeGreaterThan(0)
  expect(environment.memoryBytes).toBeGreaterThan(1e8)
  expect(environment.node).toBe(process.versions.node)
  expect(environment.electron).toBeUndefined()
})

test('the record holds the noise floors of its devices under their drivers, and Chromium switches only for WebGPU', () => {
  const floor = { backend: 'cuda', device: 'cuda:0', deviceName: 'Test GPU', driver: '570', measuredAt: '2026-01-01T00:00:00Z', pairs: 40, falseVerdicts: 0, ratioP50: 0.001, ratioP95: 0.003, sessionId: 's' }
  const noiseFloors = [floor, { ...floor, driver: '550' }, { ...floor, device: 'cuda:1' }, { ...floor, deviceName: 'other' }]
  const gpu = testGpu({ driver: '570' })
  expect(readEnvironment([gpu], { noiseFloors }).noiseFloors).toEqual([floor])
  expect(readEnvironment([testDevice()], { noiseFloors }).noiseFloors).toEqual([])
  expect(readEnvironment([gpu]).switches!.filter((text) => text.startsWith('--'))).toEqual([])
  expect(readEnvironment([{ ...gpu, backend: 'webgpu' }]).switches).toContain('--disable-dawn-features=timestamp_quantization')
})

test('a Chromium of another process is recorded as the one its devices name', () => {
  expect(readEnvironment([testGpu({ backend: 'webgpu', facts: [{ name: 'Browser', value: 'Chrome/130.0.6723.44' }] })]).chromium).toBe('130.0.6723.44')
  expect(readEnvironment([testGpu()]).chromium).toBeUndefined()
})

test('names are read from Linux system files in the forms they come in', () => {
  expect(parseOsRelease('NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n')).toBe('Debian GNU/Linux 13 (trixie)')
  expect(parseOsRelease('PRETTY_NAME=Alpine\n')).toBe('Alpine')
  expect(parseOsRelease('NAME=x')).toBeUndefined()
  expect(parseCpuInfo('processor\t: 0\nmodel name\t: AMD EPYC 7B13\n')).toBe('AMD EPYC 7B13')
  expect(parseCpuInfo('processor\t: 0\nHardware\t: BCM2835\n')).toBe('BCM2835')
  expect(parseCpuInfo('processor\t: 0\n')).toBeUndefined()
})

describe('caches', () => {
  const entry = (level: string, type: string, size: string, shared: string) => ({ level: `${level}\n`, type: `${type}\n`, size: `${size}\n`, shared: `${shared}\n` })

  test('an instance that several processors share counts once, and instructions are left out', () => {
    const entries = ['0-1', '2-3'].flatMap((core) => [0, 1].flatMap(() => [entry('1', 'Data', '32K', core), entry('1', 'Instruction', '64K', core), entry('2', 'Unified', '1024K', core), entry('3', 'Unified', '32M', '0-3')]))
    expect(summarizeCaches(entries)).toEqual([{ name: 'L1d', bytes: 2 ** 15, instances: 2 }, { name: 'L2', bytes: 2 ** 20, instances: 2 }, { name: 'L3', bytes: 2 ** 25, instances: 1 }])
  })

  test('cores of two kinds have a line each', () => {
    expect(summarizeCaches([entry('1', 'Data', '48K', '0'), entry('1', 'Data', '32K', '1'), entry('1', 'Data', '32K', '2')])).toEqual([{ name: 'L1d', bytes: 32768, instances: 2 }, { name: 'L1d', bytes: 49152, instances: 1 }])
  })

  test('sizes that cannot be read are no caches', () => {
    expect(['32K', '1M', '512', '', '0K', 'large'].map(parseSize)).toEqual([32768, 2 ** 20, 512, undefined, undefined, undefined])
    expect(summarizeCaches([entry('2', 'Unified', '', '0')])).toEqual([])
    expect(readCaches('/no/such/folder')).toBeUndefined()
  })

  test('are read from the kernel’s files', () => {
    const root = mkdtempSync(join(tmpdir(), 'opscope-caches-'))
    for (const cpu of ['cpu0', 'cpu1', 'cpufreq']) {
      mkdirSync(join(root, cpu, 'cache/index3'), { recursive: true })
      for (const [name, text] of Object.entries({ level: '3', type: 'Unified', size: '16384K', shared_cpu_list: '0-1' })) writeFileSync(join(root, cpu, 'cache/index3', name), `${text}\n`)
    }
    expect(readCaches(root)).toEqual([{ name: 'L3', bytes: 2 ** 24, instances: 1 }])
    rmSync(root, { recursive: true })
  })
})

describe('clocks and power', () => {
  test('one governor is one word, several are listed, none is unknown', () => {
    expect(governorOf(['performance\n', 'performance\n'])).toBe('performance')
    expect(governorOf(['schedutil\n', 'performance\n', ''])).toBe('performance, schedutil')
    expect(governorOf(['', ''])).toBeUndefined()
  })

  test('boost is read from either driver of the kernel', () => {
    expect(boostOf({ noTurbo: '1\n', boost: '' })).toBe(false)
    expect(boostOf({ noTurbo: '0\n', boost: '0\n' })).toBe(true)
    expect(boostOf({ noTurbo: '', boost: '0\n' })).toBe(false)
    expect(boostOf({ noTurbo: '', boost: '' })).toBeUndefined()
  })

  test('the source is what delivers; a mouse’s battery says nothing', () => {
    const supply = (type: string, online = '', status = '', scope = '') => ({ type: `${type}\n`, online, status, scope })
    expect(powerSourceOf([supply('Mains', '1\n'), supply('Battery', '', 'Charging\n')])).toBe('mains')
    expect(powerSourceOf([supply('Mains', '0\n'), supply('Battery', '', 'Discharging\n')])).toBe('battery')
    expect(powerSourceOf([supply('USB', '1\n'), supply('Battery', '', 'Full\n')])).toBe('mains')
    expect(powerSourceOf([supply('Battery', '', 'Not charging\n')])).toBe('mains')
    expect(powerSourceOf([supply('Battery', '', 'Discharging\n', 'Device\n')])).toBeUndefined()
    expect(powerSourceOf([])).toBeUndefined()
  })
})

describe('switches', () => {
  test('variables that change measuring are kept by name and value', () => {
    const env = { CUDA_VISIBLE_DEVICES: '1', OMP_NUM_THREADS: '4', OPSCOPE_WEBGPU: 'software', MALLOC_ARENA_MAX: '2', NVIDIA_TF32_OVERRIDE: '0', HOME: 'x', PATH: 'y', EMPTY: '', CUDA_EMPTY: '' }
    expect(measuringVariables(env)).toEqual(['CUDA_VISIBLE_DEVICES=1', 'MALLOC_ARENA_MAX=2', 'NVIDIA_TF32_OVERRIDE=0', 'OMP_NUM_THREADS=4', 'OPSCOPE_WEBGPU=software'])
  })

  test('paths, secrets and where the app lies are not', () => {
    const env = { CUDA_PATH: '/home/ada/cuda', CUDA_HOME: 'C:\\Users\\ada', OPSCOPE_API_KEY: 'k', CUDA_TOKEN: 't', OPSCOPE_ELECTRON: 'electron', OPSCOPE_DATA_DIR: 'data', OMP_LONG: 'x'.repeat(300) }
    expect(measuringVariables(env)).toEqual([])
  })

  test('of a command line only what concerns graphics', () => {
    const argv = ['--use-angle=vulkan', '--remote-debugging-port=9222', '--disable-gpu-vsync', '--enable-features=Vulkan,X', 'main.js', '--gpu-launcher=/home/ada/tool', '--user-data-dir=/tmp/x', '--Bad']
    expect(graphicsSwitches(argv)).toEqual(['--use-angle=vulkan', '--disable-gpu-vsync', '--enable-features=Vulkan,X'])
  })
})
