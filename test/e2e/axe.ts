import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** The part of axe-core that tests use. */
interface Axe {
  run(context: unknown, options: unknown): Promise<{ violations: { id: string; help: string; nodes: { html: string; target: string[]; failureSummary?: string }[] }[] }>
}

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Rules of WCAG 2.0 and 2.1, A and AA, and axe's best practices. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']

/** What axe finds wrong with the page as it stands, one line per element. `rules`: these alone. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE)
  return page.evaluate(async ({ tags, only }) => {
    const options = { runOnly: only ? { type: 'rule', values: only } : { type: 'tag', values: tags }, resultTypes: ['violations'], rules: { 'label-content-name-mismatch': { enabled: true } } }
    const found = await (Reflect.get(window, 'axe') as Axe).run(document, only ? { runOnly: options.runOnly, resultTypes: options.resultTypes } : options)
    return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 220)} ${(failureSummary ?? '').split('\n').slice(1, 2).join('').trim().slice(0, 160)}`))
  }, { tags: TAGS, only: rules ? [...rules] : undefined })
}
