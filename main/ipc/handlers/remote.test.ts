import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Dialogs } from '../../app/dialogs'
import { Remotes } from '../../remote'
import { remoteHandlers } from './remote'

test('ssh connects to nothing that the user has not agreed to in a dialog of main', async () => {
  const asked: string[] = []
  const no = () => Promise.reject(new Error('no'))
  const dialogs: Dialogs = { open: no, save: no, folder: no, program: no, choose: no, confirm: ({ detail }) => Promise.resolve((asked.push(detail.split('\n')[0]!), false)) }
  const remotes = new Remotes(mkdtempSync(join(tmpdir(), 'opscope-remotes-')))
  const handlers = remoteHandlers({ remotes, dialogs })
  expect(await handlers['remotes:add']({ destination: 'me@gpubox' })).toEqual({ done: false })
  expect(asked).toEqual(['me@gpubox'])
  for (const destination of ['-oProxyCommand=x', 'a;b', '$(x)']) await expect(handlers['remotes:add']({ destination })).rejects.toMatchObject({ code: 'bad-request' })
  expect(asked).toHaveLength(1)
  expect(() => handlers['remotes:remove']({ name: 'gpubox' })).toThrow('There is no remote machine "gpubox"')
  expect(handlers['remotes:list']()).toEqual([])
})
