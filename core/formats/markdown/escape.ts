/** Control characters and line ends, which would end a table row or a paragraph. */
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu

/**
 * Text that is shown as text wherever it stands in GitHub's dialect: on one line, without markup, links, mentions or HTML.
 * Only what has a meaning there is escaped, so that `layer_norm` stays readable in a diff.
 */
export const escapeMarkdown = (text: string): string =>
  text
    .replace(BREAKS, ' ')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*[\]|~]/g, '\\$&')
    // An underscore within a word is no emphasis; at its edge it is.
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    // Mentions, issue numbers and bare links would notify people or leave the page.
    .replace(/@(?=\w)/g, '@<!-- -->')
    .replace(/#(?=\d)/g, '#<!-- -->')
    .replace(/(https?|ftp|www)(?=:\/\/|\.)/gi, '$1<!-- -->')
    // What would start a heading, a list, a quote, a rule or a table at the start of a line.
    .replace(/^(\s*)([#+=-]|\d+(?=[.)](\s|$)))/, '$1\\$2')
