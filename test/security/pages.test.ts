import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, type Launched } from '../e2e/launch'

let opened: Launched
beforeAll(async () => {
  opened = await launch()
})
afterAll(() => opened.close())

/** Status of a request as main's network stack makes it: no page, no CSP, URLs as written. */
const status = (url: string) => opened.app.evaluate(({ net }, address) => net.fetch(address).then((answer) => answer.status, () => 'no answer'), url)

/** Rule 2: pages come from the app's own scheme, and only files of its folder. */
describe('app://', () => {
  it('serves the page, which is a secure context of its own origin', async () => {
    expect(opened.page.url()).toMatch(/^app:\/\/opscope\/index\.html/)
    expect(await opened.page.evaluate(() => ({ secure: isSecureContext, isolated: crossOriginIsolated, origin: location.origin }))).toEqual({ secure: true, isolated: true, origin: 'app://opscope' })
  })

  it.each(['../main/index.js', '../../package.json', '%2e%2e/main/index.js', '%2e%2e%2fmain%2findex.js', '..%2f..%2fpackage.json', '..%5cmain%5cindex.js', '....//main/index.js', '.opscope-stamp', 'assets', '', 'index.html%00', 'missing.html'])('answers 404 for %j', async (path) => {
    expect(await status(`app://opscope/${path}`)).toBe(404)
  })

  it('has one host', async () => {
    expect(await status('app://elsewhere/index.html')).toBe(404)
    expect(await status('app://opscope/index.html')).toBe(200)
  })

  it('reaches nothing else from the page', async () => {
    const answers = await opened.page.evaluate(() => Promise.all(['https://example.com/', 'http://127.0.0.1:9/', 'file:///etc/passwd', 'app://opscope/../package.json'].map((url) => fetch(url).then((answer) => answer.status, () => 'blocked'))))
    expect(answers).toEqual(['blocked', 'blocked', 'blocked', 404])
  })
})

describe('content security policy', () => {
  it('is sent with the page and starts from nothing', async () => {
    const policy = await opened.page.evaluate(() => fetch('app://opscope/index.html').then((answer) => answer.headers.get('Content-Security-Policy') ?? ''))
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toMatch(/unsafe-eval|https?:|\*/)
    expect(policy.split(';').filter((directive) => directive.includes('unsafe-inline')).map((directive) => directive.trim().split(' ')[0])).toEqual(['style-src-attr'])
  })

  it('blocks inline scripts, handlers and foreign scripts', async () => {
    const ran = await opened.page.evaluate(async () => {
      let blocked = 0
      const all = new Promise<void>((resolve) => document.addEventListener('securitypolicyviolation', () => ++blocked === 3 && resolve()))
      const script = document.createElement('script')
      script.textContent = 'window.inlineRan = true'
      document.head.append(script)
      const foreign = Object.assign(document.createElement('script'), { src: 'data:text/javascript,window.foreignRan=true' })
      document.head.append(foreign)
      const host = document.createElement('div')
      host.innerHTML = '<button onclick="window.handlerRan = true"></button>'
      document.body.append(host)
      host.querySelector('button')!.click()
      // The policy says so of each: none of them runs after that.
      await all
      host.remove()
      return ['inlineRan', 'foreignRan', 'handlerRan'].map((name) => Reflect.get(window, name) as unknown)
    })
    expect(ran).toEqual([undefined, undefined, undefined])
  })

  it('blocks eval and its relatives', async () => {
    // In a script of the page: the debugger, through which this test speaks, is not bound by the policy.
    const outcomes = await opened.page.evaluate(
      () =>
        new Promise<string[]>((resolve) => {
          setTimeout(() => {
            const attempt = (act: () => unknown) => {
              try {
                return String(act())
              } catch (error) {
                return (error as Error).name
              }
            }
            resolve([attempt(() => (0, eval)('1 + 1')), attempt(() => new Function('return 2')())])
          }, 0)
        }),
    )
    expect(outcomes).toEqual(['EvalError', 'EvalError'])
  })
})
