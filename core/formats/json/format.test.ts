import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mix32 } from '../../values/random'
import { sessionFileSchema } from '../../session/types'
import { testCase, testResult, testSession } from '../../testing'
import { randomSession } from '../testing/sessions'
import { exportSession, importSession } from '../registry'

const golden = readFileSync(resolve(import.meta.dirname, '../../../test/fixtures/session-v2.json'), 'utf8')
const text = exportSession('json', testSession())

const imported = (source: string) => {
  const outcome = importSession('a.json', source)
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.file
}
const refusal = (source: string) => {
  const outcome = importSession('a.json', source)
  return outcome.ok ? 'accepted' : outcome.message
}
/** The exported test session with one piece of text replaced. */
const edited = (from: string | RegExp, to: string) => {
  const changed = text.replace(from, to)
  if (changed === text) throw new Error(`nothing to replace: ${from}`)
  return changed
}

describe('round trip', () => {
  it('gives back the identical session, whatever is in it', () => {
    for (let seed = 0; seed < 300; seed++) {
      // Fields that are absent and fields that are undefined are the same session.
      const file = sessionFileSchema.parse(randomSession(seed))
      const written = exportSession('json', file)
      const back = imported(written)
      expect(back).toEqual(file)
      expect(exportSession('json', back)).toBe(written)
    }
  })

  it('keeps every bit of a number, also the sign of zero and the smallest', () => {
    const samplesNs = [5e-324, 1.7976931348623157e308, 0.1 + 0.2, -0, 2 ** 53 + 2]
    const [result] = imported(exportSession('json', testSession([testResult({ samplesNs })]))).results
    expect(result!.samplesNs.every((v, i) => Object.is(v, samplesNs[i]))).toBe(true)
  })

  it('equal sessions give equal text, in whatever order their parameters came', () => {
    const one = testSession([testResult({ case: testCase({ params: { rows: 1, cols: 2 } }) })])
    const other = testSession([testResult({ case: testCase({ params: { cols: 2, rows: 1 } }) })])
    expect(exportSession('json', one)).toBe(exportSession('json', other))
  })

  it('reads and writes the committed file of version 2 without a change', () => {
    expect(exportSession('json', imported(golden))).toBe(golden)
  })

  it('a byte order mark is no part of the file', () => {
    expect(imported(`\ufeff${text}`).session.name).toBe('First look')
  })
})

describe('refusals name the file, the place and what was expected', () => {
  it.each<[string, string, RegExp]>([
    ['nothing', ' \n', /^a\.json: the file is empty/],
    ['another format', 'name,speed\n', /^a\.json: not a format that can be read; expected one of: JSON.*$/],
    ['other JSON', '{"benchmarks":[]}', /not a format/],
    ['a list', '[1]', /not a format/],
    ['cut off', text.slice(0, 400), /^a\.json: line 4, column \d+: expected .*, received the end of the file$/],
    ['a stray comma', edited('"session":{', '"session":,{'), /^a\.json: line 3, column 11: expected a value, received ",\{/],
    ['a newer version', edited('"schemaVersion":2', '"schemaVersion":9'), /newer Opscope \(version 9\)/],
    ['a version that never was', edited('"schemaVersion":2', '"schemaVersion":"x"'), /schemaVersion: expected a whole number/],
    ['a text for a number', edited('"wallMs":250', '"wallMs":"250"'), /^a\.json: results\[0\]\.wallMs: expected a number, received "250"$/],
    ['a negative sample', edited('[99,100,101.5]', '[99,-100,101.5]'), /results\[0\]\.samplesNs\[1\]: expected a number of at least 0, received -100/],
    ['an infinite sample', edited('[99,100,101.5]', '[99,1e999]'), /results\[0\]\.samplesNs\[1\]: expected a number, received Infinity/],
    ['null for a number', edited('[99,100,101.5]', '[null]'), /samplesNs\[0\]: expected a number, received null/],
    ['an unknown status', edited('"status":"ok"', '"status":"fine"'), /results\[0\]\.status: expected one of "ok", "wrong".*received "fine"/],
    ['an unknown dtype', edited('"dtype":"f32","backend"', '"dtype":"f8","backend"'), /case\.dtype: expected one of "f32"/],
    ['a missing part', edited(/"environment":.*\n/, ''), /environment: expected an object, received nothing/],
    ['a time that is none', edited('2026-01-02T03:04:05.678Z', 'yesterday'), /results\[0\]\.startedAt: expected a time such as/],
    ['no statistics on a good result', edited(/"summary":\{[^}]*\},/, ''), /results\[0\]\.summary: expected statistics/],
    ['a prototype key', edited('"params":{', '"params":{"__proto__":1,'), /results\[0\]\.case\.params\.__proto__: the key "__proto__" is not allowed/],
    ['a constructor key', edited('"session":{', '"session":{"constructor":{},'), /session\.constructor: the key/],
    ['a deep nest', edited('"session":{', `"session":{"x":${'['.repeat(50_000)}${']'.repeat(50_000)},`), /nested deeper than 32 levels/],
    ['an overlong name', edited('First look', 'n'.repeat(201)), /session\.name: expected a text of at most 200 characters, received a text of 201 characters/],
  ])('%s', (_name, source, message) => expect(refusal(source)).toMatch(message))

  it('two results with one id', () => {
    expect(refusal(exportSession('json', testSession([testResult(), testResult()])))).toBe('a.json: results[1].id: expected an id of its own, received that of results[0], "r1"')
  })

  it('counts what else is wrong', () => {
    expect(refusal(edited('"wallMs":250,"measuredMs":100', '"wallMs":-1,"measuredMs":-1'))).toMatch(/results\[0\]\.wallMs: .*\(and 1 more\)$/)
  })

  it('a broken session is not written either', () => {
    expect(() => exportSession('json', testSession([testResult({ wallMs: NaN })]))).toThrow(/cannot be exported: results\[0\]\.wallMs: expected a number, received NaN/)
  })
})

describe('damaged files', () => {
  it('thousands of mutations give a valid session or one message, never an exception', () => {
    let state = 7
    const below = (n: number) => (state = mix32((state + 0x9e3779b9) >>> 0)) % n
    const pieces = ['{', '}', '[', ']', '"', ',', ':', '0', '-', 'e999', 'null', 'true', '"__proto__":1,', '\u0000', '\\u', '\ud800', '1e308', '""']
    let accepted = 0
    for (let round = 0; round < 4000; round++) {
      let source = round % 2 ? text : golden
      for (let edits = 1 + below(3); edits > 0; edits--) {
        const at = below(source.length)
        const cut = below(4) === 0 ? below(200) : below(3)
        source = source.slice(0, at) + (below(3) ? pieces[below(pieces.length)]! : '') + source.slice(at + cut)
      }
      const outcome = importSession('m.json', source)
      if (outcome.ok) {
        accepted++
        expect(sessionFileSchema.safeParse(outcome.file).success).toBe(true)
      } else {
        expect(outcome.message).toMatch(/^m\.json: \S/)
        expect(outcome.message.length).toBeLessThan(700)
      }
    }
    // Damage within names and digits leaves some files valid; all refused or all accepted would mean a broken test.
    expect(accepted).toBeGreaterThan(10)
    expect(accepted).toBeLessThan(3000)
    expect(Object.prototype).not.toHaveProperty('1')
  })
})
