import { describe, expect, it } from 'vitest'
import { csvText, plainText, readCsv, type Cell } from './csv'
import { mix32 } from './values/random'

const cellsOf = (text: string) => {
  const read = readCsv(text)
  if (!read.ok) throw new Error(read.message)
  return read.records.map(({ cells }) => cells)
}

describe('written tables', () => {
  it('hold no text that a spreadsheet runs as a formula', () => {
    const texts = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', "'=1", "''=1", '=a,"b"']
    for (const [cell] of cellsOf(csvText(texts.map((text) => [text])))) expect(cell).toMatch(/^'/)
    expect(cellsOf(csvText([['a=b', "it's", "'tis"]]))).toEqual([['a=b', "it's", "'tis"]])
  })

  it('hold numbers in full, and nothing where there is no finite one', () => {
    expect(csvText([[-1.5, 2 ** 53, 1e-9, NaN, Infinity, true, undefined, '']])).toBe('-1.5,9007199254740992,1e-9,,,true,,\n')
    expect(csvText([])).toBe('')
  })

  it('give every text back when they are read', () => {
    const pieces = ['=', "'", '"', ',', '\n', '\r', '\r\n', ' ', '\t', '-', 'a', '1', '\u00e9']
    let state = 7
    const next = (below: number) => (state = mix32(state + 1)) % below
    for (let round = 0; round < 3000; round++) {
      const rows: Cell[][] = Array.from({ length: 1 + next(3) }, () => ['x', ...Array.from({ length: 1 + next(3) }, () => Array.from({ length: next(5) }, () => pieces[next(pieces.length)]!).join(''))])
      expect(cellsOf(csvText(rows)).map((cells) => cells.map(plainText)), JSON.stringify(rows)).toEqual(rows)
    }
  })
})

describe('read tables', () => {
  it.each([['\n'], ['\r\n'], ['\r']])('end their lines with %j', (end) => {
    expect(readCsv(`a,"b${end}c"${end}${end}1,""${end}`)).toEqual({ ok: true, records: [{ line: 1, cells: ['a', `b${end}c`] }, { line: 4, cells: ['1', ''] }] })
  })

  it('may be put together from files with different line ends, and end without one', () => {
    expect(cellsOf('a,b\r\n1,"x"\r\n3,4\nc,"d\r"\r\n5,6')).toEqual([['a', 'b'], ['1', 'x'], ['3', '4'], ['c', 'd\r'], ['5', '6']])
    expect(cellsOf('a,b"c\r\n')).toEqual([['a', 'b"c']])
  })

  it.each([
    ['a quote that is not closed', 'a,b\n"x\ny",1\n2,"z\n', 'line 4: expected a closing quote, received the end of the file'],
    ['text behind a closing quote', 'a,b\n\n"x"y,1\n', 'line 3: expected a comma or the end of the line behind the closing quote of a cell, received "\\"x\\"y,1\\n"'],
    ['too many columns', `a\n${','.repeat(2000)}\n`, 'line 2: more than 2000 columns'],
  ])('are refused with %s', (_what, text, message) => expect(readCsv(text)).toEqual({ ok: false, message }))
})
