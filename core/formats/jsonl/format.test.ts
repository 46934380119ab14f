import { describe, expect, it } from 'vitest'
import { sessionFileSchema } from '../../session/types'
import { testResult, testSession } from '../../testing'
import { randomSession } from '../testing/sessions'
import { exportSession, importSession } from '../registry'

const two = exportSession('jsonl', testSession([testResult(), testResult({ id: 'r2' })]))
const refusal = (text: string) => {
  const outcome = importSession('a.jsonl', text)
  return outcome.ok ? 'accepted' : outcome.message
}

describe('JSON Lines', () => {
  it('gives back the identical session, whatever is in it', () => {
    for (let seed = 0; seed < 200; seed++) {
      const file = sessionFileSchema.parse(randomSession(seed))
      const text = exportSession('jsonl', file)
      expect(text.trimEnd().split('\n')).toHaveLength(file.results.length + 1)
      expect(importSession('a.jsonl', text)).toEqual({ ok: true, file })
    }
  })

  it('reads lines that end as on Windows, and leaves empty ones out', () => {
    expect(importSession('a.jsonl', `\ufeff${two.replaceAll('\n', '\r\n\r\n')}`).ok).toBe(true)
  })

  it.each([
    ['cut off behind a line', two.slice(0, two.lastIndexOf('{"id":"r2"')), /^a\.jsonl: line 2: expected 2 results as the first line says, received 1$/],
    ['cut off within a line', two.slice(0, -30), /^a\.jsonl: line 3: column \d+: expected /],
    ['a line too many', two + two.trimEnd().split('\n')[2], /line 4: expected 2 results as the first line says, received 3/],
    ['a prototype key', two.replace('"params":{', '"params":{"__proto__":1,'), /line 2: case\.params\.__proto__: the key "__proto__" is not allowed/],
    ['a text for a number', two.replace('"wallMs":250', '"wallMs":"x"'), /results\[0\]\.wallMs: expected a number, received "x"/],
    ['a newer version', two.replace('"schemaVersion":2', '"schemaVersion":7'), /newer Opscope/],
  ])('refuses a file with %s', (_what, text, message) => expect(refusal(text)).toMatch(message))
})
