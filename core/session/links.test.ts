import { describe, expect, it } from 'vitest'
import { linkPath, linkTo, readLink, writeLink, type Link } from './links'

const A = '0198c0de-1111-4222-8333-abcdefabcdef'
const B = '0198c0de-2222-4222-8333-abcdefabcdef'

describe('links', () => {
  it.each<[string, Link, string]>([
    [`opscope://session/${A}`, { view: 'session', id: A }, `/session/${A}`],
    [`opscope://compare/${A}/${B}`, { view: 'compare', ids: [A, B] }, `/compare?ids=${A},${B}`],
  ])('%s names a view and is written as it was', (text, link, path) => {
    expect(readLink(text)).toEqual(link)
    expect(readLink(`${text}/`)).toEqual(link)
    expect(writeLink(link)).toBe(text)
    expect(linkPath(link)).toBe(path)
  })

  it.each([
    '', 'opscope:', 'opscope://', 'opscope://session', 'opscope://session/', `opscope://session/${A}/${B}`, `opscope://session//${A}`, `opscope://compare/${A}`, `opscope://compare/${A}/${B}/${A}`,
    `opscope://settings/${A}`, `opscope://session/../${A}`, 'opscope://session/%2e%2e', `opscope://session/${A}?then=run`, `opscope://session/${A}#/settings`, `opscope://user@session/${A}`,
    'opscope://session/a b', 'opscope://session/<script>', `opscope://session/${'x'.repeat(65)}`, `opscope://session/${A}\n`, ` opscope://session/${A}`, `https://session/${A}`, `opscope:/session/${A}`, `javascript:opscope://session/${A}`, `opscope://session/${A},${B}`,
  ])('%j is no link', (text) => {
    expect(readLink(text)).toBeUndefined()
  })

  it('are made of one or two sessions of the history', () => {
    expect(linkTo([A])).toEqual({ view: 'session', id: A })
    expect(linkTo([A, B])).toEqual({ view: 'compare', ids: [A, B] })
    expect([linkTo([]), linkTo([A, B, A]), linkTo(['file:1'])]).toEqual([undefined, undefined, undefined])
  })
})
