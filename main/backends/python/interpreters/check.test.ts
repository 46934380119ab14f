import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { checkPython, programAt } from './check'

const root = mkdtempSync(join(tmpdir(), 'opscope-check-'))
afterAll(() => rmSync(root, { recursive: true }))
const at = (...parts: string[]) => join(root, ...parts)
function program(path: string, script: string, mode = 0o755): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, mode)
  return path
}
const python = (name: string) => program(at(name, 'bin', 'python3'), 'echo Python 3.12.1')
const around = { home: root, platform: 'linux' as const }
const check = (text: string, limitMs?: number) => checkPython(text, around, limitMs)

describe('the Python that a text names', () => {
  it('is a program, or that of the folder of an environment, as it is typed or pasted', async () => {
    const path = python('my env')
    for (const text of [path, at('my env'), `${at('my env')}/`, `  "${path}" `, '~/my env', '~/my env/bin/python3']) expect(await check(text)).toEqual({ ok: true, path, version: '3.12.1' })
  })

  it.each([
    ['nothing', () => at('nowhere', 'python'), /^There is nothing at .*nowhere\/python\. Expected the program of a Python/],
    ['no whole path', () => 'torch/bin/python', /^"torch\/bin\/python" is not a whole path\. Expected/],
    ['a folder without one', () => dirname(program(at('tools', 'ls'), 'ls')), /^The folder .*tools holds no Python: there is no bin\/python3 in it\. Expected/],
    ['a file that cannot be run', () => program(at('plain', 'python3'), '', 0o644), /plain\/python3 is not executable\. Expected/],
    ['another program', () => program(at('other'), 'echo "ls (GNU coreutils) 9.1"'), /other is not a Python: asked for its version, it said "ls \(GNU coreutils\) 9\.1"\. Expected/],
    ['a silent program', () => program(at('silent'), 'exit 0'), /silent is not a Python: asked for its version, it said nothing/],
    ['Python 2', () => program(at('old'), 'echo "Python 2.7.18" >&2'), /old is Python 2\.7\.18, which is too old\. Expected Python 3\.8 or newer/],
    ['Python 3.7', () => program(at('almost'), 'echo "Python 3.7.16"'), /almost is Python 3\.7\.16, which is too old/],
    ['a share of another machine', () => '\\\\server\\share\\python.exe', /is on another machine/],
    ['a share with slashes', () => '//server/share/python', /^"\/\/server\/share\/python" is on another machine/],
    ['an address', () => 'smb://server/python', /is on another machine/],
    ['a NUL', () => '/usr/bin/python3\u0000x', /^"\/usr\/bin\/python3\\u0000x" has characters that no path of a program has\. Expected/],
    ['a device', () => '/dev/null', /^\/dev\/null is no program/],
  ])('is refused where there is %s', async (_what, path, message) => {
    expect(await check(path())).toEqual({ ok: false, message: expect.stringMatching(message) as string })
  })

  it('is refused where it hangs', async () => {
    expect(await check(program(at('hanging'), 'exec sleep 30'), 300)).toEqual({ ok: false, message: expect.stringMatching(/it did not answer within 0.3 s/) as string })
  })

  it('is refused where the one an environment was made with is gone', () => {
    mkdirSync(at('stale', 'bin'), { recursive: true })
    writeFileSync(at('stale', 'pyvenv.cfg'), 'home = /gone/bin\n')
    symlinkSync('/gone/bin/python3', at('stale', 'bin', 'python3'))
    expect(programAt(at('stale'), around)).toEqual({ ok: false, message: expect.stringMatching(/stale has no Python that is there: the one it was made with may be gone/) as string })
  })
})
