import { describe, expect, it } from 'vitest'
import { chartFile } from './chosen-file'

const png = `data:image/png;base64,${Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]).toString('base64')}`

describe('chartFile', () => {
  it('takes what it is told to be', () => {
    expect(chartFile({ kind: 'png', data: png })).toHaveLength(11)
    expect(chartFile({ kind: 'svg', data: '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><text>on = 1</text></svg>' })).toContain('<svg')
    expect(chartFile({ kind: 'csv', data: 'a,b\n1,2\n' })).toBe('a,b\n1,2\n')
  })

  it.each([
    ['png', 'data:text/html;base64,PGI+'],
    ['png', 'data:image/png;base64,R0lGODlh'],
    ['png', '/etc/passwd'],
    ['svg', '<html><svg></svg></html>'],
    ['svg', '<svg><script>alert(1)</script></svg>'],
    ['svg', '<svg onload="x()"></svg>'],
    ['svg', ''],
  ] as const)('refuses %s data %s', (kind, data) => {
    expect(() => chartFile({ kind, data })).toThrow('could not be saved')
  })
})
