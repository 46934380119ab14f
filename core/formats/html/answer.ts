import type { ProcessorAnswer, SessionAnswer } from '../../analysis/answer/answer'
import { answerSentences, implementationText, processorTitle } from '../../analysis/answer/words'
import { seriesKey } from '../../backends'
import { countedCases } from '../../compare'
import { fastestTable } from '../shared/answer'
import { dotPlot } from './draw'
import { dotSample, legendItem } from './legend'
import { escapeHtml, listHtml, tableHtml } from './page'

/** Speedups over the baseline by operation, a dot with its interval for each implementation. */
function picture(answer: ProcessorAnswer, keys: readonly string[]): string {
  const { baseline, means, meansByOperation } = answer
  const present = means.map(({ implementation }) => seriesKey(implementation))
  const best = (of: ProcessorAnswer['means']) => Math.max(...of.map(({ ratio }) => ratio))
  const svg = dotPlot({
    title: `Speedup over ${implementationText(baseline)} by operation`,
    quantity: 'ratio',
    wide: true,
    rows: [...meansByOperation].filter((one) => one.means.length).sort((a, b) => best(b.means) - best(a.means)).map(({ op, means: own }) => ({
      label: op,
      dots: own.map(({ implementation, ratio, low, high, cases }) => ({ label: implementationText(implementation), color: keys.indexOf(seriesKey(implementation)), line: present.indexOf(seriesKey(implementation)), value: ratio, low, high, about: countedCases(cases) })),
    })),
  })
  const legend = means.map(({ implementation }, line) => legendItem(line, keys.indexOf(seriesKey(implementation)), dotSample(line), implementationText(implementation)))
  return svg && `<section class="charted"><ul class="legend">${legend.join('')}</ul><figure class="one"><figcaption>${escapeHtml(`Speedup over ${implementationText(baseline)} by operation (geometric mean, 95 % CI); above 1 is faster`)}</figcaption>${svg}</figure></section>`
}

/** The answer of a session: in sentences, as a picture, by operation, and what is wrong with the machine. `keys` are all series keys of the report. */
export function answerHtml(answer: SessionAnswer, keys: readonly string[]): string {
  const sentences = answerSentences(answer)
  const several = answer.processors.length > 1
  const parts = answer.processors.map((one) => `${several ? `<h3>${processorTitle(one)}</h3>` : ''}${picture(one, keys)}
${tableHtml(`Fastest by operation${several ? ` on ${processorTitle(one)}` : ''}`, fastestTable(one))}`)
  const { warnings } = answer.machine
  return `${sentences.map((text, i) => `<p class="${i === 0 ? 'answer' : ''}">${escapeHtml(text)}</p>`).join('\n')}
${parts.join('\n')}
${warnings.length ? `<h3>Warnings about the machine</h3>\n${listHtml(warnings)}` : ''}`
}
