import { describe, expect, it } from 'vitest'
import { testDevice, testGpu } from '../testing'
import { whyNotJoinable } from './joinable'
import type { Environment } from './types'

const gpu = testGpu({ name: 'NVIDIA H200', driver: '580' })
const bench: Environment = { appVersion: '1', code: 'abc', host: 'bench', os: 'Debian', kernel: 'Linux 6', cpu: 'Xeon', logicalCpus: 16, memoryBytes: 2 ** 33, node: '24', chromium: '130', devices: [gpu, testDevice()] }
const onGpu = [{ backend: gpu.backend, device: gpu.id }]
const why = (here: Partial<Environment>, cases = onGpu) => whyNotJoinable(bench, { ...bench, ...here }, cases)

describe('new measurements', () => {
  it('join a session of the same machine, driver and code', () => {
    expect(why({ os: 'Debian 13', node: '25' })).toBeUndefined()
    // What one side does not record is no difference.
    expect(whyNotJoinable({ ...bench, code: undefined, chromium: undefined }, bench, onGpu)).toBeUndefined()
    // Devices that the cases do not use may come and go.
    expect(why({ devices: [gpu] })).toBeUndefined()
    expect(why({ chromium: '140' })).toBeUndefined()
  })

  it.each<[string, Partial<Environment>]>([
    ['its device NVIDIA H200 (cuda:0) is not on this machine', { devices: [testDevice()], host: 'other' }],
    ['its device NVIDIA H200 (cuda:0) is not available here: no driver', { devices: [{ ...gpu, available: { ok: false, reason: 'no driver.' } }] }],
    ['its device cuda:0 is NVIDIA H200, and here it is NVIDIA H100', { devices: [{ ...gpu, name: 'NVIDIA H100' }] }],
    ['the driver of NVIDIA H200 was 580 and is 590 here', { devices: [{ ...gpu, driver: '590' }] }],
    ['the computer was bench and is other here', { host: 'other' }],
    ['the processor was Xeon and is EPYC here', { cpu: 'EPYC' }],
    ['Opscope was 1 and is 2 here', { appVersion: '2' }],
    ['it was measured by another build of Opscope', { code: 'def' }],
  ])('do not where %s', (reason, here) => expect(why(here)).toBe(`New measurements cannot join this session: ${reason}. Measure a new session instead.`))

  it('need the same libraries of a Python, and the same Chromium for WebGPU', () => {
    const python = (version?: string) => testDevice({ backend: 'python', id: 'python:cpu', interpreter: { path: '/usr/bin/python3', source: 'PATH', packages: [{ name: 'PyTorch', ...(version === undefined ? {} : { version }) }] } })
    const cases = [{ backend: 'python', device: 'python:cpu' }]
    const then = { ...bench, devices: [python('2.11')] }
    expect(whyNotJoinable(then, { ...bench, devices: [python('2.11')] }, cases)).toBeUndefined()
    expect(whyNotJoinable(then, { ...bench, devices: [python('2.12')] }, cases)).toContain('PyTorch was 2.11 and is 2.12 here')
    expect(whyNotJoinable(then, { ...bench, devices: [python()] }, cases)).toContain('PyTorch 2.11, which it used on Test CPU, is not here')
    const page = testDevice({ backend: 'webgpu', id: 'webgpu:0' })
    expect(whyNotJoinable({ ...bench, devices: [page] }, { ...bench, devices: [page], chromium: '140' }, [{ backend: 'webgpu', device: 'webgpu:0' }])).toContain('Chromium was 130 and is 140 here')
  })

  it('do not join results of another tool, whose hardware is not recorded', () => expect(whyNotJoinable({ ...bench, devices: [] }, bench, onGpu)).toContain('it does not record which hardware cuda:0 is'))
})
