import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { importSession } from '../registry'

const text = readFileSync(resolve(import.meta.dirname, '../../../test/fixtures/formats/nvbench/import/built-from-schema.json'), 'utf8')

it('has a cold and a hot result for a state that was measured both ways, and keeps why one was skipped', () => {
  const outcome = importSession('copy.json', text)
  if (!outcome.ok) throw new Error(outcome.message)
  const { results, environment } = outcome.file
  expect(results.map(({ case: c, status }) => [c.op, c.device, c.mode, c.dtype, status])).toEqual([
    ['copy_type_sweep', 'cuda:0', 'cold', 'f32', 'ok'], ['copy_type_sweep', 'cuda:0', 'hot', 'f32', 'ok'], ['copy_type_sweep', 'cuda:0', 'cold', 'unknown', 'ok'], ['copy_type_sweep', 'cuda:0', 'hot', 'unknown', 'ok'],
    ['copy_type_sweep', 'cuda:0', 'cold', 'unknown', 'skipped'], ['host_parse', 'cpu', 'hot', 'unknown', 'ok'],
  ])
  expect(results[0]!.case.params).toEqual({ T: 'F32', Elements: 1048576, Ratio: 0.5 })
  // Seconds as text in the file: 5.2e-06.
  expect(results[0]!.summary).toMatchObject({ count: 1024, medianNs: 5.2e-6 * 1e9, minNs: expect.closeTo(5044), maxNs: expect.closeTo(6240), stddevNs: expect.closeTo(52) })
  expect(results[0]!.bytes).toBe(Math.round(1.613e12 * 5.2e-6))
  expect(results[0]!.notes).toContain('The file states the mean, which stands for the median here.')
  expect(results[4]!.message).toBe('Not enough memory on the device.')
  expect(environment.devices[0]).toMatchObject({ id: 'cuda:0', name: 'NVIDIA H200', caches: [{ name: 'L2', bytes: 62914560 }] })
})

it.each([
  ['"is_skipped": false', '"is_skipped": "no"', /^n\.json: benchmarks\[0\]\.states\[0\]\.is_skipped: expected true or false, received "no"$/],
  ['"tag": "nv/cold/time/gpu/mean"', '"tag": 5', /benchmarks\[0\]\.states\[0\]\.summaries\[4\]\.tag: expected a text, received 5/],
  ['"value": "5.2e-06"', '"value": "1e300"', /expected a number, received Infinity|results\[0\]/],
])('says where %s is not what it must be', (from, to, message) => {
  const outcome = importSession('n.json', text.replace(from, to))
  expect(outcome.ok ? 'accepted' : outcome.message).toMatch(message)
})
