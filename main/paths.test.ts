import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { dataFolder, dataPaths, homeFolder, openDataFolder } from './paths'

const linux = (env: Record<string, string>) => dataFolder({ env, platform: 'linux', home: '/home/ada' })

test('each platform keeps data where its users look for it', () => {
  expect(linux({})).toBe('/home/ada/.local/share/opscope')
  expect(linux({ XDG_DATA_HOME: '/data' })).toBe('/data/opscope')
  expect(dataFolder({ env: {}, platform: 'darwin', home: '/Users/ada' })).toBe('/Users/ada/Library/Application Support/opscope')
  expect(dataFolder({ env: { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' }, platform: 'win32', home: 'C:\\Users\\ada' })).toBe('C:\\Users\\ada\\AppData\\Roaming\\opscope')
  expect(dataPaths('C:\\data', 'win32').history).toBe('C:\\data\\history.sqlite')
})

test('a relative XDG_DATA_HOME is ignored and OPSCOPE_DATA_DIR wins', () => {
  expect(linux({ XDG_DATA_HOME: 'data' })).toBe('/home/ada/.local/share/opscope')
  expect(linux({ XDG_DATA_HOME: '/data', OPSCOPE_DATA_DIR: '/own' })).toBe('/own')
})

test('the folder is made, and one that cannot be made is named', () => {
  const base = mkdtempSync(join(tmpdir(), 'opscope-paths-'))
  const { folder } = openDataFolder(dataPaths(join(base, 'a', 'b')))
  expect(statSync(folder).isDirectory()).toBe(true)
  writeFileSync(join(base, 'file'), '')
  expect(() => openDataFolder(dataPaths(join(base, 'file', 'x')))).toThrow(/cannot use the data folder .*file.x: .*OPSCOPE_DATA_DIR/)
})

test('without a home folder the account has one, and nothing is put into the working directory', () => {
  expect(homeFolder('')).toBe(userInfo().homedir)
  expect(() => dataFolder({ env: {}, platform: 'linux', home: '' })).toThrow(/no home folder.*OPSCOPE_DATA_DIR/)
  expect(() => dataFolder({ env: { XDG_DATA_HOME: 'data' }, platform: 'linux', home: 'home' })).toThrow(/no home folder/)
  expect(dataFolder({ env: { XDG_DATA_HOME: '/data' }, platform: 'linux', home: '' })).toBe('/data/opscope')
  expect(linux({ OPSCOPE_DATA_DIR: 'here' })).toBe(resolve('here'))
})

test.runIf(process.platform === 'linux')('a place where no folder can be made is named at once', () => {
  expect(() => openDataFolder(dataPaths('/proc/x/y'))).toThrow(/cannot use the data folder \/proc\/x\/y: .*OPSCOPE_DATA_DIR/)
})
