import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { locateGuest, locateWorker } from './locate'

const only = (path: string) => (candidate: string) => candidate === resolve(path)

test('the worker is found beside the bundle, in the sources, and beside the archive of a packaged app', () => {
  expect(locateWorker('/app/out/main', only('/app/out/main/python/worker.py'))).toBe(resolve('/app/out/main/python'))
  expect(locateWorker('/app/out/main/chunks', only('/app/out/main/python/worker.py'))).toBe(resolve('/app/out/main/python'))
  expect(locateWorker('/app/main/backends/python', only('/app/main/backends/python/worker/worker.py'))).toBe(resolve('/app/main/backends/python/worker'))
  expect(locateWorker('/opt/resources/app.asar/out/main', only('/opt/resources/app.asar.unpacked/out/main/python/worker.py'))).toBe(resolve('/opt/resources/app.asar.unpacked/out/main/python'))
  expect(locateWorker('/app/out/main', () => false)).toBeUndefined()
})

test('the guest library lies beside the addon, or where OPSCOPE_GUEST says, even when nothing is there', () => {
  const find = (from: string, path: string) => locateGuest(from, {}, only(path), 'linux')
  expect(find('/app/out/main', '/app/native/build/libopscope_guest.so')).toBe(resolve('/app/native/build/libopscope_guest.so'))
  expect(find('/opt/resources/app.asar/out/main', '/opt/resources/app.asar.unpacked/native/build/libopscope_guest.so')).toBe(resolve('/opt/resources/app.asar.unpacked/native/build/libopscope_guest.so'))
  expect(locateGuest('/app/out/main', {}, only('/app/native/build/opscope_guest.dll'), 'win32')).toBe(resolve('/app/native/build/opscope_guest.dll'))
  expect(locateGuest('/app', { OPSCOPE_GUEST: '/elsewhere/x.so' }, () => false)).toBe(resolve('/elsewhere/x.so'))
})
