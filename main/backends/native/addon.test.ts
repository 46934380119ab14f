import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { locateAddon } from './addon'

const only = (path: string) => (candidate: string) => candidate === path

describe('locateAddon', () => {
  it('finds the build of a checkout from a bundled file', () => {
    const addon = resolve('/work/app/native/build/opscope.node')
    expect(locateAddon('/work/app/out/main', {}, only(addon))).toBe(addon)
  })

  it('looks beside the archive in a packaged app', () => {
    const addon = resolve('/opt/opscope/resources/app.asar.unpacked/native/build/opscope.node')
    expect(locateAddon('/opt/opscope/resources/app.asar/out/main', {}, only(addon))).toBe(addon)
  })

  it('prefers OPSCOPE_ADDON, even when it does not exist, so that a wrong path is reported', () => {
    expect(locateAddon('/work/app', { OPSCOPE_ADDON: join('/elsewhere', 'x.node') }, () => true)).toBe(resolve('/elsewhere/x.node'))
  })

  it('gives undefined when nothing was built', () => {
    expect(locateAddon('/work/app/out/main', {}, () => false)).toBeUndefined()
  })
})
