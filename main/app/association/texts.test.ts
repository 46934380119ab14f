import { describe, expect, it } from 'vitest'
import { desktopEntry, mimePackage, withoutOpscope } from './texts'

describe('desktopEntry', () => {
  it('quotes every argument as the Exec key asks', () => {
    const exec = desktopEntry(['/opt/my apps/100%/op"s', '$HOME`x`', 'back\\slash']).split('\n').find((line) => line.startsWith('Exec='))
    // By hand from the specification: quote, escape within the quotes, then escape backslashes of the string value.
    expect(exec).toBe(String.raw`Exec="/opt/my apps/100%%/op\\"s" "\\$HOME\\` + '`x' + String.raw`\\` + '`"' + String.raw` "back\\\\slash" %U`)
  })

  it('refuses a line break, which would start another key', () => {
    expect(() => desktopEntry(['/opt/a\nExec=evil'])).toThrow(/line break/)
  })

  it('names the type that the MIME package defines', () => {
    const type = /^MimeType=([^;]*);/m.exec(desktopEntry(['opscope']))![1]!
    expect(mimePackage()).toContain(`type="${type}"`)
  })
})

describe('withoutOpscope', () => {
  it('takes out our entry alone', () => {
    const before = ['[Default Applications]', 'text/plain=gedit.desktop', 'application/vnd.opscope.session+json=opscope.desktop', '', '[Added Associations]', 'application/vnd.opscope.session+json=code.desktop;opscope.desktop;', 'x-scheme-handler/opscope=opscope.desktop;', ''].join('\n')
    expect(withoutOpscope(before)).toBe(['[Default Applications]', 'text/plain=gedit.desktop', '', '[Added Associations]', 'application/vnd.opscope.session+json=code.desktop;', ''].join('\n'))
  })

  it('leaves a file without us as it is', () => {
    const text = '# mine\n[Default Applications]\na/b=c.desktop\n'
    expect(withoutOpscope(text)).toBe(text)
  })
})
