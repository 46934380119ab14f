import { expect, it } from 'vitest'
import { mix32 } from '../../values/random'
import { findSyntaxProblem, jsonSyntaxMessage } from './json'

it.each([
  ['{"a":1,}', 7, 'a name in quotes'],
  ['{"a" 1}', 5, 'a colon'],
  ['{"a":1 "b":2}', 7, 'a comma or }'],
  ['{a:1}', 1, 'a name in quotes or }'],
  ['[1,]', 3, 'a value'],
  ['[1 2]', 3, 'a comma or ]'],
  ['[,1]', 1, 'a value or ]'],
  ['[01]', 2, 'a comma or ]'],
  ['{"a":NaN}', 5, 'a value'],
  ['["open', 1, 'a text that is closed and properly escaped'],
  ['["\\x"]', 1, 'a text that is closed and properly escaped'],
  ['{} {}', 3, 'the end of the file'],
  ['{"a":', 5, 'a value'],
])('%s', (text, position, expected) => expect(findSyntaxProblem(text)).toMatchObject({ position, expected }))

it('agrees with the engine about what is JSON', () => {
  const pieces = ['{', '}', '[', ']', '"a"', ':', ',', '1', '-0.5e+3', 'true', 'null', ' ', '\n', '"\\u00e9"', '"\u2028"', '.5', '"\t"']
  let state = 3
  let valid = 0
  for (let round = 0; round < 20_000; round++) {
    let text = ''
    for (let i = 0; i < 1 + (round % 7); i++) text += pieces[(state = mix32(state + 1)) % pieces.length]!
    let parses = true
    try {
      JSON.parse(text)
    } catch {
      parses = false
    }
    if (parses) valid++
    expect(findSyntaxProblem(text) === undefined, JSON.stringify(text)).toBe(parses)
  }
  expect(valid).toBeGreaterThan(500)
})

it('counts lines and columns from 1, whichever way lines end', () => {
  expect(jsonSyntaxMessage('{\n  "a": 1\n  "b": 2\n}')).toBe('line 3, column 3: expected a comma or }, received "\\"b\\": 2\\n}"')
  expect(jsonSyntaxMessage('{\r\n"a": [1,\r\n')).toBe('line 3, column 1: expected a value, received the end of the file')
})

it('reads long texts, and ends at nests that are too deep', () => {
  const long = JSON.stringify('x\\n'.repeat(2_000_000))
  expect(findSyntaxProblem(`[${long},]`)).toMatchObject({ position: long.length + 2, expected: 'a value' })
  expect(findSyntaxProblem('['.repeat(1_000_000))).toMatchObject({ position: 500, expected: 'no more than 500 levels' })
})
