import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PYTHON, WORKER } from './testing'

test.skipIf(spawnSync(PYTHON, ['--version']).status !== 0)('every Triton kernel gets the arguments it takes, for shapes of every path and each of its configurations', () => {
  const { stdout, stderr } = spawnSync(PYTHON, ['-B', join(WORKER, 'implementations/triton_/check.py')], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^\d{4} launches, 0 wrong\n$/)
})
